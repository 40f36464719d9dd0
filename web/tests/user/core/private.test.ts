import { expect, it } from "vitest";
import { DeviceSecret, PrivateCategory } from "../../../src/index";
import { AGE, disclosure, GENDER } from "../../support/made_up";

const secret = new DeviceSecret(new Uint8Array(32).map((_, i) => i + 32));
const man = new PrivateCategory({ gender: "M" });

it("hides what is secret from what happens by mistake", () => {
  for (const hidden of [secret, man]) {
    expect(`${hidden}`).toMatch(/^<\w+: hidden>$/);
    expect(() => JSON.stringify({ hidden })).toThrow("not serialized");
    expect(Object.keys(hidden)).toEqual([]);
    expect(structuredClone(hidden)).toEqual({});
  }
});

it("finds the joint cell, the last feature varying fastest, and never says what she is", () => {
  const shown = disclosure({ features: [GENDER, AGE] });
  const cells = GENDER.categories.flatMap((gender) =>
    AGE.categories.map((age) => new PrivateCategory({ age, gender }).cellIn(shown)),
  );
  expect(cells).toEqual([0, 1, 2, 3, 4, 5]);
  const wrong = (names: Record<string, string>) => () => PrivateCategory.of(shown, names);
  expect(wrong({ gender: "F" })).toThrow("'age' needs one of young, middle, old");
  expect(wrong({ gender: "hidden", age: "old" })).toThrow(/'gender' needs one of F, M$/);
  expect(wrong({ gender: "F", age: "old", party: "A" })).toThrow("does not protect party");
});
