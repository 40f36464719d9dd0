import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Adjustment,
  cellsOf,
  Disclosure,
  identity,
  ONE,
  obfuscate,
  SCHEMES,
} from "../../../src/index";
import { AGE, anyMade, anyUniforms, disclosure, STARS } from "../../support/made_up";

/** One that always reveals and shifts every value alike. */
function adjusted(by: number): Adjustment {
  return { reveal: () => ONE, shift: () => by, move: [] };
}

describe("every scheme", () => {
  it("answers with a legal rating where it says so, whatever the coins", () => {
    fc.assert(
      fc.property(anyMade, anyUniforms, fc.nat(), (made, uniforms, draw) => {
        const shown = disclosure(made);
        const points = shown.scale.levels!;
        const [item, cell] = [draw % shown.items.length, draw % cellsOf(shown)];
        const { counterparts, valueMap } = SCHEMES.get(made.scheme)!;
        const adjustment = counterparts
          ? adjusted((draw % (16 * ONE)) - 8 * ONE)
          : identity(shown, cell);
        const rating = points[draw % points.length];
        const { keep, value } = obfuscate(item, rating, cell, shown, uniforms, adjustment);
        if (valueMap === "discrete" || valueMap === "rounded") expect(points).toContain(value);
        expect(Number.isSafeInteger(value)).toBe(true);
        if (!shown.reveal) expect(keep).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("reveals by the disclosed probability, up to the last coin", () => {
    const shown = disclosure({ scheme: "dmpss", features: [AGE] });
    shown.items.forEach((_, item) => {
      shown.reveal![item].forEach((probability, cell) => {
        const adjustment = identity(shown, cell);
        const keep = (coin: number) =>
          obfuscate(item, ONE, cell, shown, [coin, 0.5, 0.5, 0], adjustment).keep;
        expect(keep((probability - 1) / ONE)).toBe(true);
        expect(keep(probability / ONE)).toBe(false);
      });
    });
  });

  it("sends the rating as it is with alpha 0, and refuses what is no probability", () => {
    const shown = disclosure({ scheme: "dmpss" });
    for (const star of STARS) {
      const plain = obfuscate(0, star, 1, shown, [0.999, 0.5, 0.5, 0], identity(shown, 1), 0);
      expect(plain).toEqual({ keep: true, value: star });
    }
    const impossible = () => obfuscate(0, ONE, 0, shown, [0, 0, 0, 0], identity(shown, 0), 1.5);
    expect(impossible).toThrow("probability");
  });

  it("refuses a rating that is no level", () => {
    const [plain, moving] = [disclosure(), disclosure({ scheme: "cmp" })];
    const coins = [0, 0, 0, 0] as const;
    expect(() => obfuscate(0, 1, 0, plain, coins, identity(plain, 0))).toThrow("not a level");
    expect(() => obfuscate(0, 1, 0, moving, coins, adjusted(0))).toThrow("not a level");
    expect(() => obfuscate(0, 1, 0, moving, coins, adjusted(1))).toThrow("cannot be moved");
  });
});

describe("a moved rating", () => {
  it("goes to one of its two neighbouring levels by its own coin, whatever alpha", () => {
    const moving = disclosure({ scheme: "cmp" });
    const alike = [13107, 13107, 13107, 13107, 13108];
    // Both groups have one table, so the discrete midpoint keeps every level.
    const even = Disclosure.make({ ...moving, levels: moving.items.map(() => [alike, alike]) });
    const at = (mix: number, shift: number, alpha = 1) =>
      obfuscate(0, 4 * ONE, 1, even, [0, 0.5, 0.5, mix], adjusted(shift), alpha).value / ONE;
    expect([0, 0.24, 0.25, 0.9].map((mix) => at(mix, -0.75 * ONE))).toEqual([4, 4, 3, 3]);
    expect([0, 0.12, 0.13, 0.49].map((mix) => at(mix, -0.75 * ONE, 0.5))).toEqual([4, 4, 3, 3]);
    expect(at(0.5, -0.75 * ONE, 0.5)).toBe(4); // not chosen: as it is
    expect([at(0.9, 3 * ONE), at(0.9, -3 * ONE), at(0.9, 0)]).toEqual([5, 1, 4]);
  });
});
