import { expect, test } from "vitest";
import { archive } from "../archive";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the archive depends on names and contents, not on the order they came in", () => {
  const [a, b] = [bytes("first"), bytes("second")];
  const one = archive(
    new Map([
      ["a.js", a],
      ["b.js", b],
    ]),
  );
  expect(
    archive(
      new Map([
        ["b.js", b],
        ["a.js", a],
      ]),
    ),
  ).toEqual(one);
  expect(
    archive(
      new Map([
        ["a.js", b],
        ["b.js", a],
      ]),
    ),
  ).not.toEqual(one);
  expect(
    archive(
      new Map([
        ["a.js", a],
        ["c.js", b],
      ]),
    ),
  ).not.toEqual(one);
});
