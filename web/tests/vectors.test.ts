/** This program does what the files in vectors/v1 say, to the last bit, refusals included. */
import { readdirSync } from "node:fs";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import {
  type Accepted,
  Catalogue,
  Certificates,
  Chain,
  checkDisclosure,
  checkTitles,
  correct,
  counterparts,
  DeviceSecret,
  Disclosure,
  decide,
  Entry,
  type Kind,
  Ledger,
  type Message,
  modelOf,
  numbersOf,
  obfuscate,
  outputDistribution,
  ownOf,
  Pin,
  type PositionModel,
  PrivateCategory,
  Problem,
  REFUSALS,
  Receipt,
  RefusedError,
  Report,
  Scores,
  Signed,
  SigningKey,
  Solicitation,
  SolicitationRequest,
  toss,
  verifyCertificate,
} from "../src/index";
import { coinBits } from "../src/user/core/coins";
import { cases } from "./support/vectors";

const FILES = [
  "bad_numbers",
  "bad_rounds",
  "bad_texts",
  "certificates",
  "chains",
  "corrections",
  "discrete",
  "obfuscations",
  "positions",
  "reports",
  "service_texts",
  "titles",
];
const KINDS: Record<string, Pick<Kind<object>, "parse">> = {
  disclosure: Disclosure,
  report: Report,
  solicitation: Solicitation,
  solicitation_request: SolicitationRequest,
  receipt: Receipt,
  problem: Problem,
  catalogue: Catalogue,
  chain: Chain,
  certificates: Certificates,
};
const ANALYST = new SigningKey(Uint8Array.from({ length: 32 }, (_, i) => i));

/** Return the code of the refusal, or nothing. */
function codeOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
  } catch (error) {
    if (error instanceof RefusedError) return error.code;
    throw error;
  }
  return undefined;
}

/** Accept a disclosure on first use, unsafe ones too. */
function accepted(text: string): Accepted {
  const { digest: disclosure } = Disclosure.parse(text);
  const entry = Entry.make({ sequence: 0, disclosure, time: 1_700_000_000, key: ANALYST.public });
  const lax = { ratingsInLevels: false, allowUnsafe: true };
  return checkDisclosure(text, [ANALYST.seal(Entry, entry)], undefined, undefined, lax);
}

const secretOf = (hex: string) => new DeviceSecret(hexToBytes(hex));
const ratingsOf = (found: Record<string, number>) => new Map(Object.entries(found));

it("reads every file there is", () => {
  const folder = new URL("../../vectors/v1/", import.meta.url);
  expect(readdirSync(folder).sort()).toEqual(FILES.map((name) => `${name}.json`));
});

it("knows every code that a vector expects, and there is a vector for every code", () => {
  const found = FILES.flatMap(cases).map((one) => one.code ?? one.expect?.code);
  const codes = new Set(found.filter((code) => code !== undefined && code !== null));
  expect([...codes, "too_long"].sort()).toEqual([...REFUSALS].sort());
});

describe("reports", () => {
  it.each(cases("reports"))("$name", async (one) => {
    const shown = Disclosure.parse(one.disclosure);
    const secret = secretOf(one.secret);
    const category = PrivateCategory.of(shown, one.category);
    const ledger = new Ledger(secret);
    expect(shown.digest).toBe(one.digest);
    expect(category.cellIn(shown)).toBe(one.cell);
    expect(shown.items.map((_, place) => numbersOf(shown, place))).toEqual(one.numbers);
    for (const [item, bits] of Object.entries<number[]>(one.coins)) {
      expect(coinBits(secret, item)).toEqual(bits);
      expect(toss(secret, [item])).toEqual([bits.map((coin) => coin / 2 ** 53)]);
    }
    for (const step of one.rounds) {
      const asked = Solicitation.parse(step.solicitation);
      const rated = ratingsOf(step.ratings);
      const report = await decide(rated, asked, accepted(one.disclosure), category, ledger);
      expect(report.text).toBe(step.report);
      const near = (asked.open ? shown : asked).items;
      const withheld = near.filter((item) => ledger.decision(item)?.numbers === "");
      expect(withheld).toEqual(step.withheld);
      if (step.kept) expect(ledger.answered(asked.round)?.text).toBe(step.kept);
    }
  });
});

