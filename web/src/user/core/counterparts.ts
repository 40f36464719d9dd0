/**
 * Counterparts: whoever lies in another category as she lies in her own.
 *
 * The device first estimates its user's own place z = (t, x), selection and taste factors (`wire/places`), and
 * treats her as it would treat her counterparts: item j is revealed with probability
 * min_m p_jm / p_jk, each category's p at its counterpart's selection factors, and its value moves by
 * <x_mean - x, taste_j> towards the mean of the counterparts' tastes before it goes through the
 * discrete midpoint. To the last bit, with p_jm = 1 / (1 + exp(-(rate_jm + <selection_j, t_m>))), the
 * exponent cut to [-30, 30]:
 *
 * 0. Her activity is 256 (n + 8) / (e + 8), rounded half up: n items she rated of those she was asked
 *    about, and e the sum over these of 1 / (1 + exp(-rate_jk)). Her stratum is the last whose least
 *    activity in her category k it reaches; mean, P and map below are that stratum's.
 * 1. z starts at mean_k. Eight times, over the items asked about and those of them that were rated,
 *        g = P_k (mean_k - z) + (sum_rated selection_j - sum_asked p_jk selection_j,
 *                                sum_rated taste_j (r_j - base_jk - <taste_j, x>) / noise)
 *        H = P_k + diag(sum_asked p_jk (1 - p_jk) selection_j selection_j',
 *                       sum_rated taste_j taste_j' / noise)
 *    and z += H^-1 g, each entry cut to [-2, 2]: Newton steps to the mode of her place, in doubles.
 * 2. z is cut to [-64, 64] and rounded to 1/256, half up; so is every counterpart
 *    mean_m + map_km (z - mean_k), and then the move, which is their mean less z, of tastes. From
 *    here on sums are integers, below 2^53.
 * 3. A reveal probability is rounded to 2^-16, half up, and is at least 1/64.
 * 4. A value moves by at most 3/8 of the scale, so that two categories' are at most 3/4 apart, is
 *    cut to the scale, and goes to one of its two neighbouring levels by a coin (`obfuscation`).
 */
import { MidpointError } from "../../errors";
import { type Disclosure, tasteSelects } from "../../wire/disclosure";
import { fromFixed, GRAIN, ONE } from "../../wire/fixed";
import { LEAST_REVEAL, mostSpread } from "../../wire/limits";
import { DAMPING, FARTHEST_POSITION } from "../../wire/positions";
import { dot, solve, times } from "./matrices";

type Row = readonly number[];
type Rows = readonly Row[];

/** Newton steps to the mode. */
const STEPS = 8;
/** The most by which a step changes a coordinate. */
const FARTHEST = 2;
/** Log odds beyond this count as this. */
const SUREST = 30;

/** What counterparts are found by; numbers about items in 1/256, D dimensions. */
export interface PositionModel {
  /** Log odds that each category rates the item, at selection factors of 0. Shape (M, K). */
  readonly rate: Rows;
  /**
   * What each selection adds to them, tastes that choose among them. Shape (M, d), d = 0 where sets are
   * not protected.
   */
  readonly selection: Rows;
  /** What each category rates the item at tastes of 0. Shape (M, K). */
  readonly base: Rows;
  /** What each taste adds to it. Shape (M, r). */
  readonly taste: Rows;
  /** Where light and heavy raters lie, the lightest first. */
  readonly strata: readonly Stratum[];
  /** Variance of a rating around base + <taste, x>. */
  readonly noise: number;
}

/** Where people of one stratum of activity lie. */
export interface Stratum {
  /** Its least activity in each category, in 1/256. Shape (K,). */
  readonly least: Row;
  /** Mean place of each category. Shape (K, D). */
  readonly mean: Rows;
  /** Inverse covariance of its places. Shape (K, D, D). */
  readonly precision: readonly Rows[];
  /** How places of one category are carried to another's. Shape (K, K, D, D). */
  readonly map: readonly (readonly Rows[])[];
}

/** Where one person's counterparts lie, in 1/256. */
export interface Counterparts {
  /** Habits of her counterpart in each category. Shape (K, d). */
  readonly selection: Rows;
  /** How her tastes are moved: to the mean of the counterparts'. Shape (r,). */
  readonly move: Row;
}

