import { expect, test } from "vitest";
import { Disclosure, ONE } from "../../../src/index";
import { exampleOf } from "../../../src/page/model/example";
import { Titles } from "../../../src/page/model/titles";
import { disclosure } from "../../support/made_up";

const made = disclosure({ n: 6, scheme: "dmpss" });
const titles = new Titles(
  made.items,
  made.items,
  made.items.map((_, i) => i),
);
const often = (reveal: readonly (readonly number[])[]) =>
  exampleOf(Disclosure.make({ ...made, reveal }), titles);

test("the example is the title that one category rates most often, compared with the other", () => {
  const reveal = made.items.map((_, i) => (i === 2 ? [ONE / 4, ONE] : [ONE, ONE / 2]));
  const [feature] = made.features;
  expect(often(reveal)).toEqual({
    title: titles.of(made.items[2]),
    feature: feature.name,
    more: feature.categories[0],
    fewer: feature.categories[1],
    times: 4,
  });
});

test("where categories rate alike there is none", () => {
  expect(often(made.items.map(() => [ONE, ONE]))).toBeNull();
  expect(often(made.items.map(() => [ONE, Math.floor(0.9 * ONE)]))).toBeNull();
});

test("it goes by the rates where those are disclosed", () => {
  const shown = disclosure({ n: 60, scheme: "cmpss" });
  const known = new Titles(
    shown.items,
    shown.items,
    shown.items.map(() => 1),
  );
  const example = exampleOf(shown, known);
  const chances = (shown.rate ?? []).map((row) =>
    row.map((odds) => 1 / (1 + Math.exp(-odds / 256))),
  );
  const most = Math.max(...chances.map((row) => Math.max(...row) / Math.min(...row)));
  expect(example?.times).toBeCloseTo(most, 9);
});
