import { describe, expect, it } from "vitest";
import { bestForEveryone, Disclosure, ONE } from "../../../src/index";
import { accepted, disclosure } from "../../support/made_up";

const [GOOD, FAIR, BAD] = [4, 3, 0].map((at) => [0, 1, 2, 3, 4].map((l) => (l === at ? ONE : 0)));

/** Show items by the levels of women, of men, and how many rated them. */
function best(items: readonly (readonly [number[], number[], number])[], scheme = "dmpss") {
  const made = disclosure({ n: items.length, scheme });
  const levels = items.map(([women, men]) => [women, men]);
  const shown = scheme === "dmpss" ? Disclosure.make({ ...made, levels }) : made;
  const popularity = new Map(shown.items.map((item, j) => [item, items[j][2]]));
  const standing = {
    accepted: accepted(shown),
    certificate: undefined,
    certificates: [],
    titles: new Map<string, string>(),
    popularity,
    wording: undefined,
  };
  return bestForEveryone(standing).map((item) => shown.items.indexOf(item));
}

describe("the best titles for everyone", () => {
  it("go by their mean over categories, and few ratings count little", () => {
    const shown = [
      [BAD, BAD, 900],
      [FAIR, GOOD, 400],
      [GOOD, GOOD, 1],
      [GOOD, GOOD, 900],
    ] as const;
    expect(best(shown.map(([a, b, n]) => [a, b, n]))).toEqual([3, 1, 2, 0]);
  });

  it("are the same for everyone: categories count alike", () => {
    expect(
      best([
        [GOOD, FAIR, 100],
        [FAIR, GOOD, 200],
      ]),
    ).toEqual([1, 0]);
  });

  it("are the most rated where no levels are disclosed", () => {
    const rated = (n: number): [number[], number[], number] => [GOOD, GOOD, n];
    expect(best([rated(5), rated(9), rated(5)], "mpssr")).toEqual([1, 0, 2]);
  });
});
