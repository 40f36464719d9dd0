import { describe, expect, it } from "vitest";
import { gram, productsWith, tableOf, weightedSum } from "../../../src/user/core/tables";

/** Widths around a tile's, and rows around a block's; whole numbers, so that sums are exact. */
describe.each([1, 2, 3, 4, 5, 7, 24])("a table of width %i", (width) => {
  const rows = Array.from({ length: 150 }, (_, n) =>
    Array.from({ length: width }, (_, i) => ((n * 31 + i * 17) % 23) - 11),
  );
  const table = tableOf(rows, 1);

  it.each([0, 1, 3, 4, 63, 64, 65, 150])("sums %i rows as one after the other would", (count) => {
    const chosen = Int32Array.from({ length: count }, (_, n) => (n * 7) % 150);
    const weight = Float64Array.from(chosen, (row) => (row % 5) - 1);
    const sum = (of: (row: number[], by: number) => number) =>
      [...chosen].reduce((total, row, n) => total + of(rows[row], weight[n]), 0);
    const each = Array.from({ length: width }, (_, i) => i);
    expect(weightedSum(table, chosen, weight)).toEqual(
      each.map((i) => sum((row, by) => row[i] * by)),
    );
    expect(gram(table, chosen, weight)).toEqual(
      each.map((i) => each.map((j) => sum((row, by) => row[i] * row[j] * by))),
    );
    const vector = [...each.map((i) => i - 3), 99]; // what is beyond the width does not count
    expect([...productsWith(table, chosen, vector)]).toEqual(
      [...chosen].map((row) => rows[row].reduce((total, entry, i) => total + entry * vector[i], 0)),
    );
  });
});
