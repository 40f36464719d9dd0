import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../src/wire/canonical";
import { LARGEST_MESSAGE, read, textOf } from "../../src/wire/json";
import { RefusedError } from "../../src/wire/refusal";

function code(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof RefusedError) return error.code;
    throw error;
  }
  return "read";
}

describe("reading", () => {
  it.each([
    ['{"a":1,"a":1}', "duplicate_key"],
    ['{"a":1,"\\u0061":1}', "duplicate_key"],
    ['[{"__proto__":1}]', "read"],
    ["1.0", "not_an_integer"],
    ["1e2", "not_an_integer"],
    ["-Infinity", "not_an_integer"],
    ["9007199254740991", "read"],
    ["9007199254740992", "integer_too_large"],
    ["-9007199254740992", "integer_too_large"],
    ["00000000000000000001", "not_json"],
    ["01", "not_json"],
    ["+1", "not_json"],
    ["\ufeff1", "not_json"],
    ['"\\ud800"', "not_json"],
    ['"\\ud83c\\udfac"', "read"],
    ['"\t"', "not_json"],
    ['"\\x41"', "not_json"],
    ["[1,]", "not_json"],
    ["[1 2]", "not_json"],
    ["", "not_json"],
    ["\u00a01", "not_json"],
    [" \t\r\n1 ", "read"],
    ["[".repeat(100_000), "not_json"],
  ])("%.40j: %s", (text, expected) => {
    expect(code(() => read(text))).toBe(expected);
  });

  it("takes nothing that the language's own reader would not", () => {
    const pieces = fc.constantFrom(...'{}[],:"\\u019ae-+.tfn \n'.split(""), "null", '"a"', "12");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (made) => {
        const text = made.join("");
        if (code(() => read(text)) === "read") expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  it("takes minus zero as zero", () => {
    expect(Object.is(read("-0"), 0)).toBe(true);
    const [[zero]] = read("[[-0]]") as number[][];
    expect(Object.is(zero, 0)).toBe(true);
  });

  it.each([
    ["[1,-2,30]", "read"],
    ["[[],[[1]],0]", "read"],
    ["[1.5]", "not_an_integer"],
    ["[[1e3]]", "not_an_integer"],
    ["[[1],[NaN]]", "not_an_integer"],
    ["[[999999999999999]]", "read"],
    ["[[9007199254740992]]", "integer_too_large"],
    ["[[01]]", "not_json"],
    ["[[-01]]", "not_json"],
    ["[--1]", "not_json"],
    ["[1,,2]", "not_json"],
    ["[[1]", "not_json"],
    ["[1]]", "not_json"],
    ["[-]", "not_json"],
    ["[,1]", "not_json"],
    ["[1,2] 3", "not_json"],
    [`${"[1,".repeat(100)}1${"]".repeat(100)}`, "read"],
    [`${"[1,".repeat(300)}1${"]".repeat(300)}`, "not_json"],
  ])("reads lists of numbers as strictly: %.40j: %s", (text, expected) => {
    expect(code(() => read(text))).toBe(expected);
    // The same with a text in it, which is read piece by piece.
    const mixed = expected === "read" ? `[${text},"a"]` : text;
    expect(code(() => read(mixed))).toBe(expected);
    if (expected === "read") expect(read(text)).toEqual(JSON.parse(text));
  });

  it("refuses bytes that are not UTF-8, and too many of them, unread", () => {
    expect(code(() => textOf(Uint8Array.of(0x22, 0xff, 0x22)))).toBe("not_json");
    expect(code(() => textOf(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)))).toBe("not_json");
    expect(code(() => textOf(new Uint8Array(LARGEST_MESSAGE + 1)))).toBe("too_long");
    expect(textOf(utf8("🎬"))).toBe("🎬");
  });
});
