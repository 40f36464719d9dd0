import { describe, expect, test } from "vitest";
import { aside, Titles } from "../../../src/page/model/titles";

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

  test("are read in their natural order in brackets and in other languages, too", () => {
    const name = (title: string) => new Titles(["1"], [title], [0]).of("1").name;
    expect(name("Postino, Il (The Postman) (1994)")).toBe("Il Postino (The Postman)");
    expect(name("City of Lost Children, The (Cité des enfants perdus, La) (1995)")).toBe(
      "The City of Lost Children (La Cité des enfants perdus)",
    );
    expect(name("Avventura, L' (1960)")).toBe("L'Avventura");
    expect(name("Good, the Bad and the Ugly, The (1966)")).toBe("The Good, the Bad and the Ugly");
    expect(name("Me, Myself & Irene")).toBe("Me, Myself & Irene");
  });

  test("are found though a letter is wrong, missing, too many or swapped, and only then", () => {
    const alike = (text: string) => titles.searchAlike(text).map(({ item }) => item);
    for (const typo of ["matrxi", "matrx", "mattrix", "natrix", "the matirx 1999"]) {
      expect(titles.search(typo)).toEqual([]);
      expect(alike(typo)).toEqual(["1"]);
    }
    expect(alike("nehterlends")).toEqual(["4"]);
    expect(alike("xatrxi")).toEqual([]); // two errors in a short word
    expect(alike("nte")).toEqual([]); // a word of three letters is taken as it is
  });
});

test("a genre stands behind the year, is searched, and a link is held", () => {
  const link = "https://example.org/heat";
  const titles = new Titles(
    ["a", "b"],
    ["Heat (1995)", "Fargo"],
    [2, 1],
    ["Crime", ""],
    [link, ""],
  );
  const [heat, fargo] = titles.all;
  expect(aside(heat!)).toBe("1995 · Crime");
  expect(aside(fargo!)).toBe("");
  expect([heat!.link, fargo!.link]).toEqual([link, ""]);
  expect(titles.search("crime")).toEqual([heat]);
});