/** What becomes of one rating because of her place; fixed point. */
export interface Own {
  /** Probability of revealing it. */
  readonly reveal: number;
  /** By how much its value moves. */
  readonly shift: number;
}

/** A disclosure does not change, so neither do these. */
const PLACES = new WeakMap<Disclosure, PositionModel>();

/** Read a disclosure's numbers about places; undefined under a scheme without counterparts. */
export function modelOf(disclosure: Disclosure): PositionModel | undefined {
  const { prior, rate, selection, base, taste } = disclosure;
  if (!prior || !base || !taste) return undefined;
  const known = PLACES.get(disclosure);
  if (known) return known;
  const matrix = (rows: Rows) => rows.map((row) => row.map(fromFixed));
  const none: Row = [];
  const choose = tasteSelects(disclosure);
  const found: PositionModel = {
    rate: rate ?? base.map((row) => row.map(() => 0)),
    selection: base.map((_, i) => [...(selection?.[i] ?? none), ...(choose ? taste[i] : none)]),
    base,
    taste,
    strata: prior.least.map((least, g) => ({
      least,
      mean: matrix(prior.mean[g]),
      precision: prior.precision[g].map(matrix),
      map: prior.map[g].map((maps) => maps.map(matrix)),
    })),
    noise: fromFixed(prior.noise),
  };
  PLACES.set(disclosure, found);
  return found;
}

/**
 * Estimate one person's place by steps 0 to 2; return her counterparts.
 *
 * `asked` are the places in the disclosure of all that she was asked about, `rated` of what of it she
 * rated, `value` her ratings of those in fixed point.
 */
export function counterparts(
  model: PositionModel,
  cell: number,
  asked: Row,
  rated: Row,
  value: Row,
): Counterparts {
  const stratum = stratumOf(model, cell, asked, rated.length);
  const place = mode(model, stratum, cell, asked, rated, value.map(fromFixed)).map(
    (one) => rounded(cut(one)) / GRAIN,
  );
  const mine = stratum.mean[cell];
  const away = place.map((one, i) => one - mine[i]);
  const others = stratum.mean.map((mean, m) =>
    times(stratum.map[cell][m], away).map((one, i) => cut(mean[i] + one)),
  );
  const d = model.selection[0].length;
  const move = place.slice(d).map((one, i) => {
    const sum = others.reduce((total, other) => total + other[d + i], 0);
    return rounded(sum / others.length - one);
  });
  return { selection: others.map((other) => other.slice(0, d).map(rounded)), move };
}

/** Return what becomes of her rating of one item, given her counterparts. */
export function ownOf(disclosure: Disclosure, cell: number, place: number, found: Counterparts) {
  const model = modelOf(disclosure);
  if (!model) throw new MidpointError(`scheme '${disclosure.scheme}' has no counterparts`);
  const reveal = revealProbability(model, cell, place, found.selection);
  return { reveal, shift: valueShift(disclosure, found.move, place) } satisfies Own;
}

/** Return min_m p_jm / p_jk of an item at the counterparts' selection factors, step 3. */
export function revealProbability(
  model: PositionModel,
  cell: number,
  place: number,
  selectionFactors: Rows,
) {
  const [rate, selection] = [model.rate[place], model.selection[place]];
  const p = rate.map((one, m) => chance((one * GRAIN + dot(selection, selectionFactors[m])) / ONE));
  return Math.max(Math.floor((Math.min(...p) / p[cell]) * ONE + 0.5), LEAST_REVEAL);
}

/** Return <move, taste_j> of an item, at most 3/8 of the scale, step 4. */
export function valueShift({ taste, scale, scheme }: Disclosure, move: Row, place: number): number {
  if (!taste) throw new MidpointError(`scheme '${scheme}' moves no values`);
  const most = Math.floor(mostSpread(scale.high - scale.low) / 2);
  return Math.min(Math.max(dot(taste[place], move), -most), most);
}

/** Return the stratum of someone who rated n of what she was asked about, step 0. */
function stratumOf({ strata, rate }: PositionModel, cell: number, asked: Row, n: number): Stratum {
  const e = asked.reduce((sum, place) => sum + chance(rate[place][cell] / GRAIN), 0);
  const activity = Math.floor((GRAIN * (n + DAMPING)) / (e + DAMPING) + 0.5);
  const reached = strata.filter(({ least }) => least[cell] <= activity).length;
  return strata[Math.max(reached - 1, 0)];
}

