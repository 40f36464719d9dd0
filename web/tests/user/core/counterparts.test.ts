import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  correct,
  counterparts,
  DeviceSecret,
  Disclosure,
  decide,
  GRAIN,
  Ledger,
  modelOf,
  ONE,
  obfuscate,
  ownOf,
  type PositionModel,
  PrivateCategory,
  plan,
  preview,
  Round,
  Scores,
  valueShift,
} from "../../../src/index";
import { Reasons } from "../../../src/page/reasons";
import { texts } from "../../../src/page/texts";
import { Titles } from "../../../src/page/titles";
import { lower, solve, times } from "../../../src/user/core/matrices";
import { AGE, accepted, disclosure, ratings, solicitation } from "../../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });
const passed = accepted(shown);
const woman = new PrivateCategory({ gender: "F" });
const secret = () => new DeviceSecret(new Uint8Array(32).fill(7));

/** The counterparts of somebody who was asked everything. */
function metBy(told: Disclosure, rated: ReadonlyMap<string, number>, cell: number) {
  const all = told.items.map((_, place) => place);
  const answered = all.filter((place) => rated.has(told.items[place]));
  const value = answered.map((place) => rated.get(told.items[place])!);
  return counterparts(modelOf(told) as PositionModel, cell, all, answered, value);
}

describe("a model", () => {
  it("is of one disclosure, also where two have one prior", () => {
    const { prior, taste } = shown;
    const halved = taste!.map((row) => row.map((one) => Math.trunc(one / 2)));
    const other: Disclosure = { ...shown, prior, taste: halved };
    expect(modelOf(shown)!.taste).toEqual(taste);
    expect(modelOf(other)!.taste).toEqual(halved);
    expect(modelOf(shown)).toBe(modelOf(shown));
  });
});

describe("counterparts", () => {
  it("of whoever rated nothing lie at the means where only values are moved", () => {
    const told = disclosure({ scheme: "cmp", features: [AGE] });
    const mean = told.prior!.mean[0].map((row) => row.map((one) => one / ONE));
    for (const cell of [0, 1, 2]) {
      const { selection, move } = metBy(told, new Map(), cell);
      expect(selection).toEqual([[], [], []]);
      move.forEach((one, i) => {
        const middle = mean.reduce((sum, row) => sum + row[i], 0) / 3;
        expect(Math.abs(one / GRAIN - (middle - mean[cell][i]))).toBeLessThan(1.01 / GRAIN);
      });
    }
  });

  it("withhold some of her ratings at times, and move values either way", () => {
    const rated = ratings(shown, 3, 0.4);
    const found = metBy(shown, rated, 0);
    const own = shown.items.map((_, place) => ownOf(shown, 0, place, found));
    expect(Math.max(...own.map(({ reveal }) => reveal))).toBe(ONE);
    expect(Math.min(...own.map(({ reveal }) => reveal))).toBeLessThan(ONE / 2);
    expect(own.some(({ shift }) => shift > 0) && own.some(({ shift }) => shift < 0)).toBe(true);
    for (const { reveal } of own) expect(reveal).toBeGreaterThanOrEqual(ONE / 64);
  });

  it("are needed by their schemes, and by no other", () => {
    const uniform = [0.5, 0.5, 0.5, 0.5] as const;
    const own = { reveal: ONE, shift: 0 };
    const plain = disclosure({ scheme: "dmpss" });
    expect(() => obfuscate(0, ONE, 0, shown, uniform)).toThrow("counterparts");
    expect(() => obfuscate(0, ONE, 0, plain, uniform, 1, own)).toThrow("counterparts");
    expect(() => obfuscate(0, 1, 0, shown, uniform, 1, own)).toThrow("cannot be moved");
    expect(() => ownOf(plain, 0, 0, { selection: [], move: [] })).toThrow("no counterparts");
    expect(() => valueShift(plain, [], 0)).toThrow("moves no values");
  });
});

describe("a moved rating", () => {
  it("goes to one of its two neighbouring levels by its own coin, whatever alpha", () => {
    const told = disclosure({ scheme: "cmp" });
    const alike = [13107, 13107, 13107, 13107, 13108];
    // Both groups have one table, so the discrete midpoint keeps every level.
    const even = Disclosure.make({ ...told, levels: told.items.map(() => [alike, alike]) });
    const at = (mix: number, shift: number, alpha = 1) => {
      const own = { reveal: ONE, shift };
      return obfuscate(0, 4 * ONE, 1, even, [0, 0.5, 0.5, mix], alpha, own).value / ONE;
    };
    expect([0, 0.24, 0.25, 0.9].map((mix) => at(mix, -0.75 * ONE))).toEqual([4, 4, 3, 3]);
    expect([0, 0.12, 0.13, 0.49].map((mix) => at(mix, -0.75 * ONE, 0.5))).toEqual([4, 4, 3, 3]);
    expect(at(0.5, -0.75 * ONE, 0.5)).toBe(4); // not chosen: as it is
    expect([at(0.9, 3 * ONE), at(0.9, -3 * ONE), at(0.9, 0)]).toEqual([5, 1, 4]);
  });

  it("moves by at most 3/8 of the scale", () => {
    const far = shown.items.map((_, place) => valueShift(shown, [2 ** 20, 2 ** 20], place));
    expect(new Set(far.map(Math.abs))).toEqual(new Set([1.5 * ONE]));
  });
});

