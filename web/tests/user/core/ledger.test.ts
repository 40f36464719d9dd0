import "fake-indexeddb/auto";
import { hexToBytes } from "@noble/hashes/utils.js";
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
const man = new PrivateCategory({ gender: "M" });
const secret = () => new DeviceSecret(SECRET);
let databases = 0;
const STORES: [string, () => Promise<Store>][] = [
  ["memory", async () => new MemoryStore()],
  ["IndexedDB", () => IndexedDbStore.open(`test ${databases++}`)],
];

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
    const ours = await answered(store);
    const other = Ledger.open(store, await store.read());
    await decide(ratings(shown, 8), solicitation(shown, 2), passed, man, other);
    const late = decide(ratings(shown, 9), solicitation(shown, 3), passed, man, ours);
    await expect(late).rejects.toThrow(ChangedElsewhereError);
    expect((await store.read()).ledger).toBe(other.text);
    expect(ours.answered(3)).toBeUndefined();
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
    const ours = await Home.open(store, secret());
    const other = await Home.open(store);
    await other.startForgetting();
    const asked = solicitation(shown);
    const late = [
      () => decide(ratings(shown), asked, passed, man, ours.ledger),
      () => ours.keepRatings(new Map()),
      () => ours.keepPin(passed.pin),
      () => ours.keep("draft", "text"),
    ];
    for (const work of late) await expect(work()).rejects.toThrow(ChangedElsewhereError);
    expect(ours.ledger.rounds).toEqual([]);
    await ours.startForgetting(); // the wish itself may be noted twice
    await other.erase();
    const successor = await Home.open(store, DeviceSecret.generate());
    await successor.keepRatings(new Map([["item-0001", 65536]]));
    const before = await store.read();
    const forgotten = [() => ours.startForgetting(), () => ours.erase(), ...late];
    for (const work of forgotten) await expect(work()).rejects.toThrow(ChangedElsewhereError);
    expect(await store.read()).toEqual(before);
    await successor.erase(); // control: she herself may
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

  it("that is older than the notes is refused: an older copy was put back", async () => {
    const store = await make();
    const home = await Home.open(store, secret());
    await Home.open(store); // the control
    await home.settle(4);
    await expect(Home.open(store)).rejects.toThrow("round 4 was sent");
  });

  it("goes with a home that keeps notes, and leaves nothing when it is erased", async () => {
    const store = await make();
    const home = await Home.open(store, secret());
    await home.keepRatings(new Map([["item-0001", 65536]]));
    await home.keepCategory({ gender: "F" });
    await home.keep("draft", "text");
    const again = await Home.open(store);
    expect([...again.ratings]).toEqual([["item-0001", 65536]]);
    expect(again.category?.cellIn(shown)).toBe(0);
    expect(again.kept("draft")).toBe("text");
    expect(again.token).toBe(home.token);
    await again.erase();
    expect(await store.read()).toEqual({});
    expect(() => again.ledger).toThrow("forgotten");
    await expect(home.keepRatings(new Map())).rejects.toThrow(ChangedElsewhereError);
    expect((await Home.open(store)).token).not.toBe(home.token);
  });
});

it("distinguishes a browser that does not keep anything from a ledger that was changed", async () => {
  const store = await IndexedDbStore.open("closed");
  const home = await Home.open(store, secret());
  store.close();
  await expect(home.keepRatings(new Map())).rejects.toThrow(StorageError);
  await expect(Home.open(store)).rejects.toThrow(StorageError);
  expect(() => Ledger.read("x\n", secret())).toThrow(BrokenSealError);
});

it("has the text and the pseudonym that the Python program makes of the same rounds", async () => {
  const recorded = cases("reports").find(({ name }) => name === "dmpss names, open");
  const store = new MemoryStore();
  const home = await Home.open(store, new DeviceSecret(hexToBytes(recorded.secret)));
  const category = new PrivateCategory(recorded.category);
  for (const step of recorded.rounds) {
    const rated = new Map(Object.entries<number>(step.ratings));
    const asked = Solicitation.parse(step.solicitation);
    const seen = accepted(Disclosure.parse(recorded.disclosure));
    await decide(rated, asked, seen, category, home.ledger);
  }
  // Made by Ledger and Home of midpoint.user with this secret and these rounds.
  expect(home.token).toBe("553922a1140941aeb6a262d7b64da6e345896e7873489f9663c2355ebd7e5aa9");
  expect(digest(utf8(home.ledger.text))).toBe(
    "327284adb2368d5b5fb0e7863942a758f73eceffc2cd79814d4a14a0b55d9d39",
  );
});
