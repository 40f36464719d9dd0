/** The page's own small parts; what it takes from the library is tested there. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AwayError,
  ChangedElsewhereError,
  correct,
  MidpointError,
  ONE,
  PrivateCategory,
  REFUSALS,
  RefusedError,
  Scores,
  StorageError,
} from "../../src/index";
import { reranked } from "../../src/page/conversions";
import { Drafts } from "../../src/page/drafts";
import { failureOf } from "../../src/page/failures";
import { levelOf, lookOf, percent, plain } from "../../src/page/scale";
import { NotOpenedError } from "../../src/page/storage";
import { texts } from "../../src/page/texts";
import { Titles } from "../../src/page/titles";
import { disclosure } from "../support/made_up";

const stars = [1, 2, 3, 4, 5].map((star) => star * ONE);

describe("titles", () => {
  const titles = new Titles(
    ["1", "2", "3", "4"],
    ["Matrix, The (1999)", "Amélie (2001)", "The Net (1995)", "Netherlands"],
    [5, 9, 5, 1],
  );

  test("are read as people say them, most rated first", () => {
    const said = titles.all.map(({ name, year }) => `${name} ${year}`.trim());
    expect(said).toEqual(["Amélie 2001", "The Matrix 1999", "The Net 1995", "Netherlands"]);
  });

  test("are found without accents, capitals or order, the beginning first", () => {
    const found = (text: string) => titles.search(text).map(({ item }) => item);
    expect(found("AMELIE")).toEqual(["2"]);
    expect(found("1999 matrix")).toEqual(["1"]);
    expect(found("net")).toEqual(["4", "3"]);
    expect(found("nothing like it")).toEqual([]);
    expect(found("  ")).toEqual(["2", "1", "3", "4"]);
  });
});

test("a scale is shown as stars, numbers or a menu", () => {
  const halves = Array.from({ length: 10 }, (_, i) => ((i + 1) * ONE) / 2);
  const degrees = Array.from({ length: 101 }, (_, i) => i * ONE);
  expect([stars, halves, [0, ONE], degrees].map(lookOf)).toEqual([
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

test("undoing everything leads back to the start, step by step", () => {
  const change = fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(null, 1, 2, 3));
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const drafts = new Drafts(new Map([["a", 2]]));
      const past = [drafts.ratings];
      for (const [item, value] of changes) if (drafts.set(item, value)) past.push(drafts.ratings);
      for (const before of past.slice(0, -1).reverse()) {
        drafts.undo();
        expect(drafts.ratings).toEqual(before);
      }
      expect(drafts.undo()).toBeNull();
    }),
  );
});

test("ranking again for another category is what the library would have ranked", () => {
  const shown = disclosure();
  const n = shown.items.length;
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 6 * ONE }), { minLength: n, maxLength: n }),
      (score) => {
        const scores = Scores.make({
          disclosure: shown.digest,
          items: shown.items,
          score,
          deviation: score.map(() => ONE),
        });
        const [{ name, categories }] = shown.features;
        const as = (category: string) =>
          correct(scores, shown, new PrivateCategory({ [name]: category }), new Set(), []);
        expect(reranked(as(categories[0]), shown, 0, 1)).toEqual(as(categories[1]));
      },
    ),
  );
});

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

describe("a failure", () => {
  const noticed = (error: unknown, isOpen: boolean) => {
    const failure = failureOf(error, isOpen);
    return failure.kind === "note" ? failure.notice : failure.kind;
  };

  test("that passes never offers erasing", () => {
    const passing = [
      new AwayError("away"),
      new ChangedElsewhereError(),
      new StorageError("busy"),
      new NotOpenedError("busy"),
      new DOMException("full", "QuotaExceededError"),
      new TypeError("a mistake of the page"),
    ];
    for (const isOpen of [true, false]) {
      const seen = passing.map((error) => noticed(error, isOpen));
      expect(seen.slice(0, 5)).toEqual(["away", "otherTab", "storage", "noOpening", "storage"]);
      expect(seen).not.toContain("badStorage");
    }
  });

  test("of what was kept is not laid at the service's door, and vice versa", () => {
    const refused = new RefusedError("not_json", "this is not JSON");
    expect([noticed(refused, false), noticed(refused, true)]).toEqual(["badStorage", "refused"]);
    const broken = new MidpointError("the seal is broken");
    expect([noticed(broken, false), noticed(broken, true)]).toEqual(["badStorage", "failed"]);
  });
});

test("which titles were rated is called hidden only where it is", () => {
  const { lead } = texts.welcome;
  expect(lead("age", true)).toContain("neither an answer nor its absence");
  expect(lead("age", false)).toContain("which titles you rated is not hidden");
  const { caution } = texts.gauges;
  expect(caution(true, true)).not.toContain("not hidden");
  expect(caution(true, false)).toContain("not hidden");
});

test("a measured figure is never shown without whom it was measured against", () => {
  const { measured, claimed } = texts.welcome;
  for (const [adversary, said] of [
    ["outsider", "somebody who knows it of 1,000 other users"],
    ["panel", "4,000 people, and how answers are protected"],
    [undefined, "the certificate does not say"],
  ] as const) {
    const against = texts.gauges.against(adversary, 4000, 1000);
    expect(against).toContain(said);
    expect(measured("Ada", "0.62", against)).toContain(against);
    expect(claimed("Ada", "0.62", against)).toContain(against);
  }
});
