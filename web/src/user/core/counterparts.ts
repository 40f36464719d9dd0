/**
 * Counterparts: the people of the other categories who correspond to her.
 *
 * The discrete midpoint blinds every item on its own. Which items go together, how many there are and
 * what taste they show may still leak. So the device first estimates its user's position z = (t, x),
 * selection and taste factors (`wire/positions`), and answers as her counterparts would:
 *
 * - item j is revealed with probability min_m p_jm / p_jk, each category's p at its counterpart's
 *   selection factors: p_jm = 1 / (1 + exp(-(rate_jm + <selection_j, t_m>))), the exponent cut to
 *   [-30, 30];
 * - its value moves by <x_mean - x, taste_j> towards the mean of the counterparts' taste factors, and
 *   then goes through the discrete midpoint;
 * - where log spreads are disclosed, its residual is scaled first, from her spread to the mean of the
 *   counterparts': categories may differ in how far they use the scale.
 *
 * If positions, sets and ratings follow the disclosed prior and the estimated position is hers, all
 * that is sent has one joint distribution for all categories (docs/explanation/protocol.md). To the
 * last bit:
 *
 * 0. Her activity is 256 (n + 8) / (e + 8), rounded half up: n items she rated of those she was asked
 *    about, and e the sum over these of 1 / (1 + exp(-rate_jk)). Her stratum is the last whose least
 *    activity in her category k it reaches; mean, P and map below are that stratum's. It is reached
 *    as well where 256 (n + 8) is twice what it takes in some category, the least activity times
 *    (e + 8): false rates must not part the strata of categories.
 * 1. z starts at mean_k. Eight times, over the items asked about and those of them that were rated,
 *        g = P_k (mean_k - z) + (sum_rated selection_j - sum_asked p_jk selection_j,
 *                                sum_rated taste_j (r_j - base_jk - <taste_j, x>) / noise)
 *        H = P_k + diag(sum_asked p_jk (1 - p_jk) selection_j selection_j',
 *                       sum_rated taste_j taste_j' / noise)
 *    and z += H^-1 g, multiplied by 5 / c where this changes some <selection_j, t> of the items asked
 *    about by c > 5: Newton steps to the mode of her position, in doubles.
 * 2. z is cut to [-64, 64] and rounded to 1/256, half up; so is every counterpart
 *    mean_m + map_km (z - mean_k), and then the move, which is their mean less z, of taste factors.
 *    From here on sums are integers, below 2^53.
 * 3. A reveal probability is rounded to 2^-16, half up, and is at least 1/64. Under a leak budget it
 *    is then multiplied by the item's keep probability, which is everyone's, and rounded again.
 * 4. A value moves by at most 3/8 of the scale, so that two categories' are at most 3/4 apart, is
 *    cut to the scale, and goes to one of its two neighbouring levels by a coin (`obfuscation`).
 * 5. With log spreads of mean mu and deviation s: her residuals e_j = r_j - base_jk - <taste_j, x>, x
 *    rounded, are cut to 2^20. w starts at mu_k; sixteen times, with S = sum e_j^2 / noise over the n
 *    items that she rated,
 *        w += (S exp(-2 w) - n - (w - mu_k) / s_k^2) / (1 / s_k^2 + 2 S exp(-2 w)),
 *    each step cut to [-2, 2]: the mode of her log spread, in doubles. It is rounded to 1/256, half
 *    up, and so is c, the mean over m of mu_m + (s_m / s_k)(w - mu_k) less w, cut to [-1/4, 1/4]. Her
 *    values move by e_j (f - 1) more, f = exp(c) rounded to 2^-16 and the product as well; the limit
 *    of 4 holds for both moves together.
 * 6. Of sets no value moves. Where the prior has a weight, a device keeps z instead of a move, and
 *    adds weight p_jk, rounded half up, to the score of item j: what all that she gave says of it, the
 *    withheld items included. The exponent is rate_jk + <selection_j, t>, t as rounded in step 2.
 * 7. What coins changed and what is withheld is lost to the analyst, not to her. Of graded ratings a
 *    device keeps x(revealed, y) - x(rated, r - c), cut and rounded as z in step 2: what its answers y
 *    say of her taste, less what her ratings r say, with c_jk what her category adds to a score. Here
 *        x(S, v) = (P + sum_S taste_j taste_j' / noise)^-1 sum_S taste_j (v_j - b_j) / noise,
 *    b_j the mean of base_j over categories, and P the taste factors' block of the precision of the
 *    first category and stratum, for everyone. Its product with taste_j, within the limit of 4, is
 *    taken off the score of item j.
 */
