/** How ratings of a scale are shown and entered; numbers are fixed point, one unit is 2^16. */

const ONE = 2 ** 16;

/**
 * Stars for 1..5, half stars for 0.5..5, numbers for a few other levels, a menu for many; a mark where
 * there is one level, and so nothing to rate.
 */
export type Look = "mark" | "stars" | "halves" | "numbers" | "menu";

const MOST_BUTTONS = 11;

/** Choose the control for these levels. */
export function lookOf(levels: readonly number[]): Look {
  if (levels.length === 1) return "mark";
  const steps = (step: number) => levels.every((level, i) => level === (i + 1) * step);
  if (steps(ONE) && levels.length <= 5 && levels.length >= 3) return "stars";
  if (steps(ONE / 2) && levels.length === 10) return "halves";
  return levels.length <= MOST_BUTTONS ? "numbers" : "menu";
}

/** The level that a digit key stands for; undefined if there is none. */
export function levelOf(levels: readonly number[], key: string): number | undefined {
  return levels.find((level) => level === Number(key) * ONE);
}

/** Write a level as a person would: 4, 3.5, 0. */
export function plain(value: number): string {
  return String(Math.round((value / ONE) * 100) / 100);
}

/** Write a prediction with one decimal. */
export function decimal(value: number): string {
  return (value / ONE).toFixed(1);
}
