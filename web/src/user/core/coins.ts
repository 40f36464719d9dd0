/**
 * Coins of a device: the same for an item for ever, whatever disclosure or round asks.
 *
 * coin = (first 53 bits, big-endian, of HMAC-SHA-256(secret, tag, item, purpose)) / 2^53, where each
 * part goes in after its length in four bytes, big-endian. Not keyed by the disclosure: a new
 * disclosure must not toss a withheld item again.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { utf8 } from "../../wire/canonical";
import { type DeviceSecret, framed } from "./private";

const TAG = utf8("midpoint/v1/coin");
/** What coins are for, in the order of their columns. */
export const PURPOSES = ["reveal", "value", "split", "mix"] as const;
export const [REVEAL, VALUE, SPLIT, MIX] = [0, 1, 2, 3] as const;
const TAILS = PURPOSES.map((purpose) => framed(utf8(purpose)));

/** One item's uniforms in [0, 1), in the order of PURPOSES. */
export type Uniforms = readonly [number, number, number, number];

/** Return the 53 bits of each of an item's coins as an integer, in the order of PURPOSES. */
export function coinBits(secret: DeviceSecret, item: string): readonly number[] {
  const head = framed(TAG, utf8(item));
  return TAILS.map((tail) => {
    const bytes = secret.prf(concatBytes(head, tail));
    let first48 = 0;
    for (let i = 0; i < 6; i++) first48 = first48 * 256 + bytes[i];
    return first48 * 32 + (bytes[6] >> 3);
  });
}

/** Coins never change, and what would leave is shown again with every star that she gives. */
const TOSSED = new WeakMap<DeviceSecret, Map<string, Uniforms>>();

/** Return uniforms in [0, 1), one row per item. */
export function toss(secret: DeviceSecret, items: readonly string[]): Uniforms[] {
  const tossed = TOSSED.get(secret) ?? new Map<string, Uniforms>();
  TOSSED.set(secret, tossed);
  return items.map((item) => {
    const known = tossed.get(item);
    if (known) return known;
    const [reveal, value, split, mix] = coinBits(secret, item).map((bits) => bits / 2 ** 53);
    const uniforms = [reveal, value, split, mix] as const;
    tossed.set(item, uniforms);
    return uniforms;
  });
}