import { MidpointError } from "../../errors";
import { dot, solve, times } from "../../matrices";
import { type Disclosure, isUnary } from "../../wire/disclosure";
import { fromFixed, GRAIN, ONE } from "../../wire/fixed";
import { LEAST_REVEAL, MOST_STRATUM_RATIO, mostSpread } from "../../wire/limits";
import {
  DAMPING,
  FARTHEST_POSITION,
  FARTHEST_RESIDUAL,
  LONGEST_SPREAD_STEP,
  MOST_CHANGE,
  MOST_LOG_SPREAD,
  SPREAD_STEPS,
  STEPS,
  SUREST,
} from "../../wire/positions";
import { modelOf, type PositionModel, type Stratum } from "../parameters";
import { gram, productsWith, type Table, tableOf, weightedSum } from "./tables";

type Row = readonly number[];
type Rows = readonly Row[];

/** Positions of one person's counterparts, in 1/256. */
export interface Counterparts {
  /** Selection factors of her counterpart in each category. Shape (K, d). */
  readonly selection: Rows;
  /** From her taste factors to the mean of the counterparts'; of sets her position. Shape (r,). */
  readonly move: Row;
  /** How far scaled residuals move each value that she rated, if they are scaled. Shape (n,). */
  readonly stretch?: Row;
}

/**
 * What a scheme does to one person's ratings; fixed point, items by index.
 *
 * Without counterparts it is the identity: the disclosed reveal probabilities and no move.
 */
export interface Adjustment {
  /** Probability of revealing a rating of this item. */
  reveal(item: number): number;
  /** How far its value moves. */
  shift(item: number): number;
  /** How her taste factors move, in 1/256; empty without counterparts; of sets her position. (r,). */
  readonly move: Row;
}

/** Return the disclosed reveal probabilities, and no move. */
export function identity(disclosure: Disclosure, cell: number): Adjustment {
  const { reveal, prior, scheme } = disclosure;
  if (prior) throw new MidpointError(`scheme '${scheme}' adjusts to each person`);
  return {
    reveal: (item) => kept(disclosure, item, reveal?.[item][cell] ?? ONE),
    shift: () => 0,
    move: [],
  };
}

/** Return an item's keep probability times the probability of revealing it, rounded half up. */
function kept({ keep }: Disclosure, item: number, reveal: number): number {
  return keep ? Math.floor((reveal * keep[item] + ONE / 2) / ONE) : reveal;
}

/**
 * Return what becomes of one person's ratings, steps 0 to 5; the identity without counterparts.
 *
 * `asked` are all items that she was asked about, by index, the rated ones among them; `rated` those
 * that she rated, `value` her ratings of them in fixed point.
 */
export function adjust(
  disclosure: Disclosure,
  cell: number,
  asked: Row,
  rated: Row,
  value: Row,
): Adjustment {
  const model = modelOf(disclosure);
  if (!model) return identity(disclosure, cell);
  const hers = counterparts(model, cell, asked, rated, value);
  const adjustment = adjustmentTo(disclosure, cell, hers);
  if (!hers.stretch) return adjustment;
  const stretch = new Map(rated.map((item, i) => [item, hers.stretch?.[i] ?? 0]));
  const shift = (item: number) =>
    limited(disclosure, adjustment.shift(item) + (stretch.get(item) ?? 0));
  return { ...adjustment, shift };
}

