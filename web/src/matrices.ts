/** Small linear systems, by hand: what numpy is to the Python tree. */

type Matrix = readonly (readonly number[])[];

/** Return the vector y with A y = b, by elimination with row pivots. Shapes (D, D), (D,). */
export function solve(A: Matrix, b: readonly number[]): number[] {
  const D = b.length;
  const rows = A.map((row, i) => [...row, b[i]]);
  for (let at = 0; at < D; at++) {
    let best = at;
    for (let i = at + 1; i < D; i++) {
      if (Math.abs(rows[i][at]) > Math.abs(rows[best][at])) best = i;
    }
    [rows[at], rows[best]] = [rows[best], rows[at]];
    for (let i = at + 1; i < D; i++) {
      const share = rows[i][at] / rows[at][at];
      for (let j = at; j <= D; j++) rows[i][j] -= share * rows[at][j];
    }
  }
  const y = new Array<number>(D).fill(0);
  for (let i = D - 1; i >= 0; i--) {
    let rest = rows[i][D];
    for (let j = i + 1; j < D; j++) rest -= rows[i][j] * y[j];
    y[i] = rest / rows[i][i];
  }
  return y;
}

/** Return whether a symmetric A - least I is positive definite. */
export function isDefinite(A: Matrix, least: number): boolean {
  const lessened = A.map((row, i) => row.map((entry, j) => (i === j ? entry - least : entry)));
  return lower(lessened).every((row) => row[row.length - 1] > 0);
}

/**
 * Return the rows of the lower triangle L with L L' = A, symmetric (Cholesky).
 *
 * Where A is not positive definite, a pivot and what is below it are taken to be 0.
 */
export function lower(A: Matrix): number[][] {
  const L: number[][] = [];
  A.forEach((row, i) => {
    L.push([]);
    for (let j = 0; j <= i; j++) {
      let rest = row[j];
      for (let k = 0; k < j; k++) rest -= L[i][k] * L[j][k];
      const pivot = i === j ? Math.sqrt(Math.max(rest, 0)) : L[j][j];
      L[i].push(i === j ? pivot : pivot > 0 ? rest / pivot : 0);
    }
  });
  return L;
}

/** Return A b. Shapes (m, n), (n,). */
export function times(A: Matrix, b: readonly number[]): number[] {
  return A.map((row) => dot(row, b));
}

/** Return <a, b>. */
export function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
