import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lower, solve, times } from "../src/matrices";

describe("a small system", () => {
  const square = fc.array(
    fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 }),
    {
      minLength: 4,
      maxLength: 4,
    },
  );
  const gram = (A: number[][]) =>
    A.map((row, i) =>
      A.map((other, j) => row.reduce((sum, x, k) => sum + x * other[k], 0) + Number(i === j)),
    );

  it("is solved, also where its first pivot is 0, and has its triangle", () => {
    expect(
      solve(
        [
          [0, 2],
          [1, 0],
        ],
        [4, 3],
      ),
    ).toEqual([3, 2]);
    fc.assert(
      fc.property(square, (A) => {
        const P = gram(A);
        const b = [1, -2, 3, 0];
        times(P, solve(P, b)).forEach((x, i) => {
          expect(x).toBeCloseTo(b[i], 6);
        });
        const L = lower(P);
        P.forEach((row, i) => {
          row.slice(0, i + 1).forEach((entry, j) => {
            const product = L[j].reduce((sum, x, k) => sum + x * L[i][k], 0);
            expect(product).toBeCloseTo(entry, 6);
          });
        });
      }),
    );
  });
});