/** Return what becomes of one person's ratings, given her counterparts: steps 3 and 4. */
export function adjustmentTo(
  disclosure: Disclosure,
  cell: number,
  { selection, move }: Counterparts,
): Adjustment {
  const model = modelOf(disclosure);
  if (!model) throw new MidpointError(`scheme '${disclosure.scheme}' has no counterparts`);
  return {
    reveal: (item) => kept(disclosure, item, revealProbability(model, cell, item, selection)),
    shift: (item) => valueShift(disclosure, move, item),
    move,
  };
}

/** Estimate one person's position and map it to the other categories, steps 0 to 2. */
export function counterparts(
  model: PositionModel,
  cell: number,
  asked: Row,
  rated: Row,
  value: Row,
): Counterparts {
  const given: Given = { model, cell, asked, rated, value };
  const last = LAST.get(model);
  if (last && isSame(last.given, given)) return last.result;
  const work = bySteps(given);
  for (let next = work.next(); ; next = work.next()) if (next.done) return next.value;
}

/** What one person's counterparts follow from. */
interface Given {
  readonly model: PositionModel;
  readonly cell: number;
  readonly asked: Row;
  readonly rated: Row;
  readonly value: Row;
}

/** What was worked out last, for who asks the same again: before it is shown, and before it is sent. */
const LAST = new WeakMap<PositionModel, { given: Given; result: Counterparts }>();

function isSame(a: Given, b: Given): boolean {
  return (
    a.cell === b.cell &&
    [
      [a.rated, b.rated],
      [a.value, b.value],
      [a.asked, b.asked],
    ].every(([x, y]) => x.length === y.length && x.every((entry, i) => entry === y[i]))
  );
}

/** Do the work of `counterparts`, pausing after each step; the result is kept for it. */
export function* bySteps(given: Given): Generator<void, Counterparts> {
  const { model, cell, asked, rated, value } = given;
  const stratum = stratumOf(model, cell, asked, rated.length);
  const mode = yield* modeOf(model, stratum, cell, asked, rated, value.map(fromFixed));
  const z = roundedPosition(mode).map((coordinate) => coordinate / GRAIN);
  const away = z.map((coordinate, i) => coordinate - stratum.mean[cell][i]);
  const others = stratum.mean.map((mean, m) =>
    times(stratum.map[cell][m], away).map((coordinate, i) => cut(mean[i] + coordinate)),
  );
  const d = model.selection[0].length;
  const towards = z.slice(d).map((coordinate, i) => {
    const sum = others.reduce((total, other) => total + other[d + i], 0);
    return rounded(sum / others.length - coordinate);
  });
  const move = model.weight ? z.map(rounded) : towards;
  const selection = others.map((other) => other.slice(0, d).map(rounded));
  const { spread } = stratum;
  const result: Counterparts = spread
    ? { selection, move, stretch: stretchOf(given, spread, z.slice(d)) }
    : { selection, move };
  LAST.set(model, { given, result });
  return result;
}

/** Return how far scaled residuals move what she rated, at these taste factors, step 5. Shape (n,). */
function stretchOf({ model, cell, rated, value }: Given, spread: Rows, taste: Row): number[] {
  const factors = taste.map((coordinate) => coordinate * GRAIN);
  const residuals = rated.map((item, i) => {
    const explained = model.base[item][cell] * GRAIN + dot(model.taste[item], factors);
    return within(value[i] - explained, FARTHEST_RESIDUAL);
  });
  const S = residuals.reduce((sum, e) => sum + fromFixed(e) ** 2, 0) / model.noise;
  const factor = spreadFactor(spread, cell, rated.length, S);
  return residuals.map((e) => Math.floor(((factor - ONE) * e) / ONE + 0.5));
}