describe("obfuscations", () => {
  it.each(cases("obfuscations"))("$name", (one) => {
    const shown = Disclosure.parse(one.disclosure);
    const done = one.item.map((place: number, i: number) => {
      const uniform = one.coins[i].map((bits: number) => bits / 2 ** 53);
      const own = one.reveal && { reveal: one.reveal[i], shift: one.shift[i] };
      return obfuscate(place, one.value[i], one.category[i], shown, uniform, one.alpha, own);
    });
    expect(done.map(({ keep }: { keep: boolean }) => keep)).toEqual(one.keep);
    expect(done.map(({ value }: { value: number }) => value)).toEqual(one.reported);
  });
});

describe("discrete", () => {
  it.each(cases("discrete"))("$name", ({ levels, points, masses, whole }) => {
    const found = outputDistribution(levels, points);
    expect(found).toEqual({ masses: levels.map(() => masses), whole });
  });
});

describe("corrections", () => {
  it.each(cases("corrections"))("$name", (one) => {
    const shown = Disclosure.parse(one.disclosure);
    const category = PrivateCategory.of(shown, one.category);
    const scores = Scores.parse(one.scores);
    const ranked = correct(scores, shown, category, new Set(one.rated), one.move);
    expect(ranked).toEqual(one.ranked);
  });
});

describe("chains", () => {
  it.each(cases("chains"))("$name", (one) => {
    const chain = one.chain.map((signed: string) => Signed.parse(signed));
    const pin = one.pin ? Pin.parse(one.pin) : undefined;
    const attempt = () =>
      checkDisclosure(one.disclosure, chain, pin, one.witness ?? undefined, {
        ratingsInLevels: one.ratings_in_levels,
      });
    if (one.expect.code) expect(codeOf(attempt)).toBe(one.expect.code);
    else expect(attempt().pin.text).toBe(one.expect.pin);
  });
});

describe("bad numbers", () => {
  it.each(cases("bad_numbers"))("$name", (one) => {
    const chain = one.chain.map((signed: string) => Signed.parse(signed));
    expect(codeOf(() => checkDisclosure(one.disclosure, chain))).toBe(one.code);
  });
});

describe("texts", () => {
  it.each([...cases("bad_texts"), ...cases("service_texts")])("$kind: $name", (one) => {
    const attempt = () => KINDS[one.kind].parse(one.text) as Message;
    if (one.code) expect(codeOf(attempt)).toBe(one.code);
    else expect(bytesToHex(attempt().raw)).toBe(Buffer.from(one.text).toString("hex"));
  });
});

describe("bad rounds", () => {
  it.each(cases("bad_rounds"))("$name", async (one) => {
    const category = new PrivateCategory(one.category);
    const ledger = new Ledger(secretOf(one.secret));
    const answer = async (step: { disclosure: string; solicitation: string }) => {
      const asked = Solicitation.parse(step.solicitation);
      const rated = ratingsOf(one.ratings);
      return (await decide(rated, asked, accepted(step.disclosure), category, ledger)).text;
    };
    expect(await answer(one.first)).toBe(one.first.report);
    await expect(answer(one.second)).rejects.toMatchObject({ code: one.code });
    expect(await answer(one.first)).toBe(one.first.report);
  });
});

describe("titles", () => {
  it.each(cases("titles"))("$name", (one) => {
    const attempt = () => checkTitles(one.catalogue, Entry.parse(one.entry));
    if (one.expect.code) expect(codeOf(attempt)).toBe(one.expect.code);
    else expect([...attempt().titles]).toEqual(one.expect.titles);
  });
});

describe("positions", () => {
  it.each(cases("positions"))("$name", (one) => {
    const shown = Disclosure.parse(one.disclosure);
    const model = modelOf(shown) as PositionModel;
    for (const { asked, rated, value, cell, some, selection, move, reveal, shift } of one.people) {
      const found = counterparts(model, cell, asked, rated, value);
      expect(found).toEqual({ selection, move });
      const own = some.map((place: number) => ownOf(shown, cell, place, found));
      expect(own).toEqual(reveal.map((p: number, i: number) => ({ reveal: p, shift: shift[i] })));
    }
  });
});

describe("certificates", () => {
  it.each(cases("certificates"))("$name", (one) => {
    const signed = one.certificate ? Signed.parse(one.certificate) : undefined;
    const attempt = () => verifyCertificate(signed, one.digest, one.trusted, one.required);
    if (one.expect.code) expect(codeOf(attempt)).toBe(one.expect.code);
    else expect(attempt() !== undefined).toBe(one.expect.certified);
  });
});
