/**
 * What the numbers of a disclosure can be: analysts check it before they publish, devices again.
 *
 * It proves consistency, not truth.
 */
import { isDefinite } from "../matrices";
import { cellsOf, type Disclosure, isUnary, tasteSelects } from "./disclosure";
import { fromFixed, GRAIN, ONE } from "./fixed";
import {
  areAlike,
  LEAST_REVEAL,
  LEAST_STRETCH,
  MOST_STRATUM_RATIO,
  MOST_STRETCH,
  mostNumberRatio,
  mostSpread,
  spread,
  spreadOfMeans,
} from "./limits";
import {
  DAMPING,
  FARTHEST_LOG_SPREAD,
  FARTHEST_POSITION,
  LEAST_DEVIATION,
  LEAST_PRECISION,
  MOST_ACTIVITY,
  MOST_DEVIATION,
  MOST_LOG_SPREAD,
  MOST_LOGIT,
  MOST_PRECISION,
  MOST_WEIGHT,
  type Prior,
  QUIETEST,
  SUREST,
} from "./positions";
import { type Refusal, RefusedError } from "./refusal";

type Row = readonly number[];
type Require = <T>(
  column: readonly T[] | undefined,
  code: Refusal,
  what: string,
  fine: (row: T) => boolean,
) => void;

/**
 * Refuse numbers that no honest analyst sends, whatever its data.
 *
 * Offsets lie within the scale's range R, as do their differences (so there are values that all
 * categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
 * units, or K R / 2^bits when quantized). A level distribution has no negative mass and sums to
 * 2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
 * always reveals, has 2^16. A keep probability, the same for all categories, is in 0 .. 2^16.
 * Averages lie on the scale. Beyond what `limits` allows, one answer would leak too much: a reveal
 * probability below 1/64, or means of categories, by offsets or by levels, that are further apart
 * than 3/4 of the scale, or log spreads over 1/4 apart. Of counterparts see `requirePositions`; what
 * becomes of a rating because of them has the same first two limits.
 */
export function checkNumbers(disclosure: Disclosure): void {
  const { scale, offset, levels, reveal, keep, average, bits } = disclosure;
  const span = scale.high - scale.low;
  const require: Require = (column, code, what, fine) => {
    const index = column?.findIndex((row) => !fine(row)) ?? -1;
    if (index >= 0) throw new RefusedError(code, `item '${disclosure.items[index]}' has ${what}`);
  };
  const step = bits === undefined ? 1 : Math.max(1, Math.floor(span / 2 ** bits));
  const slack = cellsOf(disclosure) * step;
  require(offset, "offset_too_large", "an offset beyond what the scale allows", (row) =>
    within(row, -span, span) && spread(row) <= span);
  require(offset, "offset_not_centred", "offsets that do not sum to zero", (row) =>
    Math.abs(sum(row)) <= slack);
  require(levels, "bad_distribution", "levels that are no distribution", (rows) =>
    rows.every((row) => within(row, 0, ONE) && sum(row) === ONE));
  require(reveal, "reveal_out_of_range", "a reveal probability out of range", (row) =>
    within(row, 1, ONE));
  require(reveal, "reveal_inconsistent", "no category that always reveals", (row) =>
    Math.max(...row) === ONE);
  require(keep, "reveal_out_of_range", "a keep probability out of range", (number) =>
    number >= 0 && number <= ONE);
  requirePositions(disclosure, require);
  require(average, "average_out_of_range", "an average off the scale", (row) =>
    within(row, scale.low, scale.high));
  const most = mostSpread(span);
  require(offset, "too_telling", "categories too far apart", (row) => spread(row) <= most);
  require(levels, "too_telling", "categories too far apart", (rows) =>
    spreadOfMeans(rows, scale.levels ?? []) <= most * ONE);
  require(reveal, "too_telling", "a category that hardly ever reveals it", (row) =>
    within(row, LEAST_REVEAL, ONE));
}

/**
 * Refuse a prior of positions that is not valid, or whose numbers are out of range.
 *
 * The least activity of strata ascends from 0 to at most 2^40. A precision is symmetric and positive
 * definite, a category's map to itself changes nothing, the noise deviates by at least 1/64 of the
 * range. Bases lie on the scale or at most its range beyond; log odds, and what a selection factor
 * adds to them, up to 32, a taste factor up to twice the range; means up to 64. Maps keep to their
 * limits. So none of a device's steps fails.
 */
function requirePositions(disclosure: Disclosure, require: Require): void {
  const { prior, rate, selection, base, taste } = disclosure;
  if (!prior || !base || !taste) return;
  const { low, high } = disclosure.scale;
  const span = Math.floor(((high - low) * GRAIN) / ONE);
  const ends = Math.floor(((low + high) * GRAIN) / ONE);
  const bounded = (rows: readonly Row[] | undefined, most: number) => {
    require(rows, "bad_positions", "numbers of positions out of range", (row) =>
      within(row, -most, most));
  };
  const mostAdded = Math.max(MOST_LOGIT * GRAIN, 2 * span);
  bounded(rate, MOST_LOGIT * GRAIN);
  bounded(selection, mostAdded);
  bounded(tasteSelects(disclosure) ? taste : undefined, mostAdded);
  bounded(taste, 2 * span);
  bounded(
    base.map((row) => row.map((number) => 2 * number - ends)),
    3 * span,
  );
  if (!isPrior(prior, high - low)) {
    throw new RefusedError("bad_positions", "the prior of positions is not valid");
  }
  const { weight } = prior;
  const unary = isUnary(disclosure.scale);
  if (weight !== undefined && !(unary && weight > 0 && weight <= MOST_WEIGHT * ONE)) {
    throw new RefusedError("bad_positions", "the weight of probabilities is out of range");
  }
  const apart = (rows: readonly Row[]) => spread(rows.map(([mean]) => fromFixed(mean)));
  if (prior.spread?.some((rows) => apart(rows) > MOST_LOG_SPREAD)) {
    throw new RefusedError("too_telling", "categories' spreads are too far apart");
  }
  requireNumbers(disclosure, prior);
}

