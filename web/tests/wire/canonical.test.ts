import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compare, encode } from "../../src/wire/canonical";
import { type Json, read } from "../../src/wire/json";

const text = fc.string({ unit: "binary" });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}));

/** Turn maps into plain objects, as JSON.parse makes them. */
function plain(found: Json): unknown {
  if (Array.isArray(found)) return found.map(plain);
  if (!(found instanceof Map)) return found;
  return Object.fromEntries([...found].map(([key, one]) => [key, plain(one)]));
}

describe("canonical text", () => {
  it("is read back as what was written, and written again as the same text", () => {
    fc.assert(
      fc.property(value, (content) => {
        const found = plain(read(encode(content)));
        expect(encode(found)).toBe(encode(content));
        expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(encode(content))));
      }),
    );
  });

  it("does not depend on the order of keys", () => {
    expect(encode({ b: 1, a: [{ d: 2, c: 3 }] })).toBe('{"a":[{"c":3,"d":2}],"b":1}');
  });

  it("leaves out what is undefined and refuses what is not exact", () => {
    expect(encode({ a: undefined, b: null })).toBe('{"b":null}');
    for (const wrong of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => encode([wrong])).toThrow("whole number");
    }
  });
});

describe("the order of names", () => {
  const points = (one: string) => [...one].map((c) => c.codePointAt(0)!);

  it("is that of code points", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, i) => point !== y[i]);
        const wanted = at < 0 ? x.length - y.length : y[at] === undefined ? 1 : x[at] - y[at];
        expect(Math.sign(compare(a, b))).toBe(Math.sign(wanted));
      }),
    );
  });

  it("is not the language's own beyond U+FFFF", () => {
    expect(["🎬", "\ue000"].sort()).toEqual(["🎬", "\ue000"]);
    expect(["🎬", "\ue000"].sort(compare)).toEqual(["\ue000", "🎬"]);
  });
});
