/** Obfuscation, pure: one rating at a time, with given uniforms. */
import { MidpointError } from "../../errors";
import { type Disclosure, schemeOf } from "../../wire/disclosure";
import { ONE } from "../../wire/fixed";
import { MIX, REVEAL, SPLIT, type Uniforms, VALUE } from "./coins";
import type { Own } from "./counterparts";
import { discreteMidpoint, split } from "./discrete";

/** What may be told of one rating. */
export interface Obfuscated {
  /** Whether the rating is revealed at all. */
  readonly keep: boolean;
  /** What it is revealed as, fixed point; without meaning where it is withheld. */
  readonly value: number;
}

/**
 * Apply Algorithm 1 or 2, or another scheme of Section 7.1, with given uniforms.
 *
 * With probability alpha a rating is obfuscated, else it is released as it is (Section 7.2). `place`
 * is the item's index in the disclosure, `value` her rating in fixed point, `cell` her category. A
 * scheme with counterparts takes what `ownOf` says of this rating; given that it is obfuscated,
 * u_mix / alpha is uniform again, and decides which neighbouring level a moved value goes to.
 */
export function obfuscate(
  place: number,
  value: number,
  cell: number,
  disclosure: Disclosure,
  uniform: Uniforms,
  alpha = 1,
  own?: Own,
): Obfuscated {
  if (!(alpha >= 0 && alpha <= 1)) throw new MidpointError(`alpha is a probability, not ${alpha}`);
  if ((own !== undefined) !== schemeOf(disclosure).counterparts) {
    throw new MidpointError(
      "a scheme with counterparts, and no other, takes a rating's own numbers",
    );
  }
  const before = own ? moved(value, own.shift, disclosure, uniform[MIX] / (alpha || 1)) : value;
  const told = toldAs(place, before, cell, disclosure, uniform);
  if (uniform[MIX] >= alpha) return { keep: true, value };
  const chance = own ? own.reveal : chanceOf(place, cell, disclosure);
  return { keep: uniform[REVEAL] * ONE < chance, value: told };
}

/** Tell whether a value is not a rating on the scale. */
export function illegal(value: number, { scale }: Disclosure): boolean {
  if (scale.levels) return !scale.levels.includes(value);
  return !(Number.isInteger(value) && value >= scale.low && value <= scale.high);
}

/** Return b_j ~ Bern(min over categories of p_j / own p_j) of Algorithm 2, in fixed point. */
function chanceOf(place: number, cell: number, { reveal }: Disclosure): number {
  return reveal ? reveal[place][cell] : ONE;
}

/** Move a rating towards its counterparts', to a level next to where that is. */
function moved(value: number, shift: number, disclosure: Disclosure, uniform: number): number {
  const { low, high, levels } = disclosure.scale;
  if (!levels || illegal(value, disclosure)) {
    throw new MidpointError("a rating that is not a level of the scale cannot be moved");
  }
  return split(clip(value + shift, low, high), levels, uniform);
}

/** Turn a rating into what is reported, by the scheme's map of values. */
function toldAs(
  place: number,
  value: number,
  cell: number,
  disclosure: Disclosure,
  uniform: Uniforms,
): number {
  const { scale, offset, levels, average } = disclosure;
  const { valueMap, name } = schemeOf(disclosure);
  if (valueMap === "as_is") return value;
  if (valueMap === "shifted" && offset) {
    return shifted(value - offset[place][cell], offset[place], disclosure);
  }
  if (valueMap === "rounded" && offset && scale.levels) {
    return split(
      clip(value - offset[place][cell], scale.low, scale.high),
      scale.levels,
      uniform[SPLIT],
    );
  }
  if (average && (valueMap === "item_average" || valueMap === "feature_average")) {
    return average[place][Math.floor(uniform[VALUE] * average[place].length)];
  }
  if (valueMap === "discrete" && levels && scale.levels) {
    if (illegal(value, disclosure)) {
      throw new MidpointError(`${value / ONE} is not a level of the scale`);
    }
    const coins = [uniform[VALUE], uniform[SPLIT]] as const;
    return discreteMidpoint(
      levels[place],
      scale.levels,
      scale.levels.indexOf(value),
      cell,
      ...coins,
    );
  }
  // Never fall back to the rating as it is.
  throw new MidpointError(`this disclosure lacks the column that scheme '${name}' needs`);
}

/**
 * Bring y = r - offset into what all categories can reach, on a continuous scale.
 *
 * A scale has ends: one category's y would go up to high - offset, beyond all that another can
 * report, and show her there. On a discrete scale a plain shift protects nothing anyway.
 */
function shifted(y: number, offsets: readonly number[], { scale }: Disclosure): number {
  if (scale.levels) return y;
  return clip(y, ...reach(offsets, scale.low, scale.high));
}

/** Return what every category can go down to and up to: max_k(low - o_k) and min_k(high - o_k). */
export function reach(offsets: readonly number[], low: number, high: number): [number, number] {
  return [low - Math.min(...offsets), high - Math.max(...offsets)];
}

export function clip(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
