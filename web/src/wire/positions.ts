/**
 * Where people lie, by category: what a device needs to find its counterparts.
 *
 * A place is z = (t, x): t, selection and taste factors, says what a person rates, x, tastes, how. People
 * are parted by their activity, how many items they rate over how many were to be expected: light and
 * heavy raters have a prior each. In a stratum of category k places are N(mean_k, precision_k^-1), and
 * who lies at z there lies, among the people of category m in the same stratum, at her counterpart
 * mean_m + map_km (z - mean_k).
 */
import { integer, list, type Of, type Path, part, refuse } from "./fields";

/** Titles more that were rated, and were to be expected: by a handful nobody's activity is known. */
export const DAMPING = 8;
/** Log odds of rating an item, and what one selection adds to them, are at most this. */
export const MOST_LOGIT = 32;
/** Most that a coordinate of a place, or an entry of a map between categories, can be. */
export const FARTHEST_POSITION = 64;
/** Most selection and taste factors together. */
const MOST_DIMENSIONS = 64;
/** Most strata of activity. */
const MOST_STRATA = 4;
/** Most numbers of all maps together: one stratum of sixteen categories, sixty-four dimensions. */
const MOST_NUMBERS = 2 ** 20;

export const row = list(integer());
const square = list(row);

/**
 * The prior of positions of G strata, K categories and D dimensions, in fixed point (2^16 is one).
 *
 * `least` (G, K), in 1/256, is the least activity of each stratum, by category; `mean` (G, K, D) each
 * category's mean place, `precision` (G, K, D, D) the inverse of the covariance of its places, `map`
 * (G, K, K, D, D) how the places of one category are carried to another's, and `noise` the variance of
 * a rating around base + <taste, x>.
 */
export const prior = part({
  least: list(row),
  mean: list(list(row)),
  precision: list(list(square)),
  map: list(list(list(square))),
  noise: integer(),
});
export type Prior = Of<typeof prior>;

/** Refuse a prior of other than K categories and D dimensions. */
export function requireShape(found: Prior, cells: number, dimensions: number, path: Path): void {
  const { least, mean, precision, map } = found;
  const strata = least.length;
  const fitting = strata >= 1 && strata <= MOST_STRATA;
  const few = dimensions >= 1 && dimensions <= MOST_DIMENSIONS;
  if (!fitting || !few || strata * (cells * dimensions) ** 2 > MOST_NUMBERS) {
    refuse("wrong_shape", path, "there are no dimensions or strata of places, or too many");
  }
  const squares = [...precision, ...map.flat()];
  const right =
    [mean, precision, map].every((each) => each.length === strata) &&
    [...least, ...mean, ...map, ...squares].every((each) => each.length === cells) &&
    mean.flat().every((one) => one.length === dimensions) &&
    squares.flat().every((matrix) => isSquare(matrix, dimensions));
  if (!right)
    refuse("wrong_shape", path, "the prior of positions has not the shape of the columns");
}

function isSquare(matrix: readonly (readonly number[])[], size: number): boolean {
  return matrix.length === size && matrix.every((one) => one.length === size);
}
