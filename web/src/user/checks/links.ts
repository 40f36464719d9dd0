/** What a device refuses of the analyst's list: its signatures, its links, what a witness saw. */
import { Entry, WitnessStatement } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import { type Signed, verify } from "../../wire/signing";
import { type Pin, REMEDY } from "./pin";

/**
 * Open the entries, refusing any that the pinned (or else the first) key did not sign.
 *
 * A key that an entry names as its successor signs from then on, and the one before does not.
 */
export function signedEntries(chain: readonly Signed[], pin?: Pin): Entry[] {
  const entries = chain.map(({ body }) => Entry.parse(body));
  if (entries.length === 0) {
    throw new RefusedError("chain_gap", "no entry of the analyst's list was shown");
  }
  let key = firstKey(entries, pin);
  entries.forEach((entry, i) => {
    const other = pin && entry.sequence === pin.sequence && entry.key !== pin.key;
    if (entry.key !== key || other) {
      throw new RefusedError(
        "key_changed",
        `entry ${entry.sequence} is signed by another key than the one pinned, which did not vouch for it; ${REMEDY}`,
      );
    }
    if (!verify(chain[i], key, Entry)) {
      throw new RefusedError("bad_signature", `entry ${entry.sequence} is not signed`);
    }
    key = entry.successor ?? entry.key;
  });
  return entries;
}

/**
 * Return the key that has to sign the first entry shown.
 *
 * Before the pinned entry there may be older keys: that entry names its past by digest, and is
 * compared with the pin. A list in which the pinned key is nowhere is somebody else's.
 */
function firstKey(entries: readonly Entry[], pin?: Pin): string {
  if (!pin) return entries[0].key;
  if (entries[0].sequence > pin.sequence) return pin.successor ?? pin.key;
  return entries.some(({ key }) => key === pin.key) ? entries[0].key : pin.key;
}

/** Refuse entries that do not follow each other. */
export function requireLinks(entries: readonly Entry[]): void {
  for (let i = 1; i < entries.length; i++) {
    const [before, after] = [entries[i - 1], entries[i]];
    if (after.sequence !== before.sequence + 1) {
      throw new RefusedError("chain_gap", `no entry follows entry ${before.sequence}`);
    }
    if (after.previous !== before.digest) {
      throw new RefusedError("chain_forked", `entry ${after.sequence} follows another past`);
    }
  }
}

/** Refuse a list that is older than the pin, does not reach it, or has another past. */
export function requireContinuation(entries: readonly Entry[], pin?: Pin): void {
  const [first, last] = [entries[0], entries[entries.length - 1]];
  if (!pin) {
    if (first.sequence !== 0) {
      throw new RefusedError("chain_gap", "on first use the list is needed from entry 0");
    }
  } else if (last.sequence < pin.sequence) {
    throw new RefusedError(
      "rolled_back",
      `entry ${pin.sequence} was accepted before; this list is older`,
    );
  } else if (first.sequence > pin.sequence + 1) {
    throw new RefusedError("chain_gap", `the list does not reach back to ${pin.sequence}`);
  } else if (digestAt(entries, pin.sequence) !== pin.head) {
    throw new RefusedError("chain_forked", `entry ${pin.sequence} is not the accepted one`);
  }
}

/** Read what a witness signed, refusing another key than the one held on to, or no signature. */
export function readStatement(signed: Signed, key: string | undefined): WitnessStatement {
  const statement = WitnessStatement.parse(signed.body);
  if (key !== undefined && statement.key !== key) {
    throw new RefusedError(
      "witness_changed",
      `the witness signs with another key, ${statement.key}; if it is theirs, name it`,
    );
  }
  if (!verify(signed, statement.key, WitnessStatement)) {
    throw new RefusedError("bad_signature", "the witness's statement is not signed");
  }
  return statement;
}

/** Refuse to go on without a witness where this device knows the key of one. */
export function requireWitness(known: string | undefined): void {
  if (known === undefined) return;
  throw new RefusedError(
    "not_witnessed",
    `this device knows a witness of this service, with key ${known}, and what it signed is missing; name it, or go on without it`,
  );
}

/**
 * Return the entry to answer under: without a witness the newest one.
 *
 * With a witness it is the newest that the witness has shown as current for `shownFor` seconds. An
 * entry appended for one person was never shown to the witness; one that was public for a moment was
 * not shown for long. Refused is a list other than the one that the witness saw, and one of which
 * nothing was shown for long enough.
 */
export function witnessedEntry(
  entries: readonly Entry[],
  pin: Pin | undefined,
  witness: WitnessStatement | undefined,
  shownFor: number,
): Entry {
  const [first, last] = [entries[0].sequence, entries[entries.length - 1].sequence];
  if (!witness) return entries[entries.length - 1];
  const seen = witness.entries.length - 1;
  if (seen < first - 1) {
    throw new RefusedError("chain_gap", `the list does not reach back to ${seen}`);
  }
  for (let sequence = Math.max(first - 1, 0); sequence <= seen; sequence++) {
    if (sequence > last || digestAt(entries, sequence) !== witness.entries[sequence]) {
      throw new RefusedError(
        "witness_disagrees",
        `an independent witness saw another entry ${sequence}`,
      );
    }
  }
  const chosen = witness.newestShownFor(shownFor);
  if (chosen === undefined || chosen < Math.max(first, pin?.sequence ?? 0)) {
    throw new RefusedError(
      "not_witnessed",
      `the witness has shown no entry for ${shownFor / 3600} hours that this device can answer under; come back later`,
    );
  }
  return entries[chosen - first];
}

/** Return the digest of an entry in the list, or of the one just before it. */
function digestAt(entries: readonly Entry[], sequence: number): string | undefined {
  const index = sequence - entries[0].sequence;
  return index < 0 ? entries[0].previous : entries[index].digest;
}
