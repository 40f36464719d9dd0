import { describe, expect, it } from "vitest";
import { Disclosure, modelOf } from "../../src/index";
import { disclosure } from "../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });

describe("a model", () => {
  it("is of one disclosure, also where two have one prior", () => {
    const { prior, taste } = shown;
    const halved = taste!.map((row) => row.map((factor) => Math.trunc(factor / 2)));
    const other = Disclosure.make({ ...shown, prior, taste: halved });
    expect(modelOf(shown)!.taste).toEqual(taste);
    expect(modelOf(other)!.taste).toEqual(halved);
    expect(modelOf(shown)).toBe(modelOf(shown));
  });
});