/**
 * Refuse categories that rate far more items than others, or whose strata begin later.
 *
 * An activity is compared with what is expected of a category. So where rates are false, strata of
 * equal activity begin at other numbers of items. And where means are false, one category withholds
 * what the other reveals. Both are held to their limits for somebody who is asked about everything.
 */
function requireNumbers(disclosure: Disclosure, { least, mean }: Prior): void {
  const { selection = [], taste = [], rate = [least[0].map(() => 0)] } = disclosure;
  const expected = expectedOf(rate, () => 0);
  const begins = least.map((row) => row.map((activity, k) => activity * expected[k]));
  if (![...least, ...begins].every((row) => areAlike(row, MOST_STRATUM_RATIO))) {
    throw new RefusedError("too_telling", "categories too far apart");
  }
  const choose = tasteSelects(disclosure);
  const factors = rate.map((_, j) => [...(selection[j] ?? []), ...(choose ? taste[j] : [])]);
  for (const means of mean) {
    const at = means.map((row) => row.map(fromFixed));
    const added = (j: number, k: number) =>
      factors[j].reduce((sum, factor, i) => sum + (factor / GRAIN) * at[k][i], 0);
    if (!areAlike(expectedOf(rate, added), mostNumberRatio(means.length))) {
      throw new RefusedError("too_telling", "categories too far apart");
    }
  }
}

/** Return how many items each category rates, with log odds added, damped as an activity is. (K,). */
function expectedOf(rate: readonly Row[], added: (item: number, cell: number) => number): Row {
  const sums = rate[0].map(() => DAMPING * ONE);
  rate.forEach((row, j) => {
    row.forEach((logit, k) => {
      const odds = Math.min(Math.max(logit / GRAIN + added(j, k), -SUREST), SUREST);
      sums[k] += Math.floor((1 / (1 + Math.exp(-odds))) * ONE + 0.5);
    });
  });
  return sums;
}

/** Tell whether log spreads are some that a device can use. */
function areSpreads(rows: readonly Row[]): boolean {
  return rows.every(
    ([mean, deviation]) =>
      Math.abs(mean) <= FARTHEST_LOG_SPREAD * ONE &&
      deviation >= LEAST_DEVIATION * ONE &&
      deviation <= MOST_DEVIATION * ONE,
  );
}

function isPrior(prior: Prior, span: number): boolean {
  const { least, mean, precision, map, noise, spread = [] } = prior;
  const ascending = least.every((row, g) => {
    const before = least[g - 1];
    return row.every((activity, k) =>
      before ? activity >= before[k] && activity <= MOST_ACTIVITY : activity === 0,
    );
  });
  const fine = (matrix: readonly Row[]) =>
    isPrecision(matrix.map((row) => row.map((entry) => fromFixed(entry))));
  return (
    fromFixed(noise) * QUIETEST ** 2 >= fromFixed(span) ** 2 &&
    ascending &&
    mean.every(isNear) &&
    spread.every(areSpreads) &&
    map.every((maps) => maps.every((to) => to.every(isMap))) &&
    map.every((maps) => maps.every((to, k) => isIdentity(to[k]))) &&
    precision.every((matrices) => matrices.every(fine))
  );
}

/** Return whether rows are positions. */
function isNear(rows: readonly Row[]): boolean {
  const most = FARTHEST_POSITION * ONE;
  return rows.every((row) => within(row, -most, most));
}

/** Return whether a map keeps to its limits: it reverses no direction. */
function isMap(map: readonly Row[]): boolean {
  const most = MOST_STRETCH * ONE;
  const turns = map.map((row, i) => row.map((entry, j) => fromFixed(entry) + fromFixed(map[j][i])));
  return map.every((row) => within(row, -most, most)) && isDefinite(turns, 2 * LEAST_STRETCH);
}

function isIdentity(map: readonly Row[]): boolean {
  return entries(map).every(([i, j, entry]) => entry === (i === j ? ONE : 0));
}

function isPrecision(matrix: readonly Row[]): boolean {
  return (
    matrix.every((row) => within(row, -MOST_PRECISION, MOST_PRECISION)) &&
    entries(matrix).every(([i, j, entry]) => entry === matrix[j][i]) &&
    isDefinite(matrix, LEAST_PRECISION)
  );
}

/** Return a matrix's entries, each after its row and column. */
function entries(matrix: readonly Row[]): [number, number, number][] {
  return matrix.flatMap((row, i) => row.map((entry, j): [number, number, number] => [i, j, entry]));
}

function within(row: Row, low: number, high: number): boolean {
  return row.every((number) => number >= low && number <= high);
}

function sum(row: Row): number {
  return row.reduce((total, number) => total + number, 0);
}
