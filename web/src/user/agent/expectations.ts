/**
 * What the prior of positions says of one item and each category: how often it is rated, and how often
 * it is rated and revealed, under a scheme with counterparts (`counterparts`).
 *
 * Log odds are normal: those of category m, at the counterparts of the people of category k, are
 * rate_jm + <selection_j, mean_m> + <a_m, z - mean_k> with a_m = map_km' selection_j. Expectations are
 * sums over points that are the same for all categories, so that equal priors give equal numbers. They
 * are means over the strata of activity, each of which is taken to hold the same share of every
 * category: a false prior that puts categories into strata of their own is not seen here.
 */

import { dot, lower, solve, times } from "../../matrices";
import { GRAIN } from "../../wire/fixed";
import { chance } from "../core/counterparts";
import type { PositionModel, Stratum } from "../parameters";

type Row = readonly number[];
type Rows = readonly Row[];

/** Expectations about one item, for each of K categories. */
export interface Expected {
  /** P(rated | k), or 1 where sets are not protected. */
  readonly rated: Row;
  /** P(rated and revealed | k); 1 where sets are not protected, and beyond 16 joint cells. */
  readonly revealed: Row;
}

/**
 * More joint cells than this are taken to reveal alike, as they do by an honest prior: the time it takes
 * to work that out grows with their cube, to 10 ms an item and stratum here.
 */
const MOST_CELLS = 16;
const POINTS = 64;
/** Two for each cell. */
const PRIMES = [
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
  101, 103, 107, 109, 113, 127, 131,
];

const KNOWN = new WeakMap<PositionModel, Map<number, Expected>>();
const COVARIANCES = new WeakMap<Stratum, readonly Rows[]>();

/** Return what to expect of one item. */
export function expected(model: PositionModel, item: number): Expected {
  const known = KNOWN.get(model) ?? new Map<number, Expected>();
  KNOWN.set(model, known);
  const expectation = known.get(item) ?? workedOut(model, item);
  known.set(item, expectation);
  return expectation;
}

function workedOut(model: PositionModel, item: number): Expected {
  const each = model.strata.map((stratum) => within(stratum, model, item));
  return {
    rated: meanOf(each.map(({ rated }) => rated)),
    revealed: meanOf(each.map(({ revealed }) => revealed)),
  };
}

/** Return the mean of some rows of equal length. */
function meanOf(rows: Rows): number[] {
  return rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}

/** Return what to expect of one item and the people of one stratum. */
function within(stratum: Stratum, model: PositionModel, item: number): Expected {
  const { mean, map } = stratum;
  const selection = model.selection[item].map((factor) => factor / GRAIN);
  if (selection.length === 0) return { rated: mean.map(() => 1), revealed: mean.map(() => 1) };
  const covariances = covariancesOf(stratum);
  const a = mean[0].map((_, i) => selection[i] ?? 0);
  const odds = mean.map((of, k) => model.rate[item][k] / GRAIN + dot(a, of));
  const variance = (k: number) => dot(a, times(covariances[k], a));
  const least = (k: number) => leastChance(odds, jointly(map[k], covariances[k], a));
  return {
    rated: odds.map((logit, k) => leastChance([logit], [[variance(k)]])),
    revealed: odds.map((_, k) => (odds.length > MOST_CELLS ? 1 : least(k))),
  };
}

/** Return the covariance of the counterparts' log odds, for people of one category. Shape (K, K). */
function jointly(maps: readonly Rows[], covariance: Rows, a: Row): number[][] {
  const back = maps.map((map) => transposedTimes(map, a));
  const spread = back.map((row) => times(covariance, row));
  return back.map((row) => spread.map((other) => dot(row, other)));
}

/** Return A' b; where b is 0, the row of A is not looked at. Shapes (m, n), (m,). */
function transposedTimes(A: Rows, b: Row): number[] {
  const sums = new Array<number>(A[0].length).fill(0);
  for (let j = 0; j < b.length; j++) {
    if (b[j] === 0) continue;
    for (let i = 0; i < sums.length; i++) sums[i] += A[j][i] * b[j];
  }
  return sums;
}

/** Return the expectation of the least of the probabilities whose log odds are so distributed. */
function leastChance(mean: Row, covariance: Rows): number {
  const L = lower(covariance);
  const points = normalPoints(mean.length);
  let sum = 0;
  for (const point of points) {
    let [up, down] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let k = 0; k < mean.length; k++) {
      const away = dot(L[k], point);
      up = Math.min(up, mean[k] + away);
      down = Math.min(down, mean[k] - away);
    }
    sum += chance(up) + chance(down); // the least probability is that of the least log odds
  }
  return sum / (2 * points.length);
}

const FILLED = new Map<number, Rows>();

/** Return points that fill a standard normal distribution of so many dimensions evenly; the same each time. */
function normalPoints(dimensions: number): Rows {
  const points = FILLED.get(dimensions) ?? filled(dimensions);
  FILLED.set(dimensions, points);
  return points;
}

function filled(dimensions: number): Rows {
  return Array.from({ length: POINTS }, (_, n) =>
    Array.from({ length: dimensions }, (_, i) => {
      const radius = Math.sqrt(-2 * Math.log(1 - filling(n, 2 * i)));
      return radius * Math.cos(2 * Math.PI * filling(n, 2 * i + 1));
    }),
  );
}

/** The n-th number of the i-th sequence that fills (0, 1): multiples of a root of a prime. */
function filling(n: number, i: number): number {
  return ((n + 0.5) * Math.sqrt(PRIMES[i])) % 1;
}

/** Return the covariance of each category's positions: the inverse of its precision. */
function covariancesOf(stratum: Stratum): readonly Rows[] {
  const covariances =
    COVARIANCES.get(stratum) ??
    stratum.precision.map((P) =>
      P.map((row, i) =>
        solve(
          P,
          row.map((_, j) => Number(i === j)),
        ),
      ),
    );
  COVARIANCES.set(stratum, covariances);
  return covariances;
}