/** Return what residuals of someone who rated n items are multiplied by, step 5. */
export function spreadFactor(spread: Rows, cell: number, n: number, S: number): number {
  const [mean, deviation] = spread[cell];
  const weight = 1 / deviation ** 2;
  let w = mean;
  for (let step = 0; step < SPREAD_STEPS; step++) {
    const seen = S * Math.exp(-2 * w);
    const by = (seen - n - weight * (w - mean)) / (weight + 2 * seen);
    w += within(by, LONGEST_SPREAD_STEP);
  }
  w = rounded(w) / GRAIN;
  const others = spread.map(([mu, s]) => mu + (s / deviation) * (w - mean));
  const away = others.reduce((sum, other) => sum + other, 0) / others.length - w;
  const change = rounded(within(away, MOST_LOG_SPREAD)) / GRAIN;
  return Math.floor(Math.exp(change) * ONE + 0.5);
}

/** Return min_m p_jm / p_jk of an item at the counterparts' selection factors, step 3. */
export function revealProbability(
  model: PositionModel,
  cell: number,
  item: number,
  selectionFactors: Rows,
): number {
  const selection = model.selection[item];
  const p = model.rate[item].map((rate, m) =>
    chance((rate * GRAIN + dot(selection, selectionFactors[m])) / ONE),
  );
  return Math.max(Math.floor((Math.min(...p) / p[cell]) * ONE + 0.5), LEAST_REVEAL);
}

/** Return <move, taste_j> of an item, at most 3/8 of the scale, step 4; 0 if nothing moves. */
export function valueShift(disclosure: Disclosure, move: Row, item: number): number {
  const { taste, scheme, scale } = disclosure;
  if (move.length === 0 || isUnary(scale)) return 0;
  if (!taste) throw new MidpointError(`scheme '${scheme}' moves no values`);
  return limited(disclosure, dot(taste[item], move));
}

/** Return x(S, v): what values of some items say of taste factors, step 7. Shape (r,). */
export function tasteOf(model: PositionModel, item: Row, value: Row): number[] {
  const { base, noise, strata, selection } = model;
  const { taste } = packedOf(model, 0);
  const rows = Int32Array.from(item);
  const unlike = Float64Array.from(value, (v, i) => {
    const sum = base[item[i]].reduce((total, entry) => total + entry, 0);
    return fromFixed(v) - sum / base[item[i]].length / GRAIN;
  });
  const equal = new Float64Array(rows.length).fill(1 / noise);
  const d = selection[0].length;
  const prior = strata[0].precision[0].slice(d).map((row) => row.slice(d));
  const pull = weightedSum(taste, rows, unlike).map((sum) => sum / noise);
  return solve(added(prior, gram(taste, rows, equal), 0), pull);
}

/** Return a position in 1/256, step 2. */
export function roundedPosition(mode: Row): number[] {
  return mode.map((coordinate) => rounded(cut(coordinate)));
}

/** Return weight p_jk of an item at her position, rounded half up, step 6; 0 without a weight. */
export function ownPart(disclosure: Disclosure, cell: number, position: Row, item: number): number {
  const model = modelOf(disclosure);
  if (!model?.weight || position.length === 0) return 0;
  const logit = (model.rate[item][cell] * GRAIN + dot(model.selection[item], position)) / ONE;
  return Math.floor(model.weight * chance(logit) + 0.5);
}

/** Return how far a value may move of so much, step 4. */
function limited({ scale }: Disclosure, shift: number): number {
  return within(shift, Math.floor(mostSpread(scale.high - scale.low) / 2));
}

/** Return the stratum of someone who rated n of what she was asked about, step 0. */
function stratumOf({ strata, rate }: PositionModel, cell: number, asked: Row, n: number): Stratum {
  const expected = strata[0].least.map((_, k) =>
    asked.reduce((sum, item) => sum + chance(rate[item][k] / GRAIN), 0),
  );
  const activity = Math.floor((GRAIN * (n + DAMPING)) / (expected[cell] + DAMPING) + 0.5);
  const reached = strata.filter(({ least }) => {
    const begins = Math.min(...least.map((activity, k) => activity * (expected[k] + DAMPING)));
    return least[cell] <= activity || MOST_STRATUM_RATIO * begins <= GRAIN * (n + DAMPING);
  });
  return strata[Math.max(reached.length - 1, 0)];
}

