/** What the extension keeps: one database for each service, in its own origin. */

import {
  Home,
  IndexedDbStore,
  KnownElsewhereError,
  Pin,
  Proof,
  type RequireOnlyOne,
} from "../index";
import { IN_PANEL } from "../user/agent/home";
import { signingKeys } from "../user/checks/proof";
import { LEDGER, remembered } from "../user/core/ledger";
import { addressIn, databaseOf } from "./address";

/** The services about which something is kept, in order. */
export async function services(): Promise<string[]> {
  const databases = await indexedDB.databases();
  const addresses = databases.map(({ name }) => addressIn(name ?? ""));
  return addresses.filter((address) => address !== null).sort();
}

/** Return what refuses a service that is kept under another address than this one. */
export function onlyOne(address: string): RequireOnlyOne {
  return async (keys) => {
    for (const other of (await services()).filter((one) => one !== address)) {
      if ((await knownKeys(other)).some((key) => keys.has(key))) {
        throw new KnownElsewhereError(`this service is known here as ${other}`);
      }
    }
  };
}

/** The key of a pin, and all that ever signed: either side may not know the newest one. */
async function knownKeys(address: string): Promise<string[]> {
  const store = await IndexedDbStore.open(databaseOf(address));
  const keys: string[] = [];
  try {
    const { pin, proof } = await store.read();
    if (pin !== undefined) keys.push(Pin.parse(pin).key);
    if (proof !== undefined) keys.push(...signingKeys(Proof.parse(proof)));
    return keys;
  } catch {
    return keys; // another service's trouble, reported when that one is used
  } finally {
    store.close();
  }
}

/**
 * Delete what is kept about a service, unless something was sent there; return whether it is gone.
 *
 * Without the ledger the same titles would be decided again, and without the secret a member of the
 * panel could not leave it. *Forget me* on the page erases both halves, and then nothing stands here.
 */
export async function remove(address: string): Promise<boolean> {
  const store = await IndexedDbStore.open(databaseOf(address));
  const erased = await eraseUnused(store);
  store.close();
  if (erased) await deleted(databaseOf(address));
  return erased;
}

/** Erase a store if nothing was sent; look and erase at once, since other tabs may send. */
async function eraseUnused(store: IndexedDbStore): Promise<boolean> {
  try {
    const { ledger } = await Home.open(store);
    if (ledger.rounds.length > 0) return false;
    const unused = { [LEDGER]: ledger.text, [IN_PANEL]: undefined };
    await store.erase({ ...remembered(ledger.secret), ...unused });
    return true;
  } catch {
    return false; // in use; or broken, and so perhaps somebody's who is known there
  }
}

function deleted(database: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(database);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}
