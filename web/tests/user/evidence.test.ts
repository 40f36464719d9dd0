import { describe, expect, it } from "vitest";
import { cellsOf, DeviceSecret, evidence, marginals, ONE, obfuscate, toss } from "../../src/index";
import { AGE, disclosure, GENDER, type Made, ratings } from "../made_up";

const secret = new DeviceSecret(new Uint8Array(32).fill(3));

/** Obfuscate many ratings of one category, and weigh what they say. */
function weighed(made: Made, cell: number) {
  const shown = disclosure({ n: 60, ...made });
  const rated = ratings(shown, 5, 1);
  const sent = new Map<string, number>();
  const coins = toss(secret, shown.items);
  shown.items.forEach((item, place) => {
    const told = obfuscate(place, rated.get(item)!, cell, shown, coins[place]);
    if (told.keep) sent.set(item, told.value);
  });
  return { shown, rated, sent, found: evidence(shown, rated, sent) };
}

describe("evidence", () => {
  it.each([
    ["dmpss", [GENDER]],
    ["dmpss", [AGE]],
    ["dmp", [GENDER, AGE]],
    ["ssia", [AGE]],
    ["ssfa", [GENDER]],
  ])("of what %s sends is a blind guess, for %j", (scheme, features) => {
    const { found, shown, sent } = weighed({ scheme, features }, 1);
    expect(sent.size).toBeGreaterThan(5);
    for (const share of found.sent) expect(share).toBeCloseTo(1 / cellsOf(shown), 9);
  });

  it.each(["dmpss", "dmp", "mpr", "fa", "ssfa"])("of raw ratings under %s is not", (scheme) => {
    const { found } = weighed({ scheme, features: [GENDER] }, 1);
    expect(found.values).toBe(true);
    expect(Math.abs(found.raw[0] - 0.5)).toBeGreaterThan(0.2);
  });

  it("finds whoever shifts whole stars and does not round them", () => {
    for (const cell of [0, 1]) {
      expect(weighed({ scheme: "mp" }, cell).found.sent[cell]).toBeGreaterThan(0.999999);
    }
  });

  it("is Bayes' rule with equal priors", () => {
    const { shown, rated, found } = weighed({ n: 3 }, 0);
    const products = [0, 1].map((k) =>
      shown.items.reduce((product, item, j) => {
        const level = shown.scale.levels!.indexOf(rated.get(item)!);
        const often = ONE / shown.reveal![j][k];
        return product * often * Math.max(shown.levels![j][k][level], 0.5);
      }, 1),
    );
    expect(found.raw[0]).toBeCloseTo(products[0] / (products[0] + products[1]), 12);
  });

  it("is the prior without ratings, and says when values are not disclosed", () => {
    const none = evidence(disclosure({ scheme: "ia" }), new Map(), new Map());
    expect(none).toEqual({ raw: [0.5, 0.5], sent: [0.5, 0.5], values: false });
  });

  it("adds up to each feature's categories, the last varying fastest", () => {
    const shown = disclosure({ features: [GENDER, AGE] });
    const posterior = [0.1, 0.2, 0.3, 0.05, 0.15, 0.2];
    const [gender, age] = marginals(shown, posterior);
    expect(gender.map((one) => one.toFixed(2))).toEqual(["0.60", "0.40"]);
    expect(age.map((one) => one.toFixed(2))).toEqual(["0.15", "0.35", "0.50"]);
  });
});
