import { describe, expect, it } from "vitest";
import { Chain, digest, Report, Signed, SigningKey, verify } from "../../src/index";
import { utf8 } from "../../src/wire/canonical";
import { Catalogue } from "../../src/wire/listing";
import { chain, disclosure } from "../support/made_up";

const content = { id: "0".repeat(32), disclosure: "0".repeat(64), round: 1, answers: [] };

describe("a message", () => {
  it("keeps the exact text it was read from, whatever its form", () => {
    const made = Report.make(content);
    const spaced = made.text.replaceAll(":", " : ");
    const read = Report.parse(spaced);
    expect(read.text).toBe(spaced);
    expect(read.digest).toBe(digest(utf8(spaced)));
    expect(read.digest).not.toBe(made.digest);
    expect(read.round).toBe(1);
  });

  it("is checked when it is made", () => {
    expect(() => Report.make({ ...content, round: -1 })).toThrow("round");
    const answers = [["b", 1] as const, ["a", 1] as const];
    expect(() => Report.make({ ...content, answers })).toThrow("ascending");
  });

  it("cannot be changed", () => {
    const made = Report.make(content) as unknown as { round: number };
    expect(() => {
      made.round = 2;
    }).toThrow(TypeError);
  });

  it("inside another has a text of its own", () => {
    const entries = chain([disclosure()]);
    const whole = Chain.parse(Chain.make({ entries }).text);
    expect(whole.entries[0].text).toBe(entries[0].text);
    expect(whole.text).not.toBe(entries[0].text);
  });
});

describe("a signature", () => {
  const key = new SigningKey(new Uint8Array(32).fill(9));
  const report = Report.make(content);
  const signed = key.seal(Report, report);

  it("is good for this key, kind and text, and for nothing else", () => {
    expect(verify(signed, key.public, Report)).toBe(true);
    expect(verify(signed, SigningKey.generate().public, Report)).toBe(false);
    expect(verify(signed, key.public, Signed)).toBe(false);
    const other = Signed.make({ body: `${signed.body} `, signature: signed.signature });
    expect(verify(other, key.public, Report)).toBe(false);
  });

  it("is refused, not fatal, where the key is no point of the curve", () => {
    expect(verify(signed, `02${"0".repeat(62)}`, Report)).toBe(false);
  });
});

describe("a catalogue", () => {
  const content = { items: ["a"], titles: ["A"], ratings: [1] };

  it("has links that lead nowhere but to another page", () => {
    for (const fine of ["", "https://example.org/a?b=c#d"]) {
      expect(Catalogue.make({ ...content, links: [fine] }).links).toEqual([fine]);
    }
    for (const bad of ["javascript:alert(1)", "http://example.org", "https://x y", "https://x\n"]) {
      expect(() => Catalogue.make({ ...content, links: [bad] })).toThrow("not of the form");
    }
    expect(() => Catalogue.make({ ...content, genres: [] })).toThrow("differ in length");
  });
});