/** Climb to the mode of one person's position, step 1, with a pause after each step. Shape (D,). */
function* modeOf(
  model: PositionModel,
  { mean, precision }: Stratum,
  cell: number,
  asked: Row,
  rated: Row,
  value: Row,
): Generator<void, number[]> {
  const { noise } = model;
  const d = model.selection[0].length;
  const { selection, taste, rate } = packedOf(model, cell);
  const chosen = Int32Array.from(asked);
  const answered = Int32Array.from(rated);
  const equal = new Float64Array(rated.length).fill(1 / noise);
  const unlike = Float64Array.from(value, (y, i) => y - model.base[rated[i]][cell] / GRAIN);
  const ones = new Float64Array(rated.length).fill(1);
  const evidence = [
    ...weightedSum(selection, answered, ones),
    ...weightedSum(taste, answered, unlike).map((sum) => sum / noise),
  ];
  const pull = times(precision[cell], mean[cell]).map((of, i) => evidence[i] + of);
  const fixed = added(precision[cell], gram(taste, answered, equal), d);
  const z = [...mean[cell]];
  for (let step = 0; step < STEPS; step++) {
    yield;
    const p = chances(rate, selection, chosen, z);
    const gradient = times(fixed, z).map((of, i) => pull[i] - of);
    weightedSum(selection, chosen, p).forEach((sum, i) => {
      gradient[i] -= sum;
    });
    const unsure = p.map((chance) => chance * (1 - chance));
    const by = solve(added(fixed, gram(selection, chosen, unsure), 0), gradient);
    const changes = productsWith(selection, chosen, by);
    const change = changes.reduce((most, of) => Math.max(most, Math.abs(of)), MOST_CHANGE);
    by.forEach((of, i) => {
      z[i] += of * (MOST_CHANGE / change);
    });
  }
  return z;
}

/** A model's numbers as doubles, one after the other: that is what takes a device's time. */
interface Packed {
  readonly selection: Table;
  readonly taste: Table;
  /** Log odds that this category rates each item. */
  readonly rate: Float64Array;
}

/** A model does not change, so neither do these; by category. */
const PACKED = new WeakMap<PositionModel, Map<number, Packed>>();

function packedOf(model: PositionModel, cell: number): Packed {
  const known = PACKED.get(model) ?? new Map<number, Packed>();
  PACKED.set(model, known);
  const [other] = known.values();
  const packed = known.get(cell) ?? {
    selection: other?.selection ?? tableOf(model.selection, GRAIN),
    taste: other?.taste ?? tableOf(model.taste, GRAIN),
    rate: Float64Array.from(model.rate, (row) => row[cell] / GRAIN),
  };
  known.set(cell, packed);
  return packed;
}

/** Return the chance of rating each of these items at these selection factors. */
function chances(rate: Float64Array, selection: Table, items: Int32Array, z: Row): Float64Array {
  const p = productsWith(selection, items, z);
  for (let n = 0; n < p.length; n++) p[n] = chance(rate[items[n]] + p[n]);
  return p;
}

/** Return a matrix to which a smaller one is added, its first corner at (at, at). */
function added(whole: Rows, block: Rows, at: number): number[][] {
  const sum = whole.map((row) => [...row]);
  block.forEach((row, i) => {
    row.forEach((entry, j) => {
      sum[at + i][at + j] += entry;
    });
  });
  return sum;
}

/** Return 1 / (1 + exp(-logit)), with log odds cut to [-30, 30]. */
export function chance(logit: number): number {
  return 1 / (1 + Math.exp(-within(logit, SUREST)));
}

/** Return a number in 1/256, rounded half up. */
function rounded(number: number): number {
  return Math.floor(number * GRAIN + 0.5);
}

/** Return a coordinate of a position, cut to [-64, 64]. */
function cut(number: number): number {
  return within(number, FARTHEST_POSITION);
}

/** Return a number, cut to [-most, most]. */
function within(number: number, most: number): number {
  return Math.min(Math.max(number, -most), most);
}
