/**
 * What a device keeps of an analyst's signed list, also of what it refused: proof for others.
 *
 * Two entries with one number and one key prove that the analyst showed people different lists.
 */
import { list, name, optional } from "../../wire/fields";
import { MOST_OTHERS, MOST_SHOWN } from "../../wire/listing";
import { kind, type MessageOf } from "../../wire/message";
import { Entry, WitnessStatement } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import { Signed, verify } from "../../wire/signing";
import { REMEDY } from "./pin";

/**
 * The signed entries that this device was shown, and what a witness signed about them.
 *
 * `shown` is the list as it was first shown, entry by entry, the first `MOST_SHOWN` of them; `others`
 * are entries that the same service signed and that are not in that list; the key of the last
 * `witness` is held on to, and so is its address, where it was `asked`.
 */
export const Proof = kind("proof", {
  shown: list(Signed.field),
  others: list(Signed.field),
  witness: optional(Signed.field),
  asked: optional(name),
});
export type Proof = MessageOf<typeof Proof>;
export const NOTHING = Proof.make({ shown: [], others: [] });

/** Refuse a list of which another version was shown before, accepted or not. */
export function requireUnforked({ shown }: Proof, chain: readonly Signed[]): void {
  const known = new Map(shown.map(opened).map(({ sequence, digest }) => [sequence, digest]));
  for (const { sequence, digest } of chain.map(opened)) {
    if ((known.get(sequence) ?? digest) !== digest) {
      throw new RefusedError(
        "chain_forked",
        `entry ${sequence} is not the one that this device was shown before; both are kept, signed, as proof; ${REMEDY}`,
      );
    }
  }
}

/**
 * Return it with the genuine entries of a list, which may be another one.
 *
 * Genuine is what is signed by `key`, by a key of the list as it was shown, or by one that such a key
 * vouched for.
 */
export function adding(proof: Proof, chain: readonly Signed[], key: string): Proof {
  const before = proof.shown.map(opened);
  const known = new Set(before.map(({ digest }) => digest));
  const keys = new Set([key, ...before.flatMap((entry) => [entry.key, nextKey(entry)])]);
  const fresh = chain.filter(
    (signed) => isGenuine(signed, keys) && !known.has(opened(signed).digest),
  );
  if (fresh.length === 0 || proof.shown.length === MOST_SHOWN) return proof;
  if (isLinked([...proof.shown.slice(-1), ...fresh])) {
    const shown = [...proof.shown, ...fresh].slice(0, MOST_SHOWN);
    return Proof.make({ ...proof, shown });
  }
  return Proof.make({ ...proof, others: merged(proof.others, fresh) });
}

/** Return it for another list, because she agreed to the change; the old one stays kept. */
export function beginning(proof: Proof, chain: readonly Signed[]): Proof {
  const now = new Set(chain.map(({ digest }) => digest));
  const left = proof.shown.filter(({ digest }) => !now.has(digest));
  const shown = chain.slice(0, MOST_SHOWN);
  return Proof.make({ ...proof, shown, others: merged(proof.others, left) });
}

/** Return it with a witness's newest statement, and where it was asked. */
export function seeing(proof: Proof, witness: Signed | undefined, address?: string): Proof {
  const asked = address ?? proof.asked;
  if (!witness || (witness.text === proof.witness?.text && asked === proof.asked)) return proof;
  return Proof.make({ ...proof, witness, asked });
}

/** All keys that ever signed for the service, in the list as it was shown. */
export function signingKeys({ shown }: Proof): string[] {
  return shown.map((signed) => opened(signed).key);
}

/** The key of the witness that was asked before; undefined if none was. */
export function witnessKey({ witness }: Proof): string | undefined {
  return witness && WitnessStatement.parse(witness.body).key;
}

function opened({ body }: Signed): Entry {
  return Entry.parse(body);
}

function nextKey({ key, successor }: Entry): string {
  return successor ?? key;
}

/** Tell whether one of these keys signed an entry; the successor that it names is added. */
function isGenuine(signed: Signed, keys: Set<string>): boolean {
  try {
    const entry = opened(signed);
    if (!keys.has(entry.key) || !verify(signed, entry.key, Entry)) return false;
    keys.add(nextKey(entry));
    return true;
  } catch (error) {
    if (error instanceof RefusedError) return false;
    throw error;
  }
}

function isLinked(chain: readonly Signed[]): boolean {
  const entries = chain.map(opened);
  return entries.every(({ previous }, i) => i === 0 || previous === entries[i - 1].digest);
}

function merged(kept: readonly Signed[], more: readonly Signed[]): Signed[] {
  const whole = new Map([...kept, ...more].map((signed) => [signed.digest, signed]));
  return [...whole.values()].slice(0, MOST_OTHERS);
}
