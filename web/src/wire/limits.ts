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

/** Up to so many categories, each has enough people that their numbers of items are alike. */
const FEW_CATEGORIES = 8;

/**
 * A map between categories has entries of at most so much, and x'Tx is at least so much of x'x.
 *
 * A map that stretched more, or reversed a direction, would let one category withhold what another
 * reveals.
 */
export const [LEAST_STRETCH, MOST_STRETCH] = [1 / 8, 4];

/**
 * Return how many times as many items the mean of one category rates as that of another.
 *
 * Means of positions that lie would else show the category by the number of answers alone.
 */
export function mostNumberRatio(categories: number): number {
  return categories <= FEW_CATEGORIES ? 2 : 3;
}

/** Tell whether the greatest is at most so many times the least. */
export function areAlike(row: readonly number[], most: number): boolean {
  return Math.max(...row) <= most * Math.min(...row);
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