/** Climb to the mode of the place of someone who was asked this and rated that. Shape (D,). */
function mode(
  model: PositionModel,
  { mean, precision }: Stratum,
  cell: number,
  asked: Row,
  rated: Row,
  value: Row,
): number[] {
  const { noise } = model;
  const d = model.selection[0].length;
  const [selection, taste] = [columns(model.selection, asked), columns(model.taste, rated)];
  const rate = Float64Array.from(asked, (place) => model.rate[place][cell] / GRAIN);
  const unlike = Float64Array.from(value, (one, i) => one - model.base[rated[i]][cell] / GRAIN);
  const wanted = [
    ...columns(model.selection, rated).map((one) => one.reduce((sum, add) => sum + add, 0)),
    ...taste.map((one) => product(one, unlike) / noise),
  ];
  const pull = times(precision[cell], mean[cell]).map((one, i) => wanted[i] + one);
  const all = new Float64Array(rated.length).fill(1 / noise);
  const fixed = added(precision[cell], gram(taste, all), d);
  const z = [...mean[cell]];
  for (let step = 0; step < STEPS; step++) {
    const p = chances(rate, selection, z);
    const gradient = times(fixed, z).map((one, i) => pull[i] - one);
    selection.forEach((one, i) => {
      gradient[i] -= product(one, p);
    });
    const unsure = p.map((one) => one * (1 - one));
    solve(added(fixed, gram(selection, unsure), 0), gradient).forEach((one, i) => {
      z[i] += Math.min(Math.max(one, -FARTHEST), FARTHEST);
    });
  }
  return z;
}

/** Return some rows of numbers in 1/256, column by column: that is what takes a device's time. */
function columns(rows: Rows, places: Row): Float64Array[] {
  const found = rows[0].map(() => new Float64Array(places.length));
  places.forEach((place, n) => {
    const row = rows[place];
    for (let i = 0; i < row.length; i++) found[i][n] = row[i] / GRAIN;
  });
  return found;
}

/** Return the chance of rating each item at these selection factors. */
function chances(rate: Float64Array, selection: readonly Float64Array[], z: Row): Float64Array {
  const found = rate.slice();
  selection.forEach((column, i) => {
    const by = z[i];
    for (let n = 0; n < found.length; n++) found[n] += column[n] * by;
  });
  for (let n = 0; n < found.length; n++) found[n] = chance(found[n]);
  return found;
}

/** Return the columns' weighted products with one another. Shape (d, d). */
function gram(found: readonly Float64Array[], weight: Float64Array): number[][] {
  const weighted = new Float64Array(weight.length);
  const products = found.map((column, i) => {
    for (let n = 0; n < weighted.length; n++) weighted[n] = column[n] * weight[n];
    return found.slice(0, i + 1).map((other) => product(weighted, other));
  });
  return found.map((_, i) => found.map((_, j) => products[Math.max(i, j)][Math.min(i, j)]));
}

/** Return <a, b>, by four sums at a time: one would wait for itself. */
function product(a: Float64Array, b: Float64Array): number {
  const whole = a.length - (a.length % 4);
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let n = 0; n < whole; n += 4) {
    first += a[n] * b[n];
    second += a[n + 1] * b[n + 1];
    third += a[n + 2] * b[n + 2];
    fourth += a[n + 3] * b[n + 3];
  }
  for (let n = whole; n < a.length; n++) first += a[n] * b[n];
  return first + second + (third + fourth);
}

/** Return a matrix to which a smaller one is added, its first corner at (at, at). */
function added(whole: Rows, block: Rows, at: number): number[][] {
  const sum = whole.map((row) => [...row]);
  block.forEach((row, i) => {
    row.forEach((one, j) => {
      sum[at + i][at + j] += one;
    });
  });
  return sum;
}

/** Return 1 / (1 + exp(-logit)), for log odds up to 30: nothing is surer than that. */
export function chance(logit: number): number {
  return 1 / (1 + Math.exp(-Math.min(Math.max(logit, -SUREST), SUREST)));
}

/** Return a number in 1/256, rounded half up. */
function rounded(number: number): number {
  return Math.floor(number * GRAIN + 0.5);
}

/** Return a coordinate of a place, cut to what a place can be. */
function cut(number: number): number {
  return Math.min(Math.max(number, -FARTHEST_POSITION), FARTHEST_POSITION);
}
