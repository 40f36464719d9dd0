/**
 * The discrete midpoint: every category's ratings are sent to one distribution, of legal ratings.
 *
 * To the last bit, for a rating at level l of category k, with coins uValue and uSplit in [0, 1):
 *
 * 1. low = C_k(l-1) (0 for the first level), width = C_k(l) - low.
 * 2. z = min(low + floor(uValue * width), 65535); the product is one IEEE double multiplication.
 *    A level that the category never gives has width 0: its boundary point is taken.
 * 3. S = sum over all K categories of the value (fixed point) of the level that holds z: the first
 *    level l' with C(l') > z.
 * 4. m = the greatest reported level with K * value[m] <= S; m + 1 is the next reported one. These
 *    are all levels, or fewer where a scale is fine: answers then show less, at the same mean.
 * 5. If m is not the last level and uSplit * (K * (value[m+1] - value[m])) < S - K * value[m],
 *    answer value[m+1], else value[m]; again one IEEE double multiplication.
 *
 * Everything else is integers below 2^53.
 */
import { ONE } from "../../wire/fixed";

type Row = readonly number[];
type Rows = readonly Row[];

/**
 * Return the answer for one rating, by the steps above; levels (K, L), points (L,).
 *
 * It is one of `reported`, some of the points; of all of them unless given.
 */
export function discreteMidpoint(
  levels: Rows,
  points: Row,
  level: number,
  category: number,
  uValue: number,
  uSplit: number,
  reported: Row = points,
): number {
  const low = levels[category].slice(0, level).reduce((sum, mass) => sum + mass, 0);
  const z = Math.min(low + Math.floor(uValue * levels[category][level]), ONE - 1);
  const scaled = reported.map((point) => levels.length * point);
  return split(sumAt(z, levels, points), scaled, uSplit) / levels.length;
}

/** Send a total to the point below or above it, unbiased: up with P = (total - p) / gap. */
export function split(total: number, points: Row, uSplit: number): number {
  const m = below(total, points);
  const gap = m + 1 < points.length ? points[m + 1] - points[m] : 1;
  return uSplit * gap < total - points[m] ? points[m + 1] : points[m];
}

/**
 * Return the exact distribution of answers per category, and the whole it is a part of.
 *
 * For one item: levels (K, L) -> masses (K, L), with whole = 2^16 K lcm(gaps) / gcd(gaps), which is
 * 2^16 K on a scale of equal steps. Row k is computed from category k's own ratings, so equal rows
 * are a finding.
 */
export function outputDistribution(
  levels: Rows,
  points: Row,
): { masses: number[][]; whole: number } {
  const gaps = points.slice(1).map((point, l) => point - points[l]);
  const shared = gaps.reduce(gcd);
  const unit = gaps.map((gap) => gap / shared).reduce((a, b) => (a / gcd(a, b)) * b);
  const steps = points.map((point) => (point - points[0]) / shared);
  const whole = levels.length * unit;
  const masses = spread(levels, steps, (rest, gap) => rest * (unit / gap), whole);
  return { masses, whole: ONE * whole };
}

/** Return the distribution of answers, of the reported points, per category as probabilities. */
export function outputShares(levels: Rows, points: Row, reported: Row = points): number[][] {
  const K = levels.length;
  const masses = spread(levels, points, (rest, gap) => rest / (K * gap), 1, reported);
  return masses.map((row) => row.map((mass) => mass / ONE));
}

/** Add up, over the pieces of the quantile axis, what each category's own ratings send where. */
function spread(
  levels: Rows,
  points: Row,
  upOf: (rest: number, gap: number) => number,
  whole: number,
  reported: Row = points,
): number[][] {
  const K = levels.length;
  const C = levels.map(runningSum);
  const cuts = [...new Set([0, ...C.flat()])].sort((a, b) => a - b);
  const masses = levels.map(() => reported.map(() => 0));
  const scaled = reported.map((point) => K * point);
  for (let i = 1; i < cuts.length; i++) {
    const [start, end] = [cuts[i - 1], cuts[i]];
    const S = sumAt(start, levels, points);
    const m = Math.min(below(S, scaled), reported.length - 2);
    const up = upOf(S - scaled[m], reported[m + 1] - reported[m]);
    for (let k = 0; k < K; k++) {
      for (let l = 0; l < points.length; l++) {
        const left = C[k][l] - levels[k][l];
        const common = Math.max(0, Math.min(end, C[k][l]) - Math.max(start, left));
        masses[k][m] += common * (whole - up);
        masses[k][m + 1] += common * up;
      }
    }
  }
  return masses;
}

/** Return the sum over categories of the value of the level that holds quantile z. */
function sumAt(z: number, levels: Rows, points: Row): number {
  let S = 0;
  for (const row of levels) {
    let l = 0;
    for (let C = row[0]; C <= z && l < row.length - 1; C += row[l]) l++;
    S += points[l];
  }
  return S;
}

/** Return the index of the greatest point that is not above the value. */
function below(value: number, points: Row): number {
  let m = points.length - 1;
  while (m > 0 && points[m] > value) m--;
  return m;
}

function runningSum(row: Row): number[] {
  let sum = 0;
  return row.map((mass) => {
    sum += mass;
    return sum;
  });
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
