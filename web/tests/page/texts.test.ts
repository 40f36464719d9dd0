import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { REFUSALS } from "../../src/index";
import * as english from "../../src/page/languages/en";
import { panel as later } from "../../src/page/languages/later/en";
import { FILMS, languageOf, siteOf, speak, texts } from "../../src/page/texts";

afterEach(() => speak(FILMS));

/** All sentences of an object, functions called with what comes first to mind. */
function sentences(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "function") return sentences(value("gender", true, 5, 5));
  return Object.values(value as object).flatMap(sentences);
}

test("words stand ready for codes that exist, and for no other", () => {
  const theirs = [
    "retired_disclosure",
    "unknown_disclosure",
    "round_unknown",
    "rounds_used_up",
    "space_used_up",
    "report_changed",
  ];
  const known = new Set<string>([...REFUSALS, ...theirs, "known_elsewhere"]);
  expect(Object.keys(texts.refused.reasons).filter((code) => !known.has(code))).toEqual([]);
});

test("which titles were rated is called hidden only where it is", () => {
  const { lead } = texts.welcome;
  expect(lead("age", true)).toContain("no single film gives away your age, rated or not");
  expect(lead("age", false)).toContain("which films you rated is not hidden");
  const { caution } = texts.gauges;
  expect(caution(true, true)).not.toContain("not hidden");
  expect(caution(true, false)).toContain("not hidden");
});

test("where nothing is rated nobody reads of ratings, nor asked to share any", () => {
  const { panel, leaves, rate } = english.page.sentences({ ...FILMS, done: "bought", sets: true });
  const said = [
    ...sentences({ panel, send: leaves.sendNone }),
    ...later.meaning("age", panel.given),
  ];
  expect(said.filter((sentence) => /\b(rat(e|ed|ing|ings)|stars?)\b/i.test(sentence))).toEqual([]);
  expect(said.join(" ")).toContain("all films that you have bought");
  expect(rate.marked).toBe("bought");
  expect(sentences(texts.panel).join(" ")).toMatch(/my ratings/); // the control
});

test("a measured figure is never shown without whom it was measured against", () => {
  const { measured, claimed } = texts.welcome;
  for (const [adversary, said] of [
    ["outsider", "somebody who knows this of 1,000 other users"],
    ["panel", "4,000 people, and how answers are protected"],
    ["published", "4,000 people, and how answers are protected"],
    ["oracle", "an adversary that this version does not know"],
    [undefined, "the certificate does not say"],
  ] as const) {
    const against = texts.gauges.against(adversary, 4000, 1000);
    expect(against).toContain(said);
    expect(measured("Ada", "0.62", against)).toContain(against);
    expect(claimed("Ada", "0.62", against)).toContain(against);
  }
});

test("in the clear nothing is said of protection, and a rounded answer is not called as it is", () => {
  const { final, why } = texts.leaves;
  expect(final(true)).not.toMatch(/withheld|protect/);
  expect(final(false)).toMatch(/withheld.*protection/); // the control
  expect(why.inTheClear(true)).toContain("goes as it is");
  expect(why.inTheClear(false)).not.toContain("as it is");
});

test("a site's own words stand in every sentence, and films only where it has none", () => {
  expect(siteOf(undefined, [1, 2])).toEqual(FILMS);
  const songs = { item: "song", items: "songs", done: "played" };
  speak(siteOf(songs, [1, 2, 3]));
  expect(texts.rate.title).toBe("Rate songs you have played");
  expect(texts.rate.found(1)).toBe("1 song found");
  const about = sentences(texts).filter((sentence) => /\bfilms?\b|\btitles?\b/i.test(sentence));
  expect(about).toEqual([texts.welcome.why]); // which is about a site of films
  speak(FILMS);
  expect(texts.rate.title).toBe("Rate films you have seen");
});

test("where people only name what they have seen there are no stars and no ratings", () => {
  speak(siteOf({ item: "book", items: "books", done: "liked" }, [1]));
  expect(texts.rate.title).toBe("Which books have you liked?");
  expect(texts.rate.mark).toBe("Liked it");
  expect(texts.rate.goesAs("1")).toBe("will be sent");
  const main = [texts.welcome.lead("age", true), texts.rate, texts.foryou, texts.nav].flatMap(
    sentences,
  );
  const graded = [texts.rate.star("4"), texts.rate.group("A"), texts.rate.notRated];
  const left = main.filter((sentence) => /\b(rat(e|es|ed|ing|ings)|stars?)\b/i.test(sentence));
  expect(
    left.filter((sentence) => !/^(gender stars|Your rating of|Not rated)/.test(sentence)),
  ).toEqual([]);
  expect(graded.length).toBe(3); // the control: those are there, and are for scales
});

test("there is one word for withheld", () => {
  expect([texts.rate.withheld, texts.leaves.withheld, texts.ledger.withheld]).toEqual(
    new Array(3).fill("withheld"),
  );
  const others = sentences(texts).filter((sentence) => /stays? here|held back/i.test(sentence));
  expect(others).toEqual([]);
});

test("the page's language is the first that she reads and it speaks", () => {
  const [en, de] = [{ tag: "en" }, { tag: "de" }];
  expect(languageOf([en, de], ["de-AT", "en"])).toBe(de);
  expect(languageOf([en, de], ["fr", "en-GB"])).toBe(en);
  expect(languageOf([en, de], ["fr"])).toBe(en);
  expect(Object.keys(english).sort()).toEqual(["extension", "page"]);
});

test("nothing is said outside the file of a language", () => {
  // What is said begins with a capital letter and has two words, or it has four.
  const said = /["`>](?:[A-Z][a-z]* [a-z]+|[^"`=|&;]*\b[a-z]+ [a-z]+ [a-z]+ [a-z]+\b)/;
  const code = /^\s*(\/?\*|\/\/|import )|Error\(|drawn\(/;
  const isSaid = (line: string) => said.test(line) && !code.test(line);
  expect(
    ['say(more, "Show more");', "say(less, `there is nothing more in it`);"].map(isSaid),
  ).toEqual([true, true]);
  expect(isSaid('const name = look === "halves" ? "stars halves own" : "stars own";')).toBe(false);
  const directory = new URL("../../src/page/", import.meta.url);
  const files = readdirSync(directory, { recursive: true, encoding: "utf-8" });
  const lines = files
    .filter((file) => file.endsWith(".ts") && !file.includes("languages"))
    .flatMap((file) =>
      readFileSync(new URL(file, directory), "utf-8")
        .split("\n")
        .filter(isSaid)
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(lines).toEqual([]);
});
