import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf, ONE, obfuscate, outputDistribution, SCHEMES } from "../../../src/index";
import { discreteMidpoint, outputShares } from "../../../src/user/core/discrete";
import { AGE, anyMade, anyUniforms, disclosure, GENDER, STARS } from "../../support/made_up";

describe("every scheme", () => {
  it("answers with a legal rating where it says so, whatever the coins", () => {
    fc.assert(
      fc.property(anyMade, anyUniforms, fc.nat(), (made, uniforms, draw) => {
        const shown = disclosure(made);
        const points = shown.scale.levels!;
        const [place, cell] = [draw % shown.items.length, draw % cellsOf(shown)];
        const own = SCHEMES.get(made.scheme)!.counterparts
          ? { reveal: ONE, shift: (draw % (16 * ONE)) - 8 * ONE }
          : undefined;
        const rating = points[draw % points.length];
        const told = obfuscate(place, rating, cell, shown, uniforms, 1, own);
        const map = SCHEMES.get(made.scheme)!.valueMap;
        if (map === "discrete" || map === "rounded") expect(points).toContain(told.value);
        expect(Number.isSafeInteger(told.value)).toBe(true);
        if (!shown.reveal) expect(told.keep).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("reveals by the disclosed probability, up to the last coin", () => {
    const shown = disclosure({ scheme: "dmpss", features: [AGE] });
    shown.items.forEach((_, place) => {
      shown.reveal![place].forEach((probability, cell) => {
        const keep = (coin: number) => obfuscate(place, ONE, cell, shown, [coin, 0.5, 0.5, 0]).keep;
        expect(keep((probability - 1) / ONE)).toBe(true);
        expect(keep(probability / ONE)).toBe(false);
      });
    });
  });

  it("sends the rating as it is with alpha 0, and refuses what is no probability", () => {
    const shown = disclosure({ scheme: "dmpss" });
    for (const star of STARS) {
      const told = obfuscate(0, star, 1, shown, [0.999, 0.5, 0.5, 0], 0);
      expect(told).toEqual({ keep: true, value: star });
    }
    expect(() => obfuscate(0, ONE, 0, shown, [0, 0, 0, 0], 1.5)).toThrow("probability");
  });

  it("refuses a rating that is no level", () => {
    expect(() => obfuscate(0, 1, 0, disclosure(), [0, 0, 0, 0])).toThrow("not a level");
  });
});

describe("the discrete midpoint", () => {
  const coarse = fc
    .array(fc.array(fc.nat(8), { minLength: 4, maxLength: 4 }), { minLength: 2, maxLength: 4 })
    .map((rows) => rows.map(filled));

  /** Scale to masses that are multiples of 2^10 and sum to 2^16. */
  function filled(row: number[]): number[] {
    const cuts = row.map((one) => one * 8).sort((a, b) => a - b);
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
