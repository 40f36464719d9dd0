/** What all messages share: strict fields, the exact bytes, their digest. */
import { digest, encode, utf8 } from "./canonical";
import { type Field, type Fields, integer, type Path, part, refuse } from "./fields";
import { type Json, read, textOf } from "./json";
import { RefusedError } from "./refusal";

/** Version of the wire format that this program speaks. */
export const VERSION = 1;

/** What every message carries; two are the same when their texts are. */
export interface Message {
  readonly version: number;
  /** The exact text: the one received, or the canonical one of a message made here. */
  readonly text: string;
  /** The exact bytes. */
  readonly raw: Uint8Array;
  /** SHA-256 of the exact bytes. */
  readonly digest: string;
}

/** A kind of message: how it is read, made and signed; `M` is what it can be asked besides. */
export interface Kind<T, M = unknown> {
  /** What a signature over it is bound to, so that it is good for no other kind of message. */
  readonly domain: string;
  /** Read a message, or refuse it with a code; its bytes stay exactly these. */
  parse(source: Uint8Array | string): T & M & Message;
  /** Make a message, checked, in canonical form. */
  make(content: T): T & M & Message;
  /** Read one inside another message, in canonical form. */
  readonly field: Field<T & M & Message>;
}

/** The message that a kind reads. */
export type MessageOf<K> = K extends Kind<infer T, infer M> ? T & M & Message : never;

const whole = integer(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

const version: Field<number> = (value, path) => {
  const spoken = whole(value, path);
  if (spoken !== VERSION) {
    const remedy = "update the older side";
    refuse("unknown_version", path, `this program speaks ${VERSION}, not ${spoken}; ${remedy}`);
  }
  return spoken;
};

/**
 * Define a kind of message by its fields; `rule` looks at the whole.
 *
 * `members` are added to each message and are no part of its text.
 */
export function kind<S extends Record<string, Field<unknown>>, M extends object = object>(
  domain: string,
  fields: S,
  rule?: (content: Fields<S>, path: Path) => void,
  members: (content: Fields<S>) => M = () => ({}) as M,
): Kind<Fields<S>, M> {
  type Made = Fields<S> & M & Message;
  const body = part({ version, ...fields }, rule as never) as unknown as Field<Fields<S>>;
  const inside = (value: Json, path: Path, text?: string): Made => {
    const said = value instanceof Map && value.has("version");
    const given = value instanceof Map && !said ? new Map([["version", VERSION], ...value]) : value;
    const content = body(given, path);
    if (!said) refuse("missing_field", path, "it does not say its version");
    return sealed(content, text ?? encode(content), members(content)) as Made;
  };
  const parse = (source: Uint8Array | string): Made => {
    const text = textOf(typeof source === "string" ? utf8(source) : source);
    try {
      return inside(read(text), [], text);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      throw new RefusedError(error.code, `${domain}: ${error.sentence}`);
    }
  };
  return {
    domain,
    parse,
    make: (content) => parse(encode({ version: VERSION, ...content })),
    field: (value, path) => inside(value, path),
  };
}

/** Attach the exact text and the members; bytes and digest are worked out when asked for. */
function sealed(content: object, text: string, members: object): object {
  let known: string | undefined;
  const attached = {
    get text() {
      return text;
    },
    get raw() {
      return utf8(text);
    },
    get digest() {
      known ??= digest(utf8(text));
      return known;
    },
  };
  for (const source of [attached, members]) {
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(source))) {
      Object.defineProperty(content, name, { ...member, enumerable: false });
    }
  }
  return Object.freeze(content);
}
