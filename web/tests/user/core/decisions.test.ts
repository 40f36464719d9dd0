import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Adjustment,
  adjustmentTo,
  type Counterparts,
  correct,
  counterparts,
  DeviceSecret,
  type Disclosure,
  decide,
  Ledger,
  modelOf,
  ONE,
  type PositionModel,
  PrivateCategory,
  plan,
  Report,
  Round,
  Scores,
  tasteMove,
  valueShift,
} from "../../../src/index";
import { accepted, disclosure, ratings, solicitation } from "../../support/made_up";

const plain = disclosure({ n: 30 });
const checked = accepted(plain);
const shown = disclosure({ scheme: "cmpss", n: 60 });
const passed = accepted(shown);
const woman = new PrivateCategory({ gender: "F" });
const man = new PrivateCategory({ gender: "M" });
const secret = () => new DeviceSecret(new Uint8Array(32).fill(7));

/** The counterparts of somebody who was asked everything. */
function counterpartsOf(
  published: Disclosure,
  rated: ReadonlyMap<string, number>,
  cell: number,
): Counterparts {
  const all = published.items.map((_, index) => index);
  const answered = all.filter((index) => rated.has(published.items[index]));
  const value = answered.map((index) => rated.get(published.items[index])!);
  return counterparts(modelOf(published) as PositionModel, cell, all, answered, value);
}

describe("a decision", () => {
  it("is final under every later question, rating and category", async () => {
    const step = fc.record({ seed: fc.nat(50), open: fc.boolean(), isMan: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
        const ledger = new Ledger(secret());
        const first = new Map<string, number | undefined>();
        for (const [round, { seed, open, isMan }] of steps.entries()) {
          const items = plain.items.filter((_, j) => (j * 7 + seed) % 3 === 0);
          const asked = solicitation(plain, round, items, open);
          const rated = ratings(plain, seed, 0.6);
          const report = await decide(rated, asked, checked, isMan ? man : woman, ledger);
          for (const item of ledger.decided) {
            if (!first.has(item)) first.set(item, ledger.decision(item)?.value);
          }
          for (const [item, value] of report.answers) expect(first.get(item)).toBe(value);
          for (const [item, value] of first) expect(ledger.decision(item)?.value).toBe(value);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("would be another one with the same coins and no ledger", async () => {
    const asked = solicitation(plain);
    const hers = await decide(ratings(plain, 1), asked, checked, woman, new Ledger(secret()));
    const his = await decide(ratings(plain, 2), asked, checked, man, new Ledger(secret()));
    expect(hers.text).not.toBe(his.text);
  });

  it("is not made about a rating that is off the scale", async () => {
    const ledger = new Ledger(secret());
    const rated = new Map([["unknown", 3]]);
    await expect(decide(rated, solicitation(plain), checked, man, ledger)).rejects.toThrow("scale");
  });
});

describe("a round", () => {
  it("keeps how taste factors were moved, and scores lose it again", async () => {
    const ledger = new Ledger(secret());
    const rated = ratings(shown, 3, 0.4);
    expect(ledger.moveUnder(shown.digest)).toEqual([]);
    await decide(rated, solicitation(shown), passed, woman, ledger);
    const move = ledger.moveUnder(shown.digest);
    const by = (entries: readonly (readonly [string, number])[]) => ({
      item: entries.map(([item]) => shown.index.get(item) as number),
      value: entries.map(([, value]) => value),
    });
    const given = [...rated].sort(([a], [b]) => (a < b ? -1 : 1));
    const { answers } = Report.parse(ledger.rounds[0].report);
    expect(move).toEqual(tasteMove(shown, 0, by(given), by(answers)));
    expect(move).not.toEqual(counterpartsOf(shown, rated, 0).move); // she knows what coins changed
    expect(ledger.moveUnder("0".repeat(64))).toEqual([]);
    expect(Ledger.read(ledger.text, secret()).moveUnder(shown.digest)).toEqual(move);
    const scores = Scores.make({
      disclosure: shown.digest,
      items: shown.items,
      score: shown.items.map(() => 3 * ONE),
      deviation: shown.items.map(() => ONE),
    });
    const still = new Map(
      correct(scores, shown, woman, new Set(), []).map(({ item, score }) => [item, score]),
    );
    const moved = correct(scores, shown, woman, new Set(), move);
    for (const { item, score } of moved) {
      expect(score).toBe(still.get(item)! - valueShift(shown, move, shown.index.get(item)!));
    }
    expect(moved.some(({ item, score }) => score !== still.get(item))).toBe(true);
    // @ts-expect-error: how values were moved must be given, also where they were not
    expect(() => correct(scores, shown, woman, new Set())).toThrow();
  });

  it("uses the move of the last round, and of none under a scheme without counterparts", async () => {
    const ledger = new Ledger(secret());
    const first = shown.items.slice(0, 30);
    await decide(ratings(shown, 1), solicitation(shown, 1, first), passed, woman, ledger);
    const before = ledger.moveUnder(shown.digest);
    await decide(ratings(shown, 2), solicitation(shown, 2), passed, woman, ledger);
    expect(ledger.moveUnder(shown.digest)).not.toEqual(before);
    const other = new Ledger(secret());
    await decide(ratings(plain), solicitation(plain), checked, woman, other);
    expect(other.rounds[0].text).not.toContain("move");
    expect(Round.parse(other.rounds[0].text).move).toBeUndefined();
  });

  it("adjusts to her by all rounds together", async () => {
    const rated = ratings(shown, 4, 0.5);
    const gone = new Set([...rated.keys()].slice(0, 12));
    const part = (keep: boolean) => new Map([...rated].filter(([item]) => gone.has(item) === keep));
    const ledger = new Ledger(secret());
    await decide(part(true), solicitation(shown, 1, [...gone]), passed, woman, ledger);
    const { adjustment } = plan(
      part(false),
      solicitation(shown, 2, [], true),
      passed,
      woman,
      ledger,
    );
    const all = shown.items.map((_, index) => index);
    const adjusted = ({ reveal, shift, move }: Adjustment) => [
      all.map(reveal),
      all.map(shift),
      move,
    ];
    const to = (given: ReadonlyMap<string, number>) =>
      adjusted(adjustmentTo(shown, 0, counterpartsOf(shown, given, 0)));
    expect(adjusted(adjustment)).toEqual(to(rated));
    expect(adjusted(adjustment)).not.toEqual(to(part(false)));
  });
});
