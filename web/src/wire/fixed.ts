/** Fixed point: one rating unit, and probability one, are 2^16; every language gets the same. */

/** One rating unit, or probability one. */
export const ONE = 2 ** 16;
/** One, for positions and what they mean for an item; the product of two is in `ONE`. */
export const GRAIN = 2 ** 8;
/** One, for the measured figures of a certificate. */
export const MILLION = 10 ** 6;

/** Return round(value 2^16), half to even. */
export function toFixed(value: number): number {
  const scaled = value * ONE;
  const below = Math.floor(scaled);
  const rest = scaled - below;
  if (rest !== 0.5) return Math.round(scaled);
  return below % 2 === 0 ? below : below + 1;
}

/** Return value / 2^16, which is exact. */
export function fromFixed(value: number): number {
  return value / ONE;
}
