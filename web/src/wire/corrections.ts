/** What each category adds to a score: a function of the disclosure alone, the same everywhere. */
import { cellsOf, type Disclosure, schemeOf } from "./disclosure";
import { ONE } from "./fixed";

type Rows = readonly (readonly number[])[];

/**
 * Return what each category adds to a score made from obfuscated ratings. Shape (M, K).
 *
 * That is the disclosed offset where there is one. From level distributions it is
 * mean_k - (mean over categories), and from category averages likewise, rounded half up.
 */
export function correction(disclosure: Disclosure): Rows {
  const { offset, levels, average, scale, items } = disclosure;
  if (offset) return offset;
  if (levels) {
    const points = scale.levels ?? [];
    const mean = (row: readonly number[]) =>
      row.reduce((sum, mass, l) => sum + mass * points[l], 0);
    return levels.map((rows) => deviation(rows.map(mean), ONE));
  }
  if (average && schemeOf(disclosure).valueMap === "feature_average") {
    return average.map((row) => deviation(row, 1));
  }
  const none = new Array<number>(cellsOf(disclosure)).fill(0);
  return items.map(() => none);
}

/**
 * Return (total - their mean) / unit for one item's K totals, rounded half up.
 *
 * floor((2 a + K unit) / (2 K unit)) with a = K total - (sum of the row), in steps that stay below
 * 2^53 for totals below 2^48 and K up to 1024: the quotient and the remainder by `unit` are centred
 * each for itself.
 */
export function deviation(total: readonly number[], unit: number): readonly number[] {
  const K = total.length;
  const quotient = total.map((sum) => Math.floor(sum / unit));
  const centredQuotient = centred(quotient);
  const centredRemainder = centred(total.map((sum, k) => sum - quotient[k] * unit));
  return total.map((_, k) => {
    const whole = Math.floor(centredQuotient[k] / K);
    const rest = centredQuotient[k] - whole * K;
    return (
      whole + Math.floor((2 * (rest * unit + centredRemainder[k]) + K * unit) / (2 * K * unit))
    );
  });
}

/** Return K times the deviation from the mean. */
function centred(part: readonly number[]): number[] {
  const sum = part.reduce((a, b) => a + b, 0);
  return part.map((value) => part.length * value - sum);
}
