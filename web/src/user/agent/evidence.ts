/**
 * What somebody who reads title by title could guess of the category, from public numbers alone.
 *
 * By Bayes' rule with equal priors: P(k | all) is proportional to the product over items of
 * P(rated | k) P(value | k), where P(rated | k) is proportional to 1 / reveal_k (Algorithm 2's ratio,
 * inverted) and P(value | k) is the disclosed distribution over the levels, or where only offsets or
 * averages are disclosed a Gaussian around them. For what is sent the same is worked out through the
 * scheme: that it comes out equal for all categories is computed, not assumed. Under a scheme with
 * counterparts, P(rated | k) and P(rated and revealed | k) come from the prior of positions
 * (`expectations`). Two things are assumed there: values are taken as if they had not been moved, and
 * with more than 16 joint cells, that something is revealed is equally likely for all.
 *
 * Items that were not rated are left out: without counterparts only ratios of how often categories
 * rate an item are disclosed. Nor does this see how one person's ratings go together: what a joint
 * attack leaks is measured by an auditor, not here.
 */
import { cellsOf, type Disclosure, isUnary, schemeOf } from "../../wire/disclosure";
import { ONE } from "../../wire/fixed";
import { outputShares } from "../core/discrete";
import { clip, reach } from "../core/obfuscation";
import { modelOf } from "../parameters";
import { type Expected, expected } from "./expectations";

/** Probabilities over the K categories or joint cells, each summing to 1. */
export interface Evidence {
  /** From her ratings as she gave them. */
  readonly raw: readonly number[];
  /** From what is sent. */
  readonly sent: readonly number[];
  /** Whether the disclosure says how categories rate; if not, `raw` knows only what was rated. */
  readonly values: boolean;
}

type Row = readonly number[];

/** What is disclosed as 0 of 2^16 was rounded from less than half a unit: never impossible. */
const LEAST = 0.5 / ONE;

/** Return what raw ratings, and what is sent, say of the category; values in fixed point by item. */
export function evidence(
  disclosure: Disclosure,
  rated: ReadonlyMap<string, number>,
  sent: ReadonlyMap<string, number>,
): Evidence {
  const posterior = (values: ReadonlyMap<string, number>, of: typeof rawLikelihood) => {
    const logs = new Array<number>(cellsOf(disclosure)).fill(0);
    for (const [item, value] of values) {
      const index = disclosure.index.get(item);
      if (index === undefined) continue;
      logsOf(disclosure, index, value, of).forEach((log, k) => {
        logs[k] += log;
      });
    }
    return normalized(logs);
  };
  const values = disclosure.levels !== undefined || centres(disclosure, 0) !== undefined;
  return { raw: posterior(rated, rawLikelihood), sent: posterior(sent, sentLikelihood), values };
}

/** A disclosure does not change, so neither do these; gauges are drawn again with every star. */
const LOGS = new Map(
  [rawLikelihood, sentLikelihood].map((of) => [of, new WeakMap<Disclosure, Known>()]),
);
type Known = Map<string, Row>;

/** Return the logarithms of one value's likelihoods, worked out once. */
function logsOf(
  disclosure: Disclosure,
  item: number,
  value: number,
  of: typeof rawLikelihood,
): Row {
  const known = LOGS.get(of)?.get(disclosure) ?? new Map<string, Row>();
  LOGS.get(of)?.set(disclosure, known);
  const key = `${item} ${value}`;
  const logs = known.get(key) ?? of(disclosure, item, value).map(Math.log);
  known.set(key, logs);
  return logs;
}

/** Return, for each feature, the probability of each of its categories. */
export function marginals({ features }: Disclosure, posterior: Row): number[][] {
  const shares = features.map(({ categories }) => categories.map(() => 0));
  posterior.forEach((probability, cell) => {
    let rest = cell;
    for (let f = features.length - 1; f >= 0; f--) {
      const n = features[f].categories.length;
      shares[f][rest % n] += probability;
      rest = Math.floor(rest / n);
    }
  });
  return shares;
}

/** Return P(rated | k) P(value | k), up to a factor that is the same for all k. */
export function rawLikelihood(disclosure: Disclosure, item: number, value: number): number[] {
  const shares = rawShares(disclosure, item, value);
  return shares.map((share, k) => Math.max(share, LEAST) * ratedMoreOften(disclosure, item, k));
}

/** Return P(rated | k) P(revealed | k) P(answer | k), up to a factor that is the same for all k. */
export function sentLikelihood(disclosure: Disclosure, item: number, answer: number): number[] {
  const shares = sentShares(disclosure, item, answer);
  return shares.map((share, k) => {
    const revealed = (disclosure.reveal?.[item][k] ?? ONE) / ONE;
    const often = expectedOf(disclosure, item)?.revealed[k];
    return Math.max(share, LEAST) * (often ?? ratedMoreOften(disclosure, item, k) * revealed);
  });
}

/** P(rated | k), by the prior of positions or over the least of them: 1 / reveal_k. */
function ratedMoreOften(disclosure: Disclosure, item: number, k: number): number {
  const { reveal } = disclosure;
  return expectedOf(disclosure, item)?.rated[k] ?? (reveal ? ONE / reveal[item][k] : 1);
}

