import { describe, expect, it } from "vitest";
import { modelOf, type PositionModel } from "../../../src/index";
import { expected } from "../../../src/user/agent/expectations";
import { disclosure } from "../../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });

describe("what to expect of an item", () => {
  it("is the mean over the strata", () => {
    const model = modelOf(shown) as PositionModel;
    const each = model.strata.map((stratum) => expected({ ...model, strata: [stratum] }, 3));
    const both = expected(model, 3);
    for (const what of ["rated", "revealed"] as const) {
      expect(each[0][what]).not.toEqual(each[1][what]);
      both[what].forEach((share, k) => {
        expect(share).toBeCloseTo((each[0][what][k] + each[1][what][k]) / 2, 12);
      });
    }
  });
});
