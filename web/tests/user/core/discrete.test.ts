import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ONE, outputDistribution } from "../../../src/index";
import { discreteMidpoint, outputShares } from "../../../src/user/core/discrete";
import { AGE, disclosure, GENDER, STARS } from "../../support/made_up";

describe("the discrete midpoint", () => {
  const coarse = fc
    .array(fc.array(fc.nat(8), { minLength: 4, maxLength: 4 }), { minLength: 2, maxLength: 4 })
    .map((rows) => rows.map(filled));

  /** Scale to masses that are multiples of 2^10 and sum to 2^16. */
  function filled(row: number[]): number[] {
    const cuts = row.map((cut) => cut * 8).sort((a, b) => a - b);
    const ends = [0, ...cuts, 64];
    return ends.slice(1).map((end, l) => (end - ends[l]) * 1024);
  }

  /** Play all coins of a fine enough grid; count what is answered. */
  function played(levels: number[][], category: number): number[] {
    const K = levels.length;
    const counts = STARS.map(() => 0);
    levels[category].forEach((mass, level) => {
      const steps = mass / 1024;
      for (let i = 0; i < steps; i++) {
        for (let s = 0; s < K; s++) {
          const coins = [(i + 0.5) / steps, (s + 0.5) / K] as const;
          const answer = discreteMidpoint(levels, STARS, level, category, ...coins);
          counts[STARS.indexOf(answer)] += 1024;
        }
      }
    });
    return counts;
  }

  it("has one output distribution for all categories, and it is the one computed", () => {
    fc.assert(
      fc.property(coarse, (levels) => {
        const { masses, whole } = outputDistribution(levels, STARS);
        expect(whole).toBe(ONE * levels.length);
        levels.forEach((_, k) => {
          expect(masses[k]).toEqual(masses[0]);
          expect(played(levels, k)).toEqual(masses[k]);
        });
      }),
      { numRuns: 60 },
    );
  });

  it("differs from sending ratings as they are, whose distributions are not one", () => {
    const levels = [filled([1, 2, 3, 4]), filled([4, 5, 6, 7])];
    const { masses } = outputDistribution(levels, STARS);
    expect(levels[0]).not.toEqual(levels[1]);
    expect(masses[0]).not.toEqual(levels[0].map((mass) => mass * 2));
  });

  it("gives the same shares on a scale whose steps have no small common multiple", () => {
    const points = [0, 65_537, 131_101, 2 ** 31];
    const levels = disclosure({ features: [GENDER, AGE], points }).levels![0];
    const shares = outputShares(levels, points);
    for (const row of shares) {
      expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      row.forEach((share, l) => {
        expect(share).toBeCloseTo(shares[0][l], 12);
      });
    }
  });
});
