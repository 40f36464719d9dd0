/** This program does what the files in vectors/v1 say, to the last bit, refusals included. */
import { readdirSync } from "node:fs";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import {
  type Accepted,
  adjustmentTo,
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
  identity,
  type Kind,
  Ledger,
  type Message,
  modelOf,
  numbersOf,
  obfuscate,
  outputDistribution,
  Pin,
  type PositionModel,
  PrivateCategory,
  Problem,
  REFUSALS,
  Receipt,
  RefusedError,
  Report,
  readStatement,
  Scores,
  Signed,
  SigningKey,
  Solicitation,
  SolicitationRequest,
  toss,
  verifyCertificate,
  WitnessStatement,
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
  "device_files",
  "discrete",
  "obfuscations",
  "positions",
  "reports",
  "service_texts",
  "statements",
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
const ratingsOf = (given: Record<string, number>) => new Map(Object.entries(given));

it("reads every file there is", () => {
  const directory = new URL("../../vectors/v1/", import.meta.url);
  expect(readdirSync(directory).sort()).toEqual(FILES.map((name) => `${name}.json`));
});

it("knows every code that a vector expects, and there is a vector for every code", () => {
  const expected = FILES.flatMap(cases).map((vector) => vector.code ?? vector.expect?.code);
  const codes = new Set(expected.filter((code) => code !== undefined && code !== null));
  expect([...codes, "too_long", "leak_too_large"].sort()).toEqual([...REFUSALS].sort());
});

describe("reports", () => {
  it.each(cases("reports"))("$name", async (vector) => {
    const shown = Disclosure.parse(vector.disclosure);
    const secret = secretOf(vector.secret);
    const category = PrivateCategory.of(shown, vector.category);
    const ledger = new Ledger(secret);
    expect(shown.digest).toBe(vector.digest);
    expect(category.cellIn(shown)).toBe(vector.cell);
    expect(shown.items.map((_, index) => numbersOf(shown, index))).toEqual(vector.numbers);
    for (const [item, bits] of Object.entries<number[]>(vector.coins)) {
      expect(coinBits(secret, item)).toEqual(bits);
      expect(toss(secret, [item])).toEqual([bits.map((coin) => coin / 2 ** 53)]);
    }
    for (const step of vector.rounds) {
      const asked = Solicitation.parse(step.solicitation);
      const rated = ratingsOf(step.ratings);
      const report = await decide(rated, asked, accepted(vector.disclosure), category, ledger);
      expect(report.text).toBe(step.report);
      const near = (asked.open ? shown : asked).items;
      const withheld = near.filter((item) => ledger.decision(item)?.numbers === "");
      expect(withheld).toEqual(step.withheld);
      if (step.kept) expect(ledger.answered(asked.round)?.text).toBe(step.kept);
    }
  });
});

describe("obfuscations", () => {
  it.each(cases("obfuscations"))("$name", (vector) => {
    const shown = Disclosure.parse(vector.disclosure);
    const done = vector.item.map((item: number, i: number) => {
      const uniform = vector.coins[i].map((bits: number) => bits / 2 ** 53);
      const cell = vector.category[i];
      const adjustment = vector.reveal
        ? { reveal: () => vector.reveal[i], shift: () => vector.shift[i], move: [] }
        : identity(shown, cell);
      return obfuscate(item, vector.value[i], cell, shown, uniform, adjustment, vector.alpha);
    });
    expect(done.map(({ keep }: { keep: boolean }) => keep)).toEqual(vector.keep);
    expect(done.map(({ value }: { value: number }) => value)).toEqual(vector.reported);
  });
});

describe("discrete", () => {
  it.each(cases("discrete"))("$name", ({ levels, points, masses, whole }) => {
    expect(outputDistribution(levels, points)).toEqual({ masses: levels.map(() => masses), whole });
  });
});

describe("corrections", () => {
  it.each(cases("corrections"))("$name", (vector) => {
    const shown = Disclosure.parse(vector.disclosure);
    const category = PrivateCategory.of(shown, vector.category);
    const scores = Scores.parse(vector.scores);
    const ranked = correct(scores, shown, category, new Set(vector.rated), vector.move ?? []);
    expect(ranked).toEqual(vector.ranked);
  });
});

describe("chains", () => {
  it.each(cases("chains"))("$name", (vector) => {
    const chain = vector.chain.map((signed: string) => Signed.parse(signed));
    const pin = vector.pin ? Pin.parse(vector.pin) : undefined;
    const witness = vector.witness ? WitnessStatement.parse(vector.witness) : undefined;
    const attempt = () =>
      checkDisclosure(vector.disclosure, chain, pin, witness, {
        ratingsInLevels: vector.ratings_in_levels,
        showRated: vector.show_rated,
      });
    if (vector.expect.code) expect(codeOf(attempt)).toBe(vector.expect.code);
    else expect(attempt().pin.text).toBe(vector.expect.pin);
  });
});

describe("statements", () => {
  it.each(cases("statements"))("$name", (vector) => {
    const attempt = () => readStatement(Signed.parse(vector.signed), vector.key ?? undefined);
    if (vector.expect.code) expect(codeOf(attempt)).toBe(vector.expect.code);
    else expect(attempt().newestShownFor(vector.shown_for) ?? null).toBe(vector.expect.entry);
  });
});

describe("bad numbers", () => {
  it.each(cases("bad_numbers"))("$name", (vector) => {
    const chain = vector.chain.map((signed: string) => Signed.parse(signed));
    expect(codeOf(() => checkDisclosure(vector.disclosure, chain))).toBe(vector.code);
  });
});

describe("texts", () => {
  it.each([...cases("bad_texts"), ...cases("service_texts")])("$kind: $name", (vector) => {
    const attempt = () => KINDS[vector.kind].parse(vector.text) as Message;
    if (vector.code) expect(codeOf(attempt)).toBe(vector.code);
    else expect(bytesToHex(attempt().raw)).toBe(Buffer.from(vector.text).toString("hex"));
  });
});

describe("bad rounds", () => {
  it.each(cases("bad_rounds"))("$name", async (vector) => {
    const category = new PrivateCategory(vector.category);
    const ledger = new Ledger(secretOf(vector.secret));
    const answer = async (step: { disclosure: string; solicitation: string }) => {
      const asked = Solicitation.parse(step.solicitation);
      const rated = ratingsOf(vector.ratings);
      return (await decide(rated, asked, accepted(step.disclosure), category, ledger)).text;
    };
    expect(await answer(vector.first)).toBe(vector.first.report);
    await expect(answer(vector.second)).rejects.toMatchObject({ code: vector.code });
    expect(await answer(vector.first)).toBe(vector.first.report);
  });
});

describe("titles", () => {
  it.each(cases("titles"))("$name", (vector) => {
    const attempt = () => checkTitles(vector.catalogue, Entry.parse(vector.entry));
    if (vector.expect.code) expect(codeOf(attempt)).toBe(vector.expect.code);
    else expect([...attempt().titles]).toEqual(vector.expect.titles);
  });
});

describe("positions", () => {
  it.each(cases("positions"))("$name", (vector) => {
    const shown = Disclosure.parse(vector.disclosure);
    const model = modelOf(shown) as PositionModel;
    for (const {
      asked,
      rated,
      value,
      cell,
      some,
      selection,
      move,
      reveal,
      shift,
      stretch,
    } of vector.people) {
      const hers = counterparts(model, cell, asked, rated, value);
      expect(hers).toEqual(stretch ? { selection, move, stretch } : { selection, move });
      const adjustment = adjustmentTo(shown, cell, hers);
      expect(some.map(adjustment.reveal)).toEqual(reveal);
      expect(some.map(adjustment.shift)).toEqual(shift);
    }
  });
});

describe("certificates", () => {
  it.each(cases("certificates"))("$name", (vector) => {
    const signed = vector.certificate ? Signed.parse(vector.certificate) : undefined;
    const { digest, trusted, required, most_auc: most, stated } = vector;
    const attempt = () => verifyCertificate(signed, digest, trusted, required, most, stated);
    if (vector.expect.code) expect(codeOf(attempt)).toBe(vector.expect.code);
    else expect(attempt() !== undefined).toBe(vector.expect.certified);
  });
});
