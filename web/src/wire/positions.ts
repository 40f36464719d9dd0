/**
 * The prior of positions, by category: what a device needs to find its counterparts.
 *
 * A position is z = (t, x): the selection factors t say what a person rates, the taste factors x how.
 * Strata of activity hold light and heavy raters, each about the same share of every category. In a
 * stratum the positions of category k are N(mean_k, precision_k^-1). The counterpart in category m of
 * a person of category k at z is at mean_m + map_km (z - mean_k).
 */
import { type Field, integer, list, type Of, optional, type Path, part, refuse } from "./fields";
import { type Json, LARGEST } from "./json";

/** Newton steps from the mean of her category to the mode of a person's position. */
export const STEPS = 8;
/**
 * The most by which such a step changes the log odds of an item: longer ones overshoot, and some
 * never end. Cut coordinate by coordinate instead, heavy raters did not arrive.
 */
export const MOST_CHANGE = 5;
/** Added to items rated and to items expected: a handful of items does not show an activity. */
export const DAMPING = 8;
/** Log odds are cut to this size before they become probabilities. */
export const SUREST = 30;
/** Log odds of rating an item, and what one selection factor adds to them, are at most this. */
export const MOST_LOGIT = 32;
/** Most that a coordinate of a position, or an entry of a map between categories, can be. */
export const FARTHEST_POSITION = 64;
/** Least precision of positions in any direction, and the greatest entry. */
export const [LEAST_PRECISION, MOST_PRECISION] = [2 ** -6, 2 ** 14];
/** The least activity of a stratum is at most this, in 1/256. */
export const MOST_ACTIVITY = 2 ** 40;
/** The noise of a rating deviates by at least the scale's range over this, or steps fail. */
export const QUIETEST = 64;
/** Categories' log spreads are at most this far apart, and so far a person's changes at most. */
export const MOST_LOG_SPREAD = 1 / 4;
/** Residuals are cut to this size, in fixed point, so that products stay exact. */
export const FARTHEST_RESIDUAL = 2 ** 36;
/** The most that a category's mean of log spreads can be. */
export const FARTHEST_LOG_SPREAD = 4;
/** Newton steps from the mean of her category to the mode of a person's log spread. */
export const SPREAD_STEPS = 16;
/** The most by which such a step changes it. */
export const LONGEST_SPREAD_STEP = 2;
/** Standard deviations of log spreads in a category: the least and the greatest. */
export const [LEAST_DEVIATION, MOST_DEVIATION] = [2 ** -6, 2];
/** Most selection and taste factors together. */
export const MOST_DIMENSIONS = 64;
/** Most strata of activity: honest ones are two, and each more would let a false prior show more. */
export const MOST_STRATA = 2;
/** Most that a person's own probability of an item counts in its score, of sets. */
export const MOST_WEIGHT = 8;
/** Most numbers of all maps together: one stratum, sixteen categories, sixty-four dimensions. */
export const MOST_NUMBERS = 2 ** 20;

const integers = list(integer());

/** A row of integers. A disclosure has a hundred thousand of them: only a wrong one is looked at twice. */
export const row: Field<readonly number[]> = (value, path) =>
  Array.isArray(value) && value.every(isExact) ? (value as number[]) : integers(value, path);

function isExact(value: Json): boolean {
  return typeof value === "number" && value >= -LARGEST && value <= LARGEST;
}

const square = list(row);

/**
 * The prior of positions: G strata, K categories, D dimensions; fixed point (2^16 is one).
 *
 * Activity = (items rated + DAMPING) / (items expected + DAMPING), both of those asked about; expected
 * is what her category rates of them at selection factors of 0. `least` (G, K), in 1/256, is the least
 * activity of each stratum, by category; `mean` (G, K, D) each category's mean position, `precision`
 * (G, K, D, D) the inverse of the covariance of its positions, `map` (G, K, K, D, D) how positions of
 * one category are mapped to those of another, and `noise` the variance of a rating around
 * base + <taste, x>. `spread` (G, K, 2), where devices carry spreads over, too, holds mean and
 * deviation of log spreads: the spread of a person's residuals is exp(w) times the usual one, w normal
 * in her category. `weight`, on a unary scale, is how much her own probability of an item counts beside
 * its score.
 */
export const prior = part({
  least: list(row),
  mean: list(list(row)),
  precision: list(list(square)),
  map: list(list(list(square))),
  noise: integer(),
  spread: optional(list(list(row))),
  weight: optional(integer()),
});
export type Prior = Of<typeof prior>;

/** Refuse a prior of other than K categories and D dimensions. */
export function requireShape(given: Prior, cells: number, dimensions: number, path: Path): void {
  const {
    least,
    mean,
    precision,
    map,
    spread = least.map((each) => each.map(() => [0, 0])),
  } = given;
  const strata = least.length;
  const fitting = strata >= 1 && strata <= MOST_STRATA;
  const few = dimensions >= 1 && dimensions <= MOST_DIMENSIONS;
  if (!fitting || !few || strata * (cells * dimensions) ** 2 > MOST_NUMBERS) {
    refuse("wrong_shape", path, "a prior has no dimensions or strata, or too many");
  }
  const squares = [...precision, ...map.flat()];
  const right =
    [mean, precision, map, spread].every((each) => each.length === strata) &&
    [...least, ...mean, ...map, ...spread, ...squares].every((each) => each.length === cells) &&
    spread.flat().every((each) => each.length === 2) &&
    mean.flat().every((each) => each.length === dimensions) &&
    squares.flat().every((matrix) => isSquare(matrix, dimensions));
  if (!right) {
    refuse("wrong_shape", path, "the prior of positions has not the shape of the columns");
  }
}

function isSquare(matrix: readonly (readonly number[])[], size: number): boolean {
  return matrix.length === size && matrix.every((each) => each.length === size);
}
