import fc from "fast-check";
import { expect, test } from "vitest";
import { mostErrors, typingErrors } from "../../../src/page/model/typing";

test.each([
  ["matrix", "matrix", 0],
  ["matri", "matrix", 0],
  ["matrxi", "matrix", 1],
  ["atrix", "matrix", 1],
  ["mmatrix", "matrix", 1],
  ["netherlnads", "netherlands", 1],
  ["nehterlends", "netherlands", 2],
] as const)("%s is %s with so many errors: %d", (typed, word, errors) => {
  expect(typingErrors(typed, word, 2)).toBe(errors);
});

/** The same by its definition, without a bound: the least over all beginnings of the word. */
function slowly(typed: string, word: string): number {
  const known = new Map<string, number>();
  const apart = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i} ${j}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const costs = [
      apart(i - 1, j) + 1,
      apart(i, j - 1) + 1,
      apart(i - 1, j - 1) + Number(typed[i - 1] !== word[j - 1]),
    ];
    if (i > 1 && j > 1 && typed[i - 1] === word[j - 2] && typed[i - 2] === word[j - 1]) {
      costs.push(apart(i - 2, j - 2) + 1);
    }
    known.set(key, Math.min(...costs));
    return Math.min(...costs);
  };
  return Math.min(...Array.from({ length: word.length + 1 }, (_, j) => apart(typed.length, j)));
}

test("the number is the definition's, up to the most that is forgiven", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 3 }), (typed, other, most) => {
      const [fast, exact] = [typingErrors(typed, other, most), slowly(typed, other)];
      expect(Math.min(fast, most + 1)).toBe(Math.min(exact, most + 1));
    }),
  );
});

test("long words forgive more than short ones", () => {
  expect(["net", "netw", "networks"].map(mostErrors)).toEqual([0, 1, 2]);
});
