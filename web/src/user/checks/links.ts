/** What a device refuses of the analyst's list: its signatures, its links, what others saw of it. */
import { Entry } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import { type Signed, verify } from "../../wire/signing";
import { type Pin, REMEDY, type Witness } from "./pin";

/** Open the entries, refusing any that the pinned (or else the first) key did not sign. */
export function signedEntries(chain: readonly Signed[], pin?: Pin): Entry[] {
  const entries = chain.map(({ body }) => Entry.parse(body));
  if (entries.length === 0) {
    throw new RefusedError("chain_gap", "no entry of the analyst's list was shown");
  }
  const key = pin?.key ?? entries[0].key;
  entries.forEach((entry, i) => {
    if (entry.key !== key) {
      throw new RefusedError(
        "key_changed",
        `entry ${entry.sequence} is signed by another key than the one pinned; ask the service, by another way, whether it changed its key; ${REMEDY}`,
      );
    }
    if (!verify(chain[i], key, Entry)) {
      throw new RefusedError("bad_signature", `entry ${entry.sequence} is not signed`);
    }
  });
  return entries;
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

/** Refuse a list that is not the one an independent party saw. */
export function requireWitnessed(entries: readonly Entry[], witness?: Witness): void {
  if (!witness) return;
  if (witness.sequence < entries[0].sequence - 1) {
    throw new RefusedError("chain_gap", `the list does not reach back to ${witness.sequence}`);
  }
  const ahead = witness.sequence > entries[entries.length - 1].sequence;
  if (ahead || digestAt(entries, witness.sequence) !== witness.head) {
    throw new RefusedError(
      "witness_disagrees",
      `an independent witness saw another entry ${witness.sequence}`,
    );
  }
}

/** Return the digest of an entry in the list, or of the one just before it. */
function digestAt(entries: readonly Entry[], sequence: number): string | undefined {
  const index = sequence - entries[0].sequence;
  return index < 0 ? entries[0].previous : entries[index].digest;
}
