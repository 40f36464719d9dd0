/** Ed25519 signatures over exact bytes, bound to the kind of message. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, randomBytes } from "@noble/hashes/utils.js";
import { utf8 } from "./canonical";
import { pattern, text } from "./fields";
import { type Kind, kind, type Message, type MessageOf } from "./message";

/** A message as its exact text, and Ed25519 over "midpoint/v1/" + kind + newline + body. */
export const Signed = kind("signed", { body: text(), signature: pattern(/^[0-9a-f]{128}$/) });
export type Signed = MessageOf<typeof Signed>;

/** A private Ed25519 key; it does not print. */
export class SigningKey {
  readonly #seed: Uint8Array;

  constructor(seed: Uint8Array) {
    this.#seed = seed.slice();
  }

  static generate(): SigningKey {
    return new SigningKey(randomBytes(32));
  }

  /** The public key in hexadecimal. */
  get public(): string {
    return bytesToHex(ed25519.getPublicKey(this.#seed));
  }

  /** Sign a message's exact bytes. */
  seal<T>(of: Kind<T>, message: T & Message): Signed {
    const signature = bytesToHex(ed25519.sign(bound(of.domain, message.text), this.#seed));
    return Signed.make({ body: message.text, signature });
  }
}

/** Return whether this key signed it as a message of this kind. */
export function verify<T>(signed: Signed, publicKey: string, of: Kind<T>): boolean {
  try {
    const message = bound(of.domain, signed.body);
    return isSignature(hexToBytes(signed.signature), message, hexToBytes(publicKey));
  } catch {
    return false;
  }
}

/**
 * Check S B - k A = R, to the last byte of R: RFC 8032 without the cofactor, as the Python side does.
 *
 * The library's own check multiplies both sides by 8. So it takes signatures that others refuse, and
 * a service could show an entry to pages alone, which then proves nothing to anybody else.
 */
function isSignature(signature: Uint8Array, message: Uint8Array, key: Uint8Array): boolean {
  const { Point } = ed25519;
  const [R, S] = [signature.subarray(0, 32), bytesToNumberLE(signature.subarray(32))];
  const A = Point.fromBytes(key);
  const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(R, key, message))));
  const expected = Point.BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).toBytes();
  return !A.isSmallOrder() && expected.every((byte, i) => byte === R[i]);
}

function bound(domain: string, body: string): Uint8Array {
  return concatBytes(utf8(`midpoint/v1/${domain}\n`), utf8(body));
}
