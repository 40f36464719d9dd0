import { describe, expect, it } from "vitest";
import { checkNumbers, Disclosure, type Prior, RefusedError } from "../../src/index";
import { GRAIN } from "../../src/wire/fixed";
import { disclosure } from "../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });

describe("a prior of strata", () => {
  const prior = shown.prior!;
  const refusal = (changed: Partial<Prior>) => {
    try {
      checkNumbers(Disclosure.make({ ...shown, prior: { ...prior, ...changed } }));
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
    [[0, 0], [2 ** 39, 2 ** 40], "fine"],
    [[0, 0], [0, 2 ** 40 + 1], "not valid"],
    [[0, 0], [256, -1], "not valid"],
    [[0, 1], [256, 300], "not valid"],
    [[0, -1], [256, 300], "not valid"],
  ])("that begin at %j and %j is %s", (first, second, what) => {
    expect(refusal({ least: [first, second] })).toContain(what);
    if (what !== "fine") expect(refusal({ least: [first, second] })).toMatch(/^bad_positions/);
  });

  it("is not parted by rates that lie", () => {
    const false_ = shown.items.map(() => [3 * GRAIN, -3 * GRAIN]);
    const under = (rate: readonly (readonly number[])[], least: readonly number[]) => () =>
      checkNumbers(
        Disclosure.make({ ...shown, rate, prior: { ...prior, least: [[0, 0], least] } }),
      );
    expect(under(shown.rate!, [256, 256])).not.toThrow();
    expect(under(false_, [256, 256])).toThrow("too far apart");
    expect(under(false_, [256, 1000])).toThrow("too far apart"); // equal numbers, unequal activities
  });

  it("is looked at in every stratum", () => {
    const doubled = prior.map[1].map((maps) =>
      maps.map((map) => map.map((row) => row.map((x) => 2 * x))),
    );
    expect(refusal({ map: [prior.map[0], doubled] })).toContain("not valid");
    const flat = prior.precision[1].map((rows) => rows.map((row) => row.map(() => 0)));
    expect(refusal({ precision: [prior.precision[0], flat] })).toContain("not valid");
    const far = prior.mean[1].map((row) => row.map(() => 2 ** 23));
    expect(refusal({ mean: [prior.mean[0], far] })).toContain("not valid");
  });

  it("has one or two of them", () => {
    expect([1, 2].map((n) => refusal(times(n)))).toEqual(["fine", "fine"]);
    for (const n of [0, 3]) expect(refusal(times(n))).toMatch(/^wrong_shape.*or too many/);
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
