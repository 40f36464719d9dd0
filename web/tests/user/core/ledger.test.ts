import "fake-indexeddb/auto";
import { hexToBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BrokenSealError,
  ChangedElsewhereError,
  DeviceSecret,
  Disclosure,
  decide,
  digest,
  Home,
  IndexedDbStore,
  Ledger,
  MemoryStore,
  PrivateCategory,
  preview,
  Solicitation,
  StorageError,
  type Store,
} from "../../../src/index";
import { utf8 } from "../../../src/wire/canonical";
import { AGE, accepted, disclosure, ratings, solicitation } from "../../support/made_up";
import { cases } from "../../support/vectors";

const SECRET = new Uint8Array(32).map((_, i) => i + 32);
const shown = disclosure({ n: 30 });
const passed = accepted(shown);
const woman = new PrivateCategory({ gender: "F" });
const man = new PrivateCategory({ gender: "M" });
const secret = () => new DeviceSecret(SECRET);
let databases = 0;
const STORES: [string, () => Promise<Store>][] = [
  ["memory", async () => new MemoryStore()],
  ["IndexedDB", () => IndexedDbStore.open(`test ${databases++}`)],
];

describe("a decision", () => {
  it("is final under every later question, rating and category", async () => {
    const step = fc.record({ seed: fc.nat(50), open: fc.boolean(), isMan: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
        const ledger = new Ledger(secret());
        const first = new Map<string, number | undefined>();
        for (const [round, { seed, open, isMan }] of steps.entries()) {
          const items = shown.items.filter((_, j) => (j * 7 + seed) % 3 === 0);
          const asked = solicitation(shown, round, items, open);
          const rated = ratings(shown, seed, 0.6);
          const report = await decide(rated, asked, passed, isMan ? man : woman, ledger);
          for (const item of ledger.decided) {
            if (!first.has(item)) first.set(item, ledger.decision(item)?.value);
          }
          for (const [item, value] of report.answers) expect(first.get(item)).toBe(value);
          for (const [item, value] of first) expect(ledger.decision(item)?.value).toBe(value);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("would be another one with the same coins and no ledger", async () => {
    const asked = solicitation(shown);
    const one = await decide(ratings(shown, 1), asked, passed, woman, new Ledger(secret()));
    const two = await decide(ratings(shown, 2), asked, passed, man, new Ledger(secret()));
    expect(one.text).not.toBe(two.text);
  });

  it("is shown before it is made, and showing makes none", async () => {
    const ledger = new Ledger(secret());
    const [rated, asked] = [ratings(shown), solicitation(shown, 1, shown.items.slice(0, 20))];
    const seen = preview(rated, asked, passed, man, ledger);
    expect(ledger.decided.size).toBe(0);
    expect((await decide(rated, asked, passed, man, ledger)).text).toBe(seen.report.text);
    for (const { item, sent, fate } of seen.lines) {
      const made = ledger.decision(item);
      if (fate === "not_asked") expect(made).toBeUndefined();
      else expect([sent, fate]).toEqual([made?.value, made?.numbers ? "sent" : "withheld"]);
    }
    expect(new Set(seen.lines.map(({ fate }) => fate)).size).toBe(3);
    const later = preview(rated, solicitation(shown, 2), passed, woman, ledger);
    const fates = new Set(later.lines.map(({ fate }) => fate));
    expect(fates).toContain("sent_before");
    expect(fates).toContain("withheld_before");
  });

  it("is not made about a rating that is off the scale", async () => {
    const ledger = new Ledger(secret());
    const rated = new Map([["unknown", 3]]);
    await expect(decide(rated, solicitation(shown), passed, man, ledger)).rejects.toThrow("scale");
  });
});

describe.each(STORES)("a ledger in %s", (_, make) => {
  /** Answer one round in a new ledger. */
  async function answered(store: Store): Promise<Ledger> {
    const ledger = await Ledger.create(store, secret());
    await decide(ratings(shown), solicitation(shown), passed, man, ledger);
    return ledger;
  }

  it("is found again as it was, in one text with its seal", async () => {
    const store = await make();
    const ledger = await answered(store);
    const texts = await store.read();
    expect(texts.ledger).toBe(ledger.text);
    const again = Ledger.open(store, texts);
    expect(again.text).toBe(ledger.text);
    expect([...again.decided]).toEqual([...ledger.decided]);
    expect(ledger.text.split("\n")).toHaveLength(3);
  });

  it("is started once, and refused when it was changed or its secret is another", async () => {
    const store = await make();
    const { text } = await answered(store);
    await expect(Ledger.create(store)).rejects.toThrow(ChangedElsewhereError);
    const texts = await store.read();
    expect(() => Ledger.open(store, { ...texts, ledger: `${text} ` })).toThrow("was changed");
    expect(() => Ledger.read(text.replace('"round":1', '"round":2'), secret())).toThrow("changed");
    expect(() => Ledger.read(text, DeviceSecret.generate())).toThrow("another secret");
    expect(() => Ledger.open(store, { ...texts, secret: undefined })).toThrow(
      "not a device secret",
    );
  });

  it("cannot be decided in two tabs at once", async () => {
    const store = await make();
    const mine = await answered(store);
    const other = Ledger.open(store, await store.read());
    await decide(ratings(shown, 8), solicitation(shown, 2), passed, man, other);
    const late = decide(ratings(shown, 9), solicitation(shown, 3), passed, man, mine);
    await expect(late).rejects.toThrow(ChangedElsewhereError);
    expect((await store.read()).ledger).toBe(other.text);
    expect(mine.answered(3)).toBeUndefined();
  });

  it("takes one of two answers given at the same moment", async () => {
    const ledger = await answered(await make());
    const asked = solicitation(shown, 2);
    const both = await Promise.allSettled(
      [1, 2].map((seed) => decide(ratings(shown, seed), asked, passed, man, ledger)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("is not written by a tab while another forgets her, nor for somebody new", async () => {
    const store = await make();
    const mine = await Home.open(store, secret());
    const other = await Home.open(store);
    await other.startForgetting();
    const asked = solicitation(shown);
    const late = [
      () => decide(ratings(shown), asked, passed, man, mine.ledger),
      () => mine.keepRatings(new Map()),
      () => mine.keepPin(passed.pin),
      () => mine.keep("draft", "text"),
    ];
    for (const work of late) await expect(work()).rejects.toThrow(ChangedElsewhereError);
    expect(mine.ledger.rounds).toEqual([]);
    await mine.startForgetting(); // the wish itself may be noted twice
    await other.erase();
    const anew = await Home.open(store, DeviceSecret.generate());
    await anew.keepRatings(new Map([["item-0001", 65536]]));
    const before = await store.read();
    const forgotten = [() => mine.startForgetting(), () => mine.erase(), ...late];
    for (const work of forgotten) await expect(work()).rejects.toThrow(ChangedElsewhereError);
    expect(await store.read()).toEqual(before);
    await anew.erase(); // control: she herself may
    expect(await store.read()).toEqual({});
  });

  it("stays when she accepts a change; what does not fit the change goes", async () => {
    const store = await make();
    const home = await Home.open(store, secret());
    await decide(ratings(shown), solicitation(shown), passed, man, home.ledger);
    await home.keepPin(passed.pin);
    await home.keepCategory({ gender: "F" });
    await home.keepRatings(new Map([["item-0001", 65536]]));
    home.repin();
    expect(home.pin).toBeUndefined();
    expect((await Home.open(store)).pin?.text).toBe(passed.pin.text); // until one is accepted
    const weaker = accepted(disclosure({ n: 30, scheme: "dmp" }));
    await home.keepPin(weaker.pin);
    expect([home.categoryNames, home.ratings.size]).toEqual([{ gender: "F" }, 1]);
    home.repin();
    const halves = disclosure({ n: 30, points: [0, 65536], features: [AGE] });
    await home.keepPin(accepted(halves).pin);
    expect([home.categoryNames, home.ratings.size]).toEqual([undefined, 0]);
    const again = await Home.open(store);
    expect(again.pin?.scheme).toBe("dmpss");
    expect([again.token, again.ledger.text]).toEqual([home.token, home.ledger.text]);
    expect(again.ledger.rounds).toHaveLength(1);
  });

  it("goes with a home that keeps notes, and leaves nothing when it is erased", async () => {
    const store = await make();
    const home = await Home.open(store, secret());
    await home.keepRatings(new Map([["item-0001", 65536]]));
    await home.keepCategory({ gender: "F" });
    await home.settle(4);
    await home.keep("draft", "text");
    const again = await Home.open(store);
    expect([...again.ratings]).toEqual([["item-0001", 65536]]);
    expect(again.category?.cellIn(shown)).toBe(0);
    expect(again.notes.settled).toEqual([4]);
    expect(again.kept("draft")).toBe("text");
    expect(again.token).toBe(home.token);
    await again.erase();
    expect(await store.read()).toEqual({});
    expect(() => again.ledger).toThrow("forgotten");
    await expect(home.keepRatings(new Map())).rejects.toThrow(ChangedElsewhereError);
    expect((await Home.open(store)).token).not.toBe(home.token);
  });
});

it("tells a browser that does not keep anything from a ledger that was changed", async () => {
  const store = await IndexedDbStore.open("closed");
  const home = await Home.open(store, secret());
  store.close();
  await expect(home.keepRatings(new Map())).rejects.toThrow(StorageError);
  await expect(Home.open(store)).rejects.toThrow(StorageError);
  expect(() => Ledger.read("x\n", secret())).toThrow(BrokenSealError);
});

it("has the text and the pseudonym that the Python program makes of the same rounds", async () => {
  const one = cases("reports").find(({ name }) => name === "dmpss names, open");
  const store = new MemoryStore();
  const home = await Home.open(store, new DeviceSecret(hexToBytes(one.secret)));
  const category = new PrivateCategory(one.category);
  for (const step of one.rounds) {
    const rated = new Map(Object.entries<number>(step.ratings));
    const asked = Solicitation.parse(step.solicitation);
    const seen = accepted(Disclosure.parse(one.disclosure));
    await decide(rated, asked, seen, category, home.ledger);
  }
  // Made by Ledger and Home of midpoint.user with this secret and these rounds.
  expect(home.token).toBe("553922a1140941aeb6a262d7b64da6e345896e7873489f9663c2355ebd7e5aa9");
  expect(digest(utf8(home.ledger.text))).toBe(
    "327284adb2368d5b5fb0e7863942a758f73eceffc2cd79814d4a14a0b55d9d39",
  );
});

it("hides what is secret from what happens by mistake", () => {
  const hidden = [secret(), man];
  for (const one of hidden) {
    expect(`${one}`).toMatch(/^<\w+: hidden>$/);
    expect(() => JSON.stringify({ one })).toThrow("not serialized");
    expect(Object.keys(one)).toEqual([]);
    expect(structuredClone(one)).toEqual({});
  }
});
