/** What the extension keeps: one database for each service, in its own origin. */

import { Home, IndexedDbStore } from "../index";
import { addressIn, databaseOf } from "./address";

/** The services about which something is kept, in order. */
export async function services(): Promise<string[]> {
  const databases = await indexedDB.databases();
  const addresses = databases.map(({ name }) => addressIn(name ?? ""));
  return addresses.filter((address) => address !== null).sort();
}

/**
 * Delete what is kept about a service, unless something was decided there; whether it is gone.
 *
 * Without the ledger the same titles would be decided again. *Forget me* on the page erases both
 * halves, and then nothing stands here.
 */
export async function remove(address: string): Promise<boolean> {
  const store = await IndexedDbStore.open(databaseOf(address));
  const open = await isOpen(store);
  store.close();
  if (open) await deleted(databaseOf(address));
  return open;
}

async function isOpen(store: IndexedDbStore): Promise<boolean> {
  try {
    const { ledger, forgetting } = await Home.open(store);
    return ledger.rounds.length === 0 && !forgetting;
  } catch {
    return false; // broken, and so perhaps somebody's who is known there
  }
}

function deleted(database: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(database);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}
