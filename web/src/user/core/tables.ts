/** Sums over many rows of numbers, in doubles: what takes a device's time, so it is written for speed. */

/** Rows of equal length, one after the other. */
export interface Table {
  readonly width: number;
  readonly entries: Float64Array;
}

/** Rows that are looked at together: few enough for a processor's nearest memory. */
const BLOCK = 64;

/** Return rows of numbers as a table, in units of 1 / `scale`. */
export function tableOf(rows: readonly (readonly number[])[], scale: number): Table {
  const width = rows[0].length;
  const entries = new Float64Array(rows.length * width);
  rows.forEach((row, n) => {
    for (let i = 0; i < width; i++) entries[n * width + i] = row[i] / scale;
  });
  return { width, entries };
}

/** Return the product of each of these rows with a vector, of which the first entries are used. */
export function productsWith(
  { width, entries }: Table,
  rows: Int32Array,
  vector: readonly number[],
): Float64Array {
  const by = Float64Array.from({ length: width }, (_, i) => vector[i]);
  const products = new Float64Array(rows.length);
  for (let n = 0; n < rows.length; n++) {
    const start = rows[n] * width;
    let sum = 0;
    for (let i = 0; i < width; i++) sum += entries[start + i] * by[i];
    products[n] = sum;
  }
  return products;
}

/** Return the sum of these rows, each times its weight. Shape (width,). */
export function weightedSum(
  { width, entries }: Table,
  rows: Int32Array,
  weight: Float64Array,
): number[] {
  const sums = new Float64Array(width);
  const whole = rows.length - (rows.length & 3);
  for (let n = 0; n < whole; n += 4) {
    const a = rows[n] * width;
    const b = rows[n + 1] * width;
    const c = rows[n + 2] * width;
    const d = rows[n + 3] * width;
    for (let i = 0; i < width; i++) {
      const first = entries[a + i] * weight[n] + entries[b + i] * weight[n + 1];
      sums[i] += first + (entries[c + i] * weight[n + 2] + entries[d + i] * weight[n + 3]);
    }
  }
  for (let n = whole; n < rows.length; n++) {
    for (let i = 0; i < width; i++) sums[i] += entries[rows[n] * width + i] * weight[n];
  }
  return [...sums];
}

/** Return the sum over these rows of weight row row'. Shape (width, width). */
export function gram(
  { width, entries }: Table,
  rows: Int32Array,
  weight: Float64Array,
): number[][] {
  const padded = width + (-width & 3); // tiles are two by four: what is beyond the width stays 0
  const plain = new Float64Array(padded * BLOCK);
  const weighted = new Float64Array(padded * BLOCK);
  const sums = new Float64Array(padded * padded);
  for (let start = 0; start < rows.length; start += BLOCK) {
    const length = Math.min(BLOCK, rows.length - start);
    for (let n = 0; n < length; n++) {
      const row = rows[start + n] * width;
      const by = weight[start + n];
      for (let i = 0; i < width; i++) {
        const entry = entries[row + i];
        plain[i * BLOCK + n] = entry;
        weighted[i * BLOCK + n] = entry * by;
      }
    }
    for (let i = 0; i < padded; i += 2) {
      for (let j = 0; j <= i; j += 4) addTile(sums, padded, plain, weighted, length, i, j);
    }
  }
  return Array.from({ length: width }, (_, i) =>
    Array.from({ length: width }, (_, j) => sums[Math.max(i, j) * padded + Math.min(i, j)]),
  );
}

/** Add the products of two columns with four others: eight sums at a time, none waits for itself. */
function addTile(
  sums: Float64Array,
  padded: number,
  plain: Float64Array,
  weighted: Float64Array,
  length: number,
  i: number,
  j: number,
): void {
  const [a, b] = [i * BLOCK, (i + 1) * BLOCK];
  const [c, d, e, f] = [j * BLOCK, (j + 1) * BLOCK, (j + 2) * BLOCK, (j + 3) * BLOCK];
  let [ac, ad, ae, af] = [0, 0, 0, 0];
  let [bc, bd, be, bf] = [0, 0, 0, 0];
  for (let n = 0; n < length; n++) {
    const x = weighted[a + n];
    const y = weighted[b + n];
    const p = plain[c + n];
    const q = plain[d + n];
    const r = plain[e + n];
    const s = plain[f + n];
    ac += x * p;
    ad += x * q;
    ae += x * r;
    af += x * s;
    bc += y * p;
    bd += y * q;
    be += y * r;
    bf += y * s;
  }
  const [first, second] = [i * padded + j, (i + 1) * padded + j];
  sums[first] += ac;
  sums[first + 1] += ad;
  sums[first + 2] += ae;
  sums[first + 3] += af;
  sums[second] += bc;
  sums[second + 1] += bd;
  sums[second + 2] += be;
  sums[second + 3] += bf;
}