/** What the prior of positions says of an item; undefined without counterparts. */
function expectedOf(disclosure: Disclosure, item: number): Expected | undefined {
  const model = modelOf(disclosure);
  return model && expected(model, item);
}

/** Return P(value | k) for each k; on a continuous scale a density, or the mass at an end. */
function rawShares(disclosure: Disclosure, item: number, value: number): Row {
  const { low, high, levels: points } = disclosure.scale;
  if (isUnary(disclosure.scale)) return new Array<number>(cellsOf(disclosure)).fill(1);
  if (points) return distributions(disclosure, item).map((row) => row[points.indexOf(value)] ?? 0);
  const means = centres(disclosure, item);
  const [mean, deviation] = [(low + high) / 2, spreadOf(disclosure)];
  const each = means ?? new Array<number>(cellsOf(disclosure)).fill(mean);
  return each.map((centre) => share(value, centre, deviation, low, high));
}

/** Return P(answer | k) for each k, through the scheme. */
function sentShares(disclosure: Disclosure, item: number, answer: number): Row {
  const { scale, levels, average } = disclosure;
  const { valueMap } = schemeOf(disclosure);
  const K = cellsOf(disclosure);
  if (isUnary(scale)) return new Array<number>(K).fill(1); // values are 1 whatever the category
  if (valueMap === "discrete" && levels && scale.levels) {
    const reported = scale.reported ?? scale.levels;
    const shares = outputShares(levels[item], scale.levels, reported);
    return shares.map((row) => row[reported.indexOf(answer)] ?? 0);
  }
  if (average) {
    const drawn = average[item].filter((value) => value === answer).length / average[item].length;
    return new Array<number>(K).fill(drawn);
  }
  if (valueMap === "as_is") return rawShares(disclosure, item, answer);
  return scale.levels
    ? shiftedStars(disclosure, item, answer)
    : shiftedSmooth(disclosure, item, answer);
}

/** Add up what each level of each category is sent to by a shift, rounded or not. */
function shiftedStars(disclosure: Disclosure, item: number, answer: number): Row {
  const { low, high, levels: points = [] } = disclosure.scale;
  const rounds = schemeOf(disclosure).valueMap === "rounded";
  const offsets = disclosure.offset?.[item] ?? [];
  return distributions(disclosure, item).map((row, k) =>
    row.reduce((sum, mass, l) => {
      const y = points[l] - offsets[k];
      const hit = rounds ? splitShare(clip(y, low, high), points, answer) : Number(y === answer);
      return sum + mass * hit;
    }, 0),
  );
}

/** The density of r - offset, or the mass beyond what all categories can reach. */
function shiftedSmooth(disclosure: Disclosure, item: number, answer: number): Row {
  const { low, high } = disclosure.scale;
  const offsets = disclosure.offset?.[item] ?? [];
  const ends = reach(offsets, low, high);
  const means = centres(disclosure, item) ?? [];
  const deviation = spreadOf(disclosure);
  return means.map((mean, k) => share(answer, mean - offsets[k], deviation, ...ends));
}

/** Probability that a value is sent to `answer` when it is split between its two levels. */
function splitShare(value: number, points: Row, answer: number): number {
  const l = points.indexOf(answer);
  if (l < 0) return 0;
  if (value === answer) return 1;
  const other = value < answer ? points[l - 1] : points[l + 1];
  if (other === undefined) return 0;
  return Math.max(0, 1 - (value - answer) / (other - answer));
}

/** Each category's distribution over the levels: as disclosed, or a Gaussian's. Shape (K, L). */
function distributions(disclosure: Disclosure, item: number): readonly Row[] {
  const { levels, scale } = disclosure;
  const points = scale.levels ?? [];
  if (levels) return levels[item].map((row) => row.map((mass) => mass / ONE));
  const means = centres(disclosure, item);
  const deviation = spreadOf(disclosure);
  if (!means) {
    const equal = points.map(() => 1 / points.length);
    return new Array<Row>(cellsOf(disclosure)).fill(equal);
  }
  return means.map((mean) => gaussian(points, mean, deviation));
}

/** A Gaussian's distribution over the levels. */
function gaussian(points: Row, mean: number, deviation: number): number[] {
  return normalized(points.map((point) => -(((point - mean) / deviation) ** 2) / 2));
}

/** The centre of each category's ratings; undefined if nothing is disclosed about that. */
function centres(disclosure: Disclosure, item: number): Row | undefined {
  const { offset, average, scale } = disclosure;
  if (offset) return offset[item].map((of) => (scale.low + scale.high) / 2 + of);
  return schemeOf(disclosure).valueMap === "feature_average" ? average?.[item] : undefined;
}

/** A quarter of the scale: one star of five. Not disclosed, so it is a convention. */
function spreadOf({ scale }: Disclosure): number {
  return (scale.high - scale.low) / 4;
}

/** A Gaussian's density, or its mass at and beyond an end. */
function share(value: number, mean: number, deviation: number, low: number, high: number): number {
  const z = (value - mean) / deviation;
  if (value <= low) return below(z);
  if (value >= high) return below(-z);
  return Math.exp(-(z ** 2) / 2);
}

/** Standard normal distribution function, good to 0.0004: enough to draw a gauge. */
function below(z: number): number {
  return (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3))) / 2;
}

/** Return exp(logs) scaled to sum to 1. */
function normalized(logs: Row): number[] {
  const most = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - most));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}
