import { expect, test } from "vitest";
import { REFUSALS } from "../../src/index";
import { texts } from "../../src/page/texts";

test("words stand ready for codes that exist, and for no other", () => {
  const theirs = [
    "retired_disclosure",
    "unknown_disclosure",
    "round_unknown",
    "rounds_used_up",
    "space_used_up",
    "report_changed",
  ];
  const known = new Set<string>([...REFUSALS, ...theirs]);
  expect(Object.keys(texts.refused.reasons).filter((code) => !known.has(code))).toEqual([]);
});

test("which titles were rated is called hidden only where it is", () => {
  const { lead } = texts.welcome;
  expect(lead("age", true)).toContain("neither an answer nor its absence");
  expect(lead("age", false)).toContain("which titles you rated is not hidden");
  const { caution } = texts.gauges;
  expect(caution(true, true)).not.toContain("not hidden");
  expect(caution(true, false)).toContain("not hidden");
});
