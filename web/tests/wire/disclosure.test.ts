import { describe, expect, it } from "vitest";
import { Disclosure } from "../../src/index";
import { AGE, disclosure, GENDER } from "../support/made_up";

describe("a disclosure", () => {
  const shown = disclosure({ features: [GENDER, AGE] });

  it("knows the index of each item", () => {
    shown.items.forEach((item, i) => {
      expect(shown.index.get(item)).toBe(i);
    });
    expect(shown.index.size).toBe(shown.items.length);
    expect(shown.index.get("unknown")).toBeUndefined();
    expect(shown.index).toBe(shown.index);
  });

  it("knows the joint cell of all categories together", () => {
    const cell = (names: Record<string, string>) => shown.cell(new Map(Object.entries(names)));
    expect(cell({ gender: "M", age: "young" })).toBe(3);
    expect(cell({ age: "old", gender: "F", party: "any" })).toBe(2);
    expect(cell({ gender: "M" })).toBeUndefined();
    expect(cell({ gender: "M", age: "M" })).toBeUndefined();
  });

  it("does not send what it can be asked", () => {
    expect(Object.keys(shown)).not.toContain("index");
    expect(Disclosure.make({ ...shown }).text).toBe(shown.text);
  });
});
