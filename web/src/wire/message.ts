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

/** A kind of message: how it is read, made and signed. */
export interface Kind<T> {
  /** What a signature over it is bound to, so that it is good for no other kind of message. */
  readonly domain: string;
  /** Read a message, or refuse it with a code; its bytes stay exactly these. */
  parse(source: Uint8Array | string): T & Message;
  /** Make a message, checked, in canonical form. */
  make(content: T): T & Message;
  /** Read one inside another message, in canonical form. */
  readonly field: Field<T & Message>;
}

/** The message that a kind reads. */
export type MessageOf<K> = K extends Kind<infer T> ? T & Message : never;

const whole = integer(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

const version: Field<number> = (value, path) => {
  const found = whole(value, path);
  if (found !== VERSION) {
    const remedy = "update the older side";
    refuse("unknown_version", path, `this program speaks ${VERSION}, not ${found}; ${remedy}`);
  }
  return found;
};

/** Define a kind of message by its fields; `rule` looks at the whole. */
export function kind<S extends Record<string, Field<unknown>>>(
  domain: string,
  fields: S,
  rule?: (found: Fields<S>, path: Path) => void,
): Kind<Fields<S>> {
  const body = part({ version, ...fields }, rule as never) as unknown as Field<Fields<S>>;
  const inside = (value: Json, path: Path, text?: string): Fields<S> & Message => {
    const said = value instanceof Map && value.has("version");
    const given = value instanceof Map && !said ? new Map([["version", VERSION], ...value]) : value;
    const found = body(given, path);
    if (!said) refuse("missing_field", path, "it does not say its version");
    return sealed(found, text ?? encode(found));
  };
  const parse = (source: Uint8Array | string): Fields<S> & Message => {
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

/** Attach the exact text; bytes and digest are worked out when they are asked for. */
function sealed<T extends object>(found: T, text: string): T & Message {
  let known: string | undefined;
  const hidden = (get: () => unknown): PropertyDescriptor => ({ get, enumerable: false });
  Object.defineProperties(found, {
    text: hidden(() => text),
    raw: hidden(() => utf8(text)),
    digest: hidden(() => {
      known ??= digest(utf8(text));
      return known;
    }),
  });
  return Object.freeze(found) as T & Message;
}
