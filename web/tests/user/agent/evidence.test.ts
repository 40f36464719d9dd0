import { describe, expect, it } from "vitest";
import {
  cellsOf,
  counterparts,
  DeviceSecret,
  Disclosure,
  evidence,
  marginals,
  modelOf,
  ONE,
  obfuscate,
  ownOf,
  toss,
} from "../../../src/index";
import { AGE, disclosure, GENDER, type Made, ratings } from "../../support/made_up";

const REGION = { name: "region", categories: ["n", "e", "s", "w", "m"] };
const secret = new DeviceSecret(new Uint8Array(32).fill(3));

/** Find the counterparts of somebody who rated everything; nothing without counterparts. */
function metBy(shown: Disclosure, rated: Map<string, number>, cell: number) {
  const model = modelOf(shown);
  const all = shown.items.map((_, place) => place);
  const value = shown.items.map((item) => rated.get(item)!);
  return model && counterparts(model, cell, all, all, value);
}

/** Obfuscate many ratings of one category, and weigh what they say. */
function weighed(made: Made, cell: number) {
  const shown = disclosure({ n: 60, ...made });
  const rated = ratings(shown, 5, 1);
  const sent = new Map<string, number>();
  const coins = toss(secret, shown.items);
  const met = metBy(shown, rated, cell);
  shown.items.forEach((item, place) => {
    const own = met && ownOf(shown, cell, place, met);
    const told = obfuscate(place, rated.get(item)!, cell, shown, coins[place], 1, own);
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
    ["cmp", [AGE]],
  ])("of what %s sends is a blind guess, for %j", (scheme, features) => {
    const { found, shown, sent } = weighed({ scheme, features }, 1);
    expect(sent.size).toBeGreaterThan(5);
    for (const share of found.sent) expect(share).toBeCloseTo(1 / cellsOf(shown), 9);
  });

  it.each([
    ["2", [GENDER]],
    ["3", [AGE]],
    ["2 x 3", [GENDER, AGE]],
    ["2 x 5", [GENDER, REGION]],
  ])("of what cmpss sends is a blind guess, for %s categories", (_, features) => {
    const { found, shown, sent } = weighed({ scheme: "cmpss", features }, 1);
    expect(sent.size).toBeGreaterThan(5);
    for (const share of found.sent) expect(share * cellsOf(shown)).toBeCloseTo(1, 1);
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
          maps.map((one, m) => one.map((row) => row.map((entry) => (k < m ? 3 * entry : entry)))),
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
      const { found } = weighed({ scheme, features: [GENDER] }, 1);
      expect(found.values).toBe(true);
      expect(Math.abs(found.raw[0] - 0.5)).toBeGreaterThan(0.2);
    },
  );

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
