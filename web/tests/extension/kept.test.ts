import { IDBFactory } from "fake-indexeddb";
import { beforeEach, expect, test } from "vitest";
import { databaseOf } from "../../src/extension/address";
import { remove, services } from "../../src/extension/kept";
import { Home, IndexedDbStore } from "../../src/index";

const [HERE, THERE] = ["https://films.example", "https://books.example"];

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

test("a service where nothing was decided is removed whole", async () => {
  await opened(HERE);
  await opened(THERE);
  expect(await remove(HERE)).toBe(true);
  expect(await services()).toEqual([THERE]);
});

test.each([
  ["she asked to be forgotten and it is not finished", { forgetting: "yes" }],
  ["what is kept is broken", { ledger: "x\n" }],
])("nothing is removed while %s", async (_, changes) => {
  const { store } = await opened(HERE);
  await store.write(changes);
  expect(await remove(HERE)).toBe(false);
  expect(await services()).toEqual([HERE]);
});
