/** Numbers that no honest analyst sends, whatever its data. */
import { cellsOf, type Disclosure } from "../../wire/disclosure";
import { fromFixed, GRAIN, ONE } from "../../wire/fixed";
import { LEAST_REVEAL, mostSpread, spread, spreadOfMeans } from "../../wire/limits";
import { FARTHEST_POSITION, MOST_LOGIT } from "../../wire/positions";
import { type Refusal, RefusedError } from "../../wire/refusal";
import { modelOf, type PositionModel, type Stratum } from "../core/counterparts";
import { isDefinite } from "../core/matrices";

type Row = readonly number[];
type Require = <T>(
  column: readonly T[] | undefined,
  code: Refusal,
  what: string,
  fine: (row: T) => boolean,
) => void;

/** Least precision of places in any direction, and the greatest entry. */
const [LEAST_PRECISION, MOST_PRECISION] = [2 ** -6, 2 ** 14];
/** No stratum's least activity is beyond this, in 1/256. */
const MOST_ACTIVITY = 2 ** 40;
/** The noise of a rating is at least the scale's range by this: else no step could be solved. */
const QUIETEST = 64;

/**
 * Refuse numbers that no honest analyst sends, whatever its data.
 *
 * Offsets lie within the scale's range R, as do their differences (so there are values that all
 * categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
 * units, or K R / 2^bits when quantized). A level distribution has no negative mass and sums to
 * 2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
 * always reveals, has 2^16. Averages lie on the scale. Beyond what `wire/telling` allows, one answer
 * would tell too much: a reveal probability below 1/64, or means of categories, by offsets or by
 * levels, that are further apart than 3/4 of the scale. Of counterparts see `requirePositions`; what
 * becomes of a rating because of them has the same two limits.
 */
export function checkNumbers(disclosure: Disclosure): void {
  const { scale, offset, levels, reveal, average, bits } = disclosure;
  const span = scale.high - scale.low;
  const require: Require = (column, code, what, fine) => {
    const place = column?.findIndex((row) => !fine(row)) ?? -1;
    if (place >= 0) throw new RefusedError(code, `item '${disclosure.items[place]}' has ${what}`);
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
 * Refuse a prior of positions that is none, or whose numbers are beyond all measure.
 *
 * The least activity of the first stratum is 0, and none's is below the one's before. A precision is
 * symmetric and positive definite, a category's map to itself changes nothing, the noise deviates by
 * at least 1/64 of the range. Bases lie on the scale or at most its range beyond; log odds, and what a
 * selection adds to them, up to 32, a taste up to twice the range; means and maps up to 64. So none of a
 * device's steps fails.
 */
function requirePositions(disclosure: Disclosure, require: Require): void {
  const model = modelOf(disclosure);
  if (!model) return;
  const { low, high } = disclosure.scale;
  const span = Math.floor(((high - low) * GRAIN) / ONE);
  const ends = Math.floor(((low + high) * GRAIN) / ONE);
  const bounded = (rows: readonly Row[], most: number, of = (one: number) => one) => {
    require(rows, "bad_positions", "numbers of places out of range", (row) =>
      within(row.map(of), -most, most));
  };
  bounded(model.rate, MOST_LOGIT * GRAIN);
  bounded(model.selection, Math.max(MOST_LOGIT * GRAIN, 2 * span)); // tastes that choose among them
  bounded(model.taste, 2 * span);
  bounded(model.base, 3 * span, (one) => 2 * one - ends);
  if (!isPrior(model, high - low))
    throw new RefusedError("bad_positions", "the prior of positions is no prior");
}

function isPrior({ strata, noise }: PositionModel, span: number): boolean {
  const ascending = strata.every(({ least }, g) => {
    const before = strata[g - 1]?.least;
    return least.every((one, k) => (before ? one >= before[k] && one <= MOST_ACTIVITY : one === 0));
  });
  return (
    noise * QUIETEST ** 2 >= fromFixed(span) ** 2 && ascending && strata.every(isPriorOfStratum)
  );
}

function isPriorOfStratum({ mean, precision, map }: Stratum): boolean {
  const near = (rows: readonly Row[]) =>
    rows.every((row) => within(row, -FARTHEST_POSITION, FARTHEST_POSITION));
  return (
    precision.every((P) => P.every((row) => within(row, -MOST_PRECISION, MOST_PRECISION))) &&
    near(mean) &&
    map.every((maps) => maps.every(near)) &&
    map.every((maps, k) => entries(maps[k]).every(([i, j, one]) => one === Number(i === j))) &&
    precision.every((P) => entries(P).every(([i, j, one]) => one === P[j][i])) &&
    precision.every((P) => isDefinite(P, LEAST_PRECISION))
  );
}

/** Return a matrix's entries, each after its row and column. */
function entries(matrix: readonly Row[]): [number, number, number][] {
  return matrix.flatMap((row, i) => row.map((one, j): [number, number, number] => [i, j, one]));
}

function within(row: Row, low: number, high: number): boolean {
  return row.every((one) => one >= low && one <= high);
}

function sum(row: Row): number {
  return row.reduce((total, one) => total + one, 0);
}
