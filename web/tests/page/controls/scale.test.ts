import { expect, test } from "vitest";
import { ONE } from "../../../src/index";
import { levelOf, lookOf, plain } from "../../../src/page/controls/scale";
import { percent } from "../../../src/page/texts";

const stars = [1, 2, 3, 4, 5].map((star) => star * ONE);

test("a scale is shown as a mark, stars, numbers or a menu", () => {
  const halves = Array.from({ length: 10 }, (_, i) => ((i + 1) * ONE) / 2);
  const degrees = Array.from({ length: 101 }, (_, i) => i * ONE);
  expect([[ONE], stars, halves, [0, ONE], degrees].map(lookOf)).toEqual([
    "mark",
    "stars",
    "halves",
    "numbers",
    "menu",
  ]);
  expect([levelOf(stars, "4"), levelOf(halves, "4"), levelOf([0, ONE], "4")]).toEqual([
    4 * ONE,
    4 * ONE,
    undefined,
  ]);
  expect(halves.slice(0, 3).map(plain)).toEqual(["0.5", "1", "1.5"]);
});

test("a share is not said to be certain before it is", () => {
  expect([0, 0.001, 0.5, 0.996, 0.9999, 1].map(percent)).toEqual([
    "0 %",
    "under 1 %",
    "50 %",
    "over 99 %",
    "over 99 %",
    "100 %",
  ]);
});
