import { IDBFactory } from "fake-indexeddb";
import { beforeEach, expect, test, vi } from "vitest";
import { databaseOf } from "../../src/extension/address";
import { onlyOne, remove, services } from "../../src/extension/kept";
import { Home, IndexedDbStore, KnownElsewhereError, Pin, Proof } from "../../src/index";
import { ANALYST, chain, disclosure } from "../support/made_up";

const [HERE, THERE] = ["https://films.example", "https://books.example"];

const PINNED = Pin.make({
  key: "1".repeat(64),
  sequence: 0,
  head: "2".repeat(64),
  features: [{ name: "gender", categories: ["F", "M"] }],
  scale: { low: 65536, high: 131072, levels: [65536, 131072] },
  scheme: "dmpss",
});
const OTHER = Pin.make({ ...PINNED, key: "3".repeat(64) });

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

async function opened(address: string): Promise<{ home: Home; store: IndexedDbStore }> {
  const store = await IndexedDbStore.open(databaseOf(address));
  return { home: await Home.open(store), store };
}

test("services are kept apart: another secret, another pseudonym", async () => {
  const { home: here } = await opened(HERE);
  const { home: there } = await opened(THERE);
  (await IndexedDbStore.open("something else")).close();
  expect(here.token).not.toBe(there.token);
  expect(await services()).toEqual([THERE, HERE]);
});

test("a service that is kept under another address is refused a second secret", async () => {
  const { store } = await opened(THERE);
  const pin = PINNED.text;
  await store.write({ pin });
  await onlyOne(THERE)(new Set([PINNED.key])); // its own
  const here = await IndexedDbStore.open(databaseOf(HERE));
  const home = await Home.open(here, undefined, onlyOne(HERE));
  await expect(home.keepPin(PINNED)).rejects.toThrow(`known here as ${THERE}`);
  await expect(home.keepPin(OTHER, [PINNED.key])).rejects.toThrow(KnownElsewhereError);
  await store.write({ pin: "broken" });
  await home.keepPin(PINNED); // the control
  expect(home.pin?.text).toBe(pin);
});

test("a service is known by every key that ever signed for it, also before the pinned one", async () => {
  const { store } = await opened(THERE);
  const proof = Proof.make({ shown: chain([disclosure({ n: 2 })]), others: [] }).text;
  await store.write({ pin: OTHER.text, proof });
  const keys = new Set([ANALYST.public]);
  await expect(onlyOne(HERE)(keys)).rejects.toThrow(`known here as ${THERE}`);
  await store.write({ proof: undefined });
  await onlyOne(HERE)(keys); // the control
});

test("a service where nothing was decided is removed whole", async () => {
  await opened(HERE);
  await opened(THERE);
  expect(await remove(HERE)).toBe(true);
  expect(await services()).toEqual([THERE]);
});

test.each([
  ["she asked to be forgotten and it is not finished", { forgetting: "yes" }],
  ["what is kept is broken", { ledger: "x\n" }],
  ["she is in the panel", { "app/joined": "yes" }],
])("nothing is removed while %s", async (_, changes) => {
  const { store } = await opened(HERE);
  await store.write(changes);
  expect(await remove(HERE)).toBe(false);
  expect(await services()).toEqual([HERE]);
});

test.each([
  ["she joins the panel", { "app/joined": "yes" }],
  ["she answers", { ledger: "a longer one\n" }],
])("nothing is removed if %s in another tab at this moment", async (_, changes) => {
  const { store } = await opened(HERE);
  const open = Home.open.bind(Home);
  vi.spyOn(Home, "open").mockImplementationOnce(async (...given) => {
    const home = await open(...given);
    await store.write(changes);
    return home;
  });
  expect(await remove(HERE)).toBe(false);
  expect(await services()).toEqual([HERE]);
});
