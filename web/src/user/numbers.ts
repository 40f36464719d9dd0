/** Numbers that no honest analyst sends, whatever its data. */
import { cellsOf, type Disclosure } from "../wire/disclosure";
import { ONE } from "../wire/fixed";
import { type Refusal, RefusedError } from "../wire/refusal";
import { LEAST_REVEAL, mostSpread, spread, spreadOfMeans } from "../wire/telling";

type Row = readonly number[];

/**
 * Refuse numbers that no honest analyst sends, whatever its data.
 *
 * Offsets lie within the scale's range R, as do their differences (so there are values that all
 * categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
 * units, or K R / 2^bits when quantised). A level distribution has no negative mass and sums to
 * 2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
 * always reveals, has 2^16. Averages lie on the scale. Beyond what `wire/telling` allows, one answer
 * would tell too much: a reveal probability below 1/64, or means of categories, by offsets or by
 * levels, that are further apart than 3/4 of the scale.
 */
export function checkNumbers(disclosure: Disclosure): void {
  const { scale, offset, levels, reveal, average, bits } = disclosure;
  const span = scale.high - scale.low;
  const require = <T>(
    column: readonly T[] | undefined,
    code: Refusal,
    what: string,
    fine: (row: T) => boolean,
  ): void => {
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
  require(average, "average_out_of_range", "an average off the scale", (row) =>
    within(row, scale.low, scale.high));
  const most = mostSpread(span);
  require(offset, "too_telling", "categories too far apart", (row) => spread(row) <= most);
  require(levels, "too_telling", "categories too far apart", (rows) =>
    spreadOfMeans(rows, scale.levels ?? []) <= most * ONE);
  require(reveal, "too_telling", "a category that hardly ever reveals it", (row) =>
    within(row, LEAST_REVEAL, ONE));
}

function within(row: Row, low: number, high: number): boolean {
  return row.every((one) => one >= low && one <= high);
}

function sum(row: Row): number {
  return row.reduce((total, one) => total + one, 0);
}
