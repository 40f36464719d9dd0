import { describe, expect, it } from "vitest";
import {
  checkNumbers,
  counterparts,
  Disclosure,
  GRAIN,
  modelOf,
  type PositionModel,
  type Prior,
  RefusedError,
} from "../../../src/index";
import { expected } from "../../../src/user/agent/expectations";
import { disclosure } from "../../support/made_up";

const plain = disclosure({ scheme: "cmp" }); // twelve items, each as likely rated as not
const chosen = disclosure({ scheme: "cmpss", n: 60 });

function modelWith(shown: Disclosure, least: readonly (readonly number[])[]): PositionModel {
  const model = modelOf(shown) as PositionModel;
  return { ...model, strata: least.map((row, g) => ({ ...model.strata[g % 2], least: row })) };
}

/** Which of two strata somebody is in, who was asked everything and rated the first n. */
function stratumOf(shown: Disclosure, least: readonly number[], cell: number, n: number): number {
  const asked = shown.items.map((_, place) => place);
  const value = asked.slice(0, n).map(() => shown.scale.high);
  const met = (model: PositionModel) => counterparts(model, cell, asked, asked.slice(0, n), value);
  const both = modelWith(shown, [[0, 0], least]);
  const alone = both.strata.map((one) => JSON.stringify(met({ ...both, strata: [one] })));
  expect(alone[0]).not.toBe(alone[1]);
  return alone.indexOf(JSON.stringify(met(both)));
}

describe("her stratum", () => {
  it("is the last whose least activity of her own category she reaches", () => {
    expect(stratumOf(plain, [256, 9999], 0, 6)).toBe(1);
    expect(stratumOf(plain, [257, 0], 0, 6)).toBe(0);
    expect(stratumOf(plain, [9999, 256], 1, 6)).toBe(1);
    expect(stratumOf(plain, [146, 146], 0, 0)).toBe(1);
    expect(stratumOf(plain, [147, 147], 0, 0)).toBe(0);
  });

  it("is found with an activity rounded to 1/256", () => {
    expect([164, 165, 166].map((least) => stratumOf(plain, [least, least], 0, 1))).toEqual([
      1, 1, 0,
    ]);
    expect([238, 239].map((least) => stratumOf(plain, [least, least], 0, 5))).toEqual([1, 0]);
  });

  it("goes by what her category is expected to rate", () => {
    for (const cell of [0, 1]) {
      const odds = chosen.rate!.map((row) => Math.exp(row[cell] / GRAIN));
      const e = odds.reduce((sum, one) => sum + one / (1 + one), 0);
      const activity = Math.round((28 / (e + 8)) * GRAIN);
      expect(stratumOf(chosen, [activity, activity], cell, 20)).toBe(1);
      expect(stratumOf(chosen, [activity + 1, activity + 1], cell, 20)).toBe(0);
    }
  });

  it("is that of usual activity where nothing was asked", () => {
    for (const least of [256, 257]) {
      const model = modelWith(plain, [
        [0, 0],
        [least, least],
      ]);
      const alone = { ...model, strata: [model.strata[257 - least]] };
      expect(counterparts(model, 0, [], [], [])).toEqual(counterparts(alone, 0, [], [], []));
    }
  });
});

describe("what to expect of an item", () => {
  it("is the mean over the strata", () => {
    const model = modelOf(chosen) as PositionModel;
    const each = model.strata.map((one) => expected({ ...model, strata: [one] }, 3));
    const found = expected(model, 3);
    for (const what of ["rated", "revealed"] as const) {
      expect(each[0][what]).not.toEqual(each[1][what]);
      found[what].forEach((one, k) => {
        expect(one).toBeCloseTo((each[0][what][k] + each[1][what][k]) / 2, 12);
      });
    }
  });
});

describe("a prior of strata", () => {
  const prior = chosen.prior!;
  const refusal = (changed: Partial<Prior>) => {
    try {
      checkNumbers(Disclosure.make({ ...chosen, prior: { ...prior, ...changed } }));
    } catch (error) {
      if (error instanceof RefusedError) return `${error.code}: ${error.message}`;
      throw error;
    }
    return "fine";
  };
  const times = (n: number): Partial<Prior> => {
    const first = <T>(rows: readonly T[]) => Array.from({ length: n }, () => rows[0]);
    const { least, mean, precision, map } = prior;
    return { least: first(least), mean: first(mean), precision: first(precision), map: first(map) };
  };

  it.each([
    [[0, 0], [256, 300], "fine"],
    [[0, 0], [0, 2 ** 40], "fine"],
    [[0, 0], [0, 2 ** 40 + 1], "no prior"],
    [[0, 0], [256, -1], "no prior"],
    [[0, 1], [256, 300], "no prior"],
    [[0, -1], [256, 300], "no prior"],
  ])("that begin at %j and %j is %s", (first, second, what) => {
    expect(refusal({ least: [first, second] })).toContain(what);
    if (what !== "fine") expect(refusal({ least: [first, second] })).toMatch(/^bad_positions/);
  });

  it("does not descend later on either", () => {
    const three = { ...times(3), least: [0, 9, 9].map((one) => [one, one]) };
    expect(refusal(three)).toBe("fine");
    expect(refusal({ ...three, least: [0, 9, 8].map((one) => [one, one]) })).toContain("no prior");
  });

  it("is looked at in every stratum", () => {
    const doubled = prior.map[1].map((maps) =>
      maps.map((one) => one.map((row) => row.map((x) => 2 * x))),
    );
    expect(refusal({ map: [prior.map[0], doubled] })).toContain("no prior");
    const flat = prior.precision[1].map((one) => one.map((row) => row.map(() => 0)));
    expect(refusal({ precision: [prior.precision[0], flat] })).toContain("no prior");
    const far = prior.mean[1].map((row) => row.map(() => 2 ** 23));
    expect(refusal({ mean: [prior.mean[0], far] })).toContain("no prior");
  });

  it("has one to four of them", () => {
    expect([1, 2, 4].map((n) => refusal(times(n)))).toEqual(["fine", "fine", "fine"]);
    for (const n of [0, 5]) expect(refusal(times(n))).toMatch(/^wrong_shape.*or too many/);
  });

  it.each<Partial<Prior>>([
    { least: prior.least.slice(1) },
    { least: prior.least.map((row) => row.slice(1)) },
    { mean: [prior.mean[0], prior.mean[1].slice(1)] },
    { precision: prior.precision.slice(1) },
    { precision: [prior.precision[0], prior.precision[1].slice(1)] },
    { map: prior.map.slice(1) },
    { map: [prior.map[0], prior.map[1].slice(1)] },
    { map: [prior.map[0], prior.map[1].map((maps) => maps.slice(1))] },
  ])("has one shape in all of them (%#)", (changed) => {
    expect(refusal(changed)).toMatch(/^wrong_shape.*not the shape of the columns/);
  });
});
