import { describe, expect, test } from "vitest";
import { Titles } from "../../src/page/titles";

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
