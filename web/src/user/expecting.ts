/**
 * What the law of places says of one item and each category: how often it is rated, how, and how
 * often it is revealed where devices look for counterparts (`counterparts`).
 *
 * Log odds are normal: those of category m, at the counterparts of the people of category k, are
 * rate_jm + <habit_j, mean_m> + <a_m, z - mean_k> with a_m = map_km' habit_j. Expectations are sums
 * over points that are the same for all categories, so that equal laws give equal numbers.
 */
import { GRAIN, ONE } from "../wire/fixed";
import { chance, type Places } from "./counterparts";
import { dot, lower, solve, times } from "./matrices";

type Row = readonly number[];
type Rows = readonly Row[];

/** Expectations about one item, for each of K categories. */
export interface Expected {
  /** P(rated | k), or 1 where sets are not protected. */
  readonly rated: Row;
  /** P(rated and revealed | k), or 1 where sets are not protected. */
  readonly revealed: Row;
  /** Mean of its ratings, in fixed point. */
  readonly centre: Row;
  /** Their standard deviation, in fixed point. */
  readonly deviation: Row;
}

/** More joint cells than this are taken to reveal alike: it would take too long to work out. */
const MOST_CELLS = 8;
const POINTS = 64;
/** Two for each dimension. */
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

const KNOWN = new WeakMap<Places, Map<number, Expected>>();
const COVARIANCES = new WeakMap<Places, readonly Rows[]>();

/** Return what to expect of one item. */
export function expected(model: Places, place: number): Expected {
  const known = KNOWN.get(model) ?? new Map<number, Expected>();
  KNOWN.set(model, known);
  const found = known.get(place) ?? workedOut(model, place);
  known.set(place, found);
  return found;
}

function workedOut(model: Places, place: number): Expected {
  const { mean, noise } = model;
  const covariances = covariancesOf(model);
  const habit = model.habit[place].map((one) => one / GRAIN);
  const taste = model.taste[place].map((one) => one / GRAIN);
  const none = (row: Row) => row.map(() => 0);
  const [a, b] = [
    [...habit, ...none(taste)],
    [...none(habit), ...taste],
  ];
  const odds = mean.map((own, k) => model.rate[place][k] / GRAIN + dot(a, own));
  const variance = (k: number, by: Row) => dot(by, times(covariances[k], by));
  const centre = mean.map((own, k) => model.base[place][k] / GRAIN + dot(b, own));
  const free = habit.length === 0;
  return {
    rated: odds.map((own, k) => (free ? 1 : leastChance([own], [[variance(k, a)]]))),
    revealed: odds.map((_, k) =>
      free || odds.length > MOST_CELLS
        ? 1
        : leastChance(odds, jointly(model.map[k], covariances[k], a)),
    ),
    centre: centre.map((one) => one * ONE),
    deviation: mean.map((_, k) => Math.sqrt(noise + variance(k, b)) * ONE),
  };
}

/** Return the covariance of the counterparts' log odds, for people of one category. Shape (K, K). */
function jointly(maps: readonly Rows[], covariance: Rows, a: Row): number[][] {
  const back = maps.map((map) =>
    a.map((_, i) => map.reduce((sum, row, j) => sum + row[i] * a[j], 0)),
  );
  const spread = back.map((one) => times(covariance, one));
  return back.map((one) => spread.map((other) => dot(one, other)));
}

/** Return the expectation of the least of the probabilities whose log odds are so distributed. */
function leastChance(mean: Row, covariance: Rows): number {
  const L = lower(covariance);
  const points = normalPoints(mean.length);
  let sum = 0;
  for (const point of points) {
    for (const sign of [1, -1]) {
      sum += Math.min(...mean.map((one, k) => chance(one + sign * dot(L[k], point))));
    }
  }
  return sum / (2 * points.length);
}

const FILLED = new Map<number, Rows>();

/** Return points that fill a normal law of so many dimensions evenly; the same each time. */
function normalPoints(dimensions: number): Rows {
  const found = FILLED.get(dimensions) ?? filled(dimensions);
  FILLED.set(dimensions, found);
  return found;
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

/** Return the covariance of each category's places: the inverse of its precision. */
function covariancesOf(model: Places): readonly Rows[] {
  const found =
    COVARIANCES.get(model) ??
    model.precision.map((P) =>
      P.map((row, i) =>
        solve(
          P,
          row.map((_, j) => Number(i === j)),
        ),
      ),
    );
  COVARIANCES.set(model, found);
  return found;
}
