/**
 * How far apart categories may be disclosed to be: limits that analysts keep and devices check.
 *
 * They leave room beyond all data we have. They stop what no data shows; they do not stop a lie
 * within them.
 */
import { ONE } from "./fixed";

/** A category reveals an item with at least this probability, in fixed point. */
export const LEAST_REVEAL = ONE / 64;

/**
 * A stratum begins in one category at no more than so many times the activity of another.
 *
 * Nor at more than so many times the number of items: `checkNumbers` holds it for all items, a device
 * for those that were asked about. If each category had strata of its own, the stratum alone would
 * show the category.
 */
export const MOST_STRATUM_RATIO = 2;

/** Tell whether a stratum begins at about the same in all categories, by activity or by items. */
export function isAlike(begins: readonly number[]): boolean {
  return Math.max(...begins) <= MOST_STRATUM_RATIO * Math.min(...begins);
}

/** Return how far categories' means of an item may be apart, on a scale of this range: 3/4. */
export function mostSpread(span: number): number {
  return Math.floor((3 * span) / 4);
}

/** Return the greatest less the least. */
export function spread(row: readonly number[]): number {
  return row.reduce((a, b) => Math.max(a, b)) - row.reduce((a, b) => Math.min(a, b));
}

/** Return how far one item's categories' means are apart, times 2^16; exact. (K, L), (L,). */
export function spreadOfMeans(
  levels: readonly (readonly number[])[],
  points: readonly number[],
): number {
  return spread(
    levels.map((row) => row.reduce((sum, mass, l) => sum + mass * (points[l] - points[0]), 0)),
  );
}
