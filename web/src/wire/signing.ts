/** Ed25519 signatures over exact bytes, bound to the kind of message. */
import { ed25519 } from "@noble/curves/ed25519.js";
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
    return ed25519.verify(
      hexToBytes(signed.signature),
      bound(of.domain, signed.body),
      hexToBytes(publicKey),
      { zip215: false }, // by RFC 8032, as the Python side does
    );
  } catch {
    return false;
  }
}

function bound(domain: string, body: string): Uint8Array {
  return concatBytes(utf8(`midpoint/v1/${domain}\n`), utf8(body));
}
