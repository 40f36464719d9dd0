import { describe, expect, it } from "vitest";
import {
  adjust,
  cellsOf,
  DeviceSecret,
  Disclosure,
  evidence,
  marginals,
  ONE,
  obfuscate,
  toss,
} from "../../../src/index";
import { AGE, disclosure, GENDER, type Made, ratings } from "../../support/made_up";

const REGION = { name: "region", categories: ["n", "e", "s", "w", "m"] };
const secret = new DeviceSecret(new Uint8Array(32).fill(3));

/** Obfuscate ratings of everything by one category, and weigh what they say. */
function weighed(made: Made, cell: number) {
  const shown = disclosure({ n: 60, ...made });
  const rated = ratings(shown, 5, 1);
  const sent = new Map<string, number>();
  const coins = toss(secret, shown.items);
  const all = shown.items.map((_, index) => index);
  const value = shown.items.map((item) => rated.get(item)!);
  const adjustment = adjust(shown, cell, all, all, value);
  shown.items.forEach((item, j) => {
    const done = obfuscate(j, value[j], cell, shown, coins[j], adjustment);
    if (done.keep) sent.set(item, done.value);
  });
  return { shown, rated, sent, shares: evidence(shown, rated, sent) };
}

describe("evidence", () => {
  it.each([
    ["dmpss", [GENDER]],
    ["dmpss", [AGE]],
    ["dmp", [GENDER, AGE]],
    ["ssia", [AGE]],
    ["ssfa", [GENDER]],
    ["cmp", [AGE]],
  ])("of what %s sends is a blind guess, for %j", (scheme, features) => {
    const { shares, shown, sent } = weighed({ scheme, features }, 1);
    expect(sent.size).toBeGreaterThan(5);
    for (const share of shares.sent) expect(share).toBeCloseTo(1 / cellsOf(shown), 9);
  });

  it.each([
    ["2", [GENDER]],
    ["3", [AGE]],
    ["2 x 3", [GENDER, AGE]],
    ["2 x 5", [GENDER, REGION]],
  ])("of what cmpss sends is a blind guess, for %s categories", (_, features) => {
    const { shares, shown, sent } = weighed({ scheme: "cmpss", features }, 1);
    expect(sent.size).toBeGreaterThan(5);
    for (const share of shares.sent) expect(share * cellsOf(shown)).toBeCloseTo(1, 1);
  });

  it.each([
    ["2", [GENDER]],
    ["2 x 5", [GENDER, REGION]],
  ])(
    "of what cmpss sends is not, if maps of %s categories lead elsewhere than the prior says",
    (_, features) => {
      const honest = disclosure({ scheme: "cmpss", n: 60, features });
      const map = honest.prior!.map.map((stratum) =>
        stratum.map((maps, k) =>
          maps.map((map, m) => map.map((row) => row.map((entry) => (k < m ? 3 * entry : entry)))),
        ),
      );
      const shown = Disclosure.make({ ...honest, prior: { ...honest.prior!, map } });
      const rated = ratings(shown, 5, 1);
      const { sent } = evidence(shown, rated, rated);
      expect(Math.abs(sent[0] * sent.length - 1)).toBeGreaterThan(0.1);
    },
  );

  it.each(["dmpss", "dmp", "mpr", "fa", "ssfa", "cmp", "cmpss"])(
    "of raw ratings under %s is not",
    (scheme) => {
      const { shares } = weighed({ scheme, features: [GENDER] }, 1);
      expect(shares.values).toBe(true);
      expect(Math.abs(shares.raw[0] - 0.5)).toBeGreaterThan(0.2);
    },
  );

  it("finds somebody who shifts whole stars and does not round them", () => {
    for (const cell of [0, 1]) {
      expect(weighed({ scheme: "mp" }, cell).shares.sent[cell]).toBeGreaterThan(0.999999);
    }
  });

  it("is Bayes' rule with equal priors", () => {
    const { shown, rated, shares } = weighed({ n: 3 }, 0);
    const products = [0, 1].map((k) =>
      shown.items.reduce((product, item, j) => {
        const level = shown.scale.levels!.indexOf(rated.get(item)!);
        const often = ONE / shown.reveal![j][k];
        return product * often * Math.max(shown.levels![j][k][level], 0.5);
      }, 1),
    );
    expect(shares.raw[0]).toBeCloseTo(products[0] / (products[0] + products[1]), 12);
  });

  it("is the prior without ratings, and says when values are not disclosed", () => {
    const none = evidence(disclosure({ scheme: "ia" }), new Map(), new Map());
    expect(none).toEqual({ raw: [0.5, 0.5], sent: [0.5, 0.5], values: false });
  });

  it("adds up to each feature's categories, the last varying fastest", () => {
    const shown = disclosure({ features: [GENDER, AGE] });
    const posterior = [0.1, 0.2, 0.3, 0.05, 0.15, 0.2];
    const [gender, age] = marginals(shown, posterior);
    expect(gender.map((share) => share.toFixed(2))).toEqual(["0.60", "0.40"]);
    expect(age.map((share) => share.toFixed(2))).toEqual(["0.15", "0.35", "0.50"]);
  });
});
