/** Bytes on the wire: canonical JSON out, one order of names, SHA-256 over exactly what was sent. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { MidpointError } from "../errors";

const WRITER = new TextEncoder();

/** Return the bytes of a text in UTF-8. */
export function utf8(text: string): Uint8Array {
  return WRITER.encode(text);
}

/** Return the canonical form: keys sorted by code point, no spaces; what is undefined is left out. */
export function encode(content: unknown): string {
  if (Array.isArray(content)) return `[${content.map(encode).join(",")}]`;
  if (typeof content === "number" && !Number.isSafeInteger(content)) {
    throw new MidpointError(`${content} is not a whole number that every language knows exactly`);
  }
  if (content === null || typeof content !== "object") return JSON.stringify(content);
  const kept = Object.entries(content).filter(([, value]) => value !== undefined);
  kept.sort(([a], [b]) => compare(a, b));
  return `{${kept.map(([key, value]) => `${JSON.stringify(key)}:${encode(value)}`).join(",")}}`;
}

/** Return the SHA-256 of these bytes in hexadecimal. */
export function digest(raw: Uint8Array): string {
  return bytesToHex(sha256(raw));
}

/**
 * Order two texts by code point, as Python does: negative, zero or positive.
 *
 * JavaScript compares UTF-16 units, in which characters beyond U+FFFF (surrogates, D800 to DFFF)
 * come before U+E000 to U+FFFF. Where texts first differ, surrogates are lifted above those.
 */
export function compare(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return lifted(x) - lifted(y);
  }
  return a.length - b.length;
}

function lifted(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