describe("a round", () => {
  it("keeps how tastes were moved, and scores lose it again", async () => {
    const ledger = new Ledger(secret());
    const rated = ratings(shown, 3, 0.4);
    expect(ledger.moveUnder(shown.digest)).toEqual([]);
    await decide(rated, solicitation(shown), passed, woman, ledger);
    const { move } = metBy(shown, rated, 0);
    expect(ledger.moveUnder(shown.digest)).toEqual(move);
    expect(ledger.moveUnder("0".repeat(64))).toEqual([]);
    expect(Ledger.read(ledger.text, secret()).moveUnder(shown.digest)).toEqual(move);
    const scores = Scores.make({
      disclosure: shown.digest,
      items: shown.items,
      score: shown.items.map(() => 3 * ONE),
      deviation: shown.items.map(() => ONE),
    });
    const plain = new Map(
      correct(scores, shown, woman, new Set(), []).map((one) => [one.item, one.score]),
    );
    const moved = correct(scores, shown, woman, new Set(), move);
    for (const { item, score } of moved) {
      const place = shown.items.indexOf(item);
      expect(score).toBe(plain.get(item)! - valueShift(shown, move, place));
    }
    expect(moved.some(({ item, score }) => score !== plain.get(item))).toBe(true);
    expect(() => correct(scores, shown, woman, new Set())).toThrow(
      "give ledger.moveUnder(disclosure.digest)",
    );
    const still = disclosure(); // the control: nothing is moved, and nothing need be given
    const theirs = Scores.make({
      ...scores,
      disclosure: still.digest,
      items: still.items.slice(0, 1),
      score: [ONE],
      deviation: [0],
    });
    expect(correct(theirs, still, woman, new Set())).toHaveLength(1);
  });

  it("uses the move of the last round, and of none under a scheme without counterparts", async () => {
    const ledger = new Ledger(secret());
    const first = shown.items.slice(0, 30);
    await decide(ratings(shown, 1), solicitation(shown, 1, first), passed, woman, ledger);
    const before = ledger.moveUnder(shown.digest);
    await decide(ratings(shown, 2), solicitation(shown, 2), passed, woman, ledger);
    expect(ledger.moveUnder(shown.digest)).not.toEqual(before);
    const plain = disclosure();
    const other = new Ledger(secret());
    await decide(ratings(plain), solicitation(plain), accepted(plain), woman, other);
    expect(other.rounds[0].text).not.toContain("move");
    expect(Round.parse(other.rounds[0].text).move).toBeUndefined();
  });

  it("places her by all rounds together", async () => {
    const rated = ratings(shown, 4, 0.5);
    const gone = new Set([...rated.keys()].slice(0, 12));
    const part = (keep: boolean) => new Map([...rated].filter(([item]) => gone.has(item) === keep));
    const ledger = new Ledger(secret());
    await decide(part(true), solicitation(shown, 1, [...gone]), passed, woman, ledger);
    const asked = solicitation(shown, 2, [], true);
    const { met } = plan(part(false), asked, passed, woman, ledger);
    const place = (item: string) => shown.items.indexOf(item);
    const found = (given: ReadonlyMap<string, number>) => {
      const answered = shown.items.filter((item) => given.has(item));
      const value = answered.map((item) => given.get(item)!);
      const about = shown.items.map(place);
      return counterparts(modelOf(shown) as PositionModel, 0, about, answered.map(place), value);
    };
    expect(met).toEqual(found(rated));
    expect(met).not.toEqual(found(part(false)));
  });

  it("is previewed with the reasons that its decisions have", () => {
    const ledger = new Ledger(secret());
    const rated = ratings(shown, 3, 0.4);
    const { lines, report } = preview(rated, solicitation(shown), passed, woman, ledger);
    const met = metBy(shown, rated, 0);
    for (const { item, own } of lines) {
      expect(own).toEqual(ownOf(shown, 0, shown.items.indexOf(item), met));
    }
    const titles = new Titles(
      shown.items,
      shown.items,
      shown.items.map(() => 0),
    );
    const why = new Reasons(shown).lines(lines, 0, titles);
    const withheld = why.filter(({ told }) => told === null);
    expect(withheld.length).toBe(rated.size - report.answers.length);
    expect(withheld.length).toBeGreaterThan(0);
    for (const line of withheld) expect(line.why).toContain("their like in other groups");
    const words = texts.leaves.why;
    const towards = why.filter(({ why }) => why.startsWith("The middle between you"));
    expect(towards.length).toBeGreaterThan(0);
    for (const { why, yours, told } of towards) {
      expect(why.includes("higher")).toBe((told ?? 0) > yours);
    }
    expect(why.map((one) => one.why)).not.toContain(words.notAsked);
  });
});

describe("a small system", () => {
  const square = fc.array(
    fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 }),
    {
      minLength: 4,
      maxLength: 4,
    },
  );
  const gram = (A: number[][]) =>
    A.map((one, i) =>
      A.map((other, j) => one.reduce((sum, x, k) => sum + x * other[k], 0) + Number(i === j)),
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
        times(P, solve(P, b)).forEach((one, i) => {
          expect(one).toBeCloseTo(b[i], 6);
        });
        const L = lower(P);
        P.forEach((row, i) => {
          row.slice(0, i + 1).forEach((one, j) => {
            const product = L[j].reduce((sum, x, k) => sum + x * L[i][k], 0);
            expect(product).toBeCloseTo(one, 6);
          });
        });
      }),
    );
  });
});
