import { describe, expect, it } from "vitest";
import {
  adjust,
  adjustmentTo,
  type Counterparts,
  counterparts,
  type Disclosure,
  GRAIN,
  identity,
  modelOf,
  ONE,
  type PositionModel,
  valueShift,
} from "../../../src/index";
import { bySteps } from "../../../src/user/core/counterparts";
import { AGE, disclosure, ratings } from "../../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });
const even = disclosure({ scheme: "cmp" }); // twelve items, each as likely rated as not

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

describe("counterparts", () => {
  it("of somebody who rated nothing are at the means where only values are moved", () => {
    const moving = disclosure({ scheme: "cmp", features: [AGE] });
    const mean = moving.prior!.mean[0].map((row) => row.map((coordinate) => coordinate / ONE));
    for (const cell of [0, 1, 2]) {
      const { selection, move } = counterpartsOf(moving, new Map(), cell);
      expect(selection).toEqual([[], [], []]);
      move.forEach((by, i) => {
        const middle = mean.reduce((sum, row) => sum + row[i], 0) / 3;
        expect(Math.abs(by / GRAIN - (middle - mean[cell][i]))).toBeLessThan(1.01 / GRAIN);
      });
    }
  });

  it("withhold some of her ratings at times, and move values either way", () => {
    const counterparts = counterpartsOf(shown, ratings(shown, 3, 0.4), 0);
    const { reveal, shift } = adjustmentTo(shown, 0, counterparts);
    const all = shown.items.map((_, index) => index);
    const reveals = all.map(reveal);
    expect(Math.max(...reveals)).toBe(ONE);
    expect(Math.min(...reveals)).toBeLessThan(ONE / 2);
    expect(Math.min(...reveals)).toBeGreaterThanOrEqual(ONE / 64);
    const shifts = all.map(shift);
    expect(Math.max(...shifts)).toBeGreaterThan(0);
    expect(Math.min(...shifts)).toBeLessThan(0);
  });

  it("move a value by at most 3/8 of the scale", () => {
    const far = shown.items.map((_, index) => valueShift(shown, [2 ** 20, 2 ** 20], index));
    expect(new Set(far.map(Math.abs))).toEqual(new Set([1.5 * ONE]));
  });
});

describe("step by step", () => {
  const model = modelOf(shown) as PositionModel;
  const all = shown.items.map((_, index) => index);
  const given = (n: number) => {
    const rated = all.slice(0, n);
    return { model, cell: 0, asked: all, rated, value: rated.map(() => shown.scale.high) };
  };
  /** The same, by a model that has not worked out anything. */
  const afresh = (n: number) => counterparts({ ...model }, 0, all, given(n).rated, given(n).value);

  it("they are the same, with a pause before each of eight steps", () => {
    const work = bySteps(given(20));
    for (let step = 0; step < 8; step++) expect(work.next().done).toBe(false);
    expect(work.next()).toEqual({ done: true, value: afresh(20) });
  });

  it("what was left half done, or was done for other ratings, changes nothing", () => {
    expect(afresh(20)).not.toEqual(afresh(21));
    const { asked, rated, value } = given(21);
    for (const _ of bySteps(given(20)));
    bySteps(given(22)).next();
    expect(counterparts(model, 0, asked, rated, value)).toEqual(afresh(21));
    const lower = value.map((rating) => rating - 2 * ONE);
    const other = counterparts(model, 0, asked, rated, lower);
    expect(other).toEqual(counterparts({ ...model }, 0, asked, rated, lower));
    expect(other).not.toEqual(afresh(21));
    expect(counterparts(model, 1, asked, rated, value)).not.toEqual(afresh(21));
  });
});

