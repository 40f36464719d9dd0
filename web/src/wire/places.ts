/**
 * Where people lie, by category: what a device needs to find its counterparts.
 *
 * A place is z = (t, x): d habits, which say what a person rates, and r tastes, which say how. In
 * category k places are N(mean_k, precision_k^-1), and who lies at z there lies, among the people of
 * category m, at her counterpart mean_m + map_km (z - mean_k).
 */
import { integer, list, type Of, type Path, part, refuse } from "./fields";

/** Log odds of rating an item, and what one habit adds to them, are at most this. */
export const MOST_LOGIT = 32;
/** Most that a coordinate of a place, or an entry of a map between categories, can be. */
export const FARTHEST_PLACE = 64;
/** Most habits and tastes together. */
const MOST_DIMENSIONS = 64;
/** Most numbers of all maps together: sixteen categories with sixty-four dimensions. */
const MOST_NUMBERS = 2 ** 20;

export const row = list(integer());
const square = list(row);

/**
 * The law of places of K categories, D = d + r dimensions, in fixed point (2^16 is one).
 *
 * `mean` (K, D) is each category's mean place, `precision` (K, D, D) the inverse of the covariance
 * of its places, `map` (K, K, D, D) how the places of one category are carried to another's, and
 * `noise` the variance of a rating around base + <taste, x>.
 */
export const law = part({
  mean: list(row),
  precision: list(square),
  map: list(list(square)),
  noise: integer(),
});
export type Law = Of<typeof law>;

/** Refuse a law of other than K categories and D dimensions. */
export function requireShape(found: Law, cells: number, dimensions: number, path: Path): void {
  const fitting = dimensions >= 1 && dimensions <= MOST_DIMENSIONS;
  if (!fitting || (cells * dimensions) ** 2 > MOST_NUMBERS) {
    refuse("wrong_shape", path, "there are no dimensions of places, or too many");
  }
  const squares = [found.precision, ...found.map];
  const right =
    found.mean.length === cells &&
    found.map.length === cells &&
    squares.every((matrices) => matrices.length === cells) &&
    found.mean.every((one) => one.length === dimensions) &&
    squares.flat().every((matrix) => isSquare(matrix, dimensions));
  if (!right) refuse("wrong_shape", path, "the law of places has not the shape of the columns");
}

function isSquare(matrix: readonly (readonly number[])[], size: number): boolean {
  return matrix.length === size && matrix.every((one) => one.length === size);
}
