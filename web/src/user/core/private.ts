/** What must not leave the device: the private category and the secret behind the coins. */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, randomBytes } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import type { Disclosure } from "../../wire/disclosure";

const SECRET_BYTES = 32;

/**
 * Something that does not print, serialize or clone, and is not compared.
 *
 * JavaScript cannot stop code that digs for it; this stops what happens by mistake: a log line, an
 * error message, a cache. Private fields are left out of copies by the language itself.
 */
abstract class Hidden {
  toString(): string {
    return `<${this.constructor.name}: hidden>`;
  }

  toJSON(): never {
    throw new MidpointError(`${this.constructor.name} is not serialized`);
  }
}

/** The user's category of each private feature, by name. */
export class PrivateCategory extends Hidden {
  readonly #names: ReadonlyMap<string, string>;
  #inTheClear = false;

  constructor(names: Readonly<Record<string, string>>) {
    super();
    this.#names = new Map(Object.entries(names));
  }

  /**
   * Make one for somebody who says no category and agrees that nothing is protected.
   *
   * It is in no cell, so whatever would protect by it fails. A category drawn at random would look
   * like protection and be none.
   */
  static unprotected(): PrivateCategory {
    const category = new PrivateCategory({});
    category.#inTheClear = true;
    return category;
  }

  /** Whether her ratings leave as they are: only as `unprotected` made it. */
  get inTheClear(): boolean {
    return this.#inTheClear;
  }

  /** Make it from names such as gender: F, refusing those the disclosure does not know. */
  static of(disclosure: Disclosure, names: Readonly<Record<string, string>>): PrivateCategory {
    const category = new PrivateCategory(names);
    category.cellIn(disclosure);
    return category;
  }

  /**
   * Return the joint cell in row-major order: the last feature varies fastest.
   *
   * Names, not numbers, are kept: another service may order its features differently. A name that
   * is not known stops her when she enters it, once: features are pinned.
   */
  cellIn(disclosure: Disclosure): number {
    const { features } = disclosure;
    const known = new Set(features.map(({ name }) => name));
    const unprotected = [...this.#names.keys()].filter((name) => !known.has(name)).sort();
    if (unprotected.length > 0) {
      throw new MidpointError(`the disclosure does not protect ${unprotected.join(", ")}`);
    }
    const cell = disclosure.cell(this.#names);
    if (cell !== undefined) return cell;
    const wrong = features.find(
      ({ name, categories }) => !categories.includes(this.#names.get(name) ?? ""),
    );
    // The message must not name what she is.
    throw new MidpointError(
      `feature '${wrong?.name}' needs one of ${wrong?.categories.join(", ")}`,
    );
  }
}

/** 32 random bytes from which a device derives its coins; other uses have other tags. */
export class DeviceSecret extends Hidden {
  readonly #key: Uint8Array;
  readonly #keyed: ReturnType<typeof hmac.create>;

  constructor(key: Uint8Array) {
    super();
    if (key.length !== SECRET_BYTES) {
      throw new MidpointError(`a device secret has ${SECRET_BYTES} bytes, not ${key.length}`);
    }
    this.#key = key.slice();
    this.#keyed = hmac.create(sha256, this.#key);
  }

  /** Make a new one from the system's randomness. */
  static generate(): DeviceSecret {
    return new DeviceSecret(randomBytes(SECRET_BYTES));
  }

  /** Read what `saved` gave. */
  static load(saved: string): DeviceSecret {
    if (!/^[0-9a-f]{64}\n$/.test(saved)) {
      throw new MidpointError("this is not a device secret; restore it together with its ledger");
    }
    return new DeviceSecret(hexToBytes(saved.trim()));
  }

  /** The text that this device's own storage keeps, and that nobody else may see. */
  saved(): string {
    return `${bytesToHex(this.#key)}\n`;
  }

  /** Return HMAC-SHA-256 of a message, which is to be made by `framed`. */
  prf(message: Uint8Array): Uint8Array {
    // Starting from the key each time takes twice as long.
    return this.#keyed.clone().update(message).digest();
  }
}

/** Join parts, each after its length in four bytes, big-endian: no two lists look the same. */
export function framed(...parts: readonly Uint8Array[]): Uint8Array {
  return concatBytes(
    ...parts.flatMap((part) => {
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, part.length);
      return [length, part];
    }),
  );
}