describe("an adjustment", () => {
  it("is the identity under schemes without counterparts, and there only", () => {
    for (const scheme of ["no", "dmp", "dmpss", "mpss", "ssia"]) {
      const plain = disclosure({ scheme });
      const { reveal, shift, move } = adjust(plain, 1, [0, 1], [0], [3 * ONE]);
      plain.items.forEach((_, index) => {
        expect([reveal(index), shift(index)]).toEqual([plain.reveal?.[index][1] ?? ONE, 0]);
      });
      expect(move).toEqual([]);
      expect(() => adjustmentTo(plain, 0, { selection: [], move: [] })).toThrow("no counterparts");
      expect(() => valueShift(plain, [1], 0)).toThrow("moves no values");
      expect(valueShift(plain, [], 0)).toBe(0);
    }
    expect(() => identity(shown, 0)).toThrow("adjusts to each person");
  });

  it("is that to the counterparts of what she was asked and rated", () => {
    const rated = ratings(shown, 3, 0.4);
    const all = shown.items.map((_, index) => index);
    const answered = all.filter((index) => rated.has(shown.items[index]));
    const value = answered.map((index) => rated.get(shown.items[index])!);
    const adjusted = adjust(shown, 1, all, answered, value);
    const expected = adjustmentTo(shown, 1, counterpartsOf(shown, rated, 1));
    expect(all.map(adjusted.reveal)).toEqual(all.map(expected.reveal));
    expect(all.map(adjusted.shift)).toEqual(all.map(expected.shift));
    expect(adjusted.move).toEqual(expected.move);
  });
});

function modelWith(shown: Disclosure, least: readonly (readonly number[])[]): PositionModel {
  const model = modelOf(shown) as PositionModel;
  return { ...model, strata: least.map((row, g) => ({ ...model.strata[g % 2], least: row })) };
}

/** Which of two strata somebody is in, who was asked everything and rated the first n. */
function stratumOf(shown: Disclosure, least: readonly number[], cell: number, n: number): number {
  const asked = shown.items.map((_, index) => index);
  const value = asked.slice(0, n).map(() => shown.scale.high);
  const counterpartsBy = (model: PositionModel) =>
    counterparts(model, cell, asked, asked.slice(0, n), value);
  const both = modelWith(shown, [[0, 0], least]);
  const alone = both.strata.map((stratum) =>
    JSON.stringify(counterpartsBy({ ...both, strata: [stratum] })),
  );
  expect(alone[0]).not.toBe(alone[1]);
  return alone.indexOf(JSON.stringify(counterpartsBy(both)));
}

describe("her stratum", () => {
  it("is the last whose least activity of her own category she reaches", () => {
    expect(stratumOf(even, [256, 512], 0, 6)).toBe(1);
    expect(stratumOf(even, [257, 129], 0, 6)).toBe(0);
    expect(stratumOf(even, [512, 256], 1, 6)).toBe(1);
    expect(stratumOf(even, [146, 146], 0, 0)).toBe(1);
    expect(stratumOf(even, [147, 147], 0, 0)).toBe(0);
  });

  it("begins in no category at more than twice the items of another", () => {
    expect(stratumOf(even, [9999, 128], 0, 6)).toBe(1);
    expect(stratumOf(even, [9999, 129], 0, 6)).toBe(0);
  });

  it("is found with an activity rounded to 1/256", () => {
    expect([164, 165, 166].map((least) => stratumOf(even, [least, least], 0, 1))).toEqual([
      1, 1, 0,
    ]);
    expect([238, 239].map((least) => stratumOf(even, [least, least], 0, 5))).toEqual([1, 0]);
  });

  it("goes by what her category is expected to rate", () => {
    for (const cell of [0, 1]) {
      const odds = shown.rate!.map((row) => Math.exp(row[cell] / GRAIN));
      const e = odds.reduce((sum, ratio) => sum + ratio / (1 + ratio), 0);
      const activity = Math.round((28 / (e + 8)) * GRAIN);
      expect(stratumOf(shown, [activity, activity], cell, 20)).toBe(1);
      expect(stratumOf(shown, [activity + 1, activity + 1], cell, 20)).toBe(0);
    }
  });

  it("is that of usual activity where nothing was asked", () => {
    for (const least of [256, 257]) {
      const model = modelWith(even, [
        [0, 0],
        [least, least],
      ]);
      const alone = { ...model, strata: [model.strata[257 - least]] };
      expect(counterparts(model, 0, [], [], [])).toEqual(counterparts(alone, 0, [], [], []));
    }
  });
});
