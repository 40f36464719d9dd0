/** What a field may hold: readers that take a value as it is or refuse it, saying where. */
import { compare } from "./canonical";
import { type Json, LARGEST } from "./json";
import { type Refusal, RefusedError } from "./refusal";

/** Where in a message a reader is; a refusal names it. */
export type Path = (string | number)[];
export type Field<T> = (value: Json, path: Path) => T;
/** The type that a reader yields. */
export type Of<F> = F extends Field<infer T> ? T : never;

/** Refuse what stands at this path. */
export function refuse(code: Refusal, path: Path, sentence: string): never {
  throw new RefusedError(code, `refused at ${path.join(".") || "the whole"}: ${sentence}`);
}

/** A whole number within bounds. */
export function integer(least = -LARGEST, most = LARGEST): Field<number> {
  return (value, path) => {
    if (typeof value !== "number") refuse("not_an_integer", path, "a whole number is needed");
    if (value < least || value > most) refuse("wrong_shape", path, `not in ${least} .. ${most}`);
    return value;
  };
}

export const count = integer(0);
/** Whole seconds since 1970 in UTC. */
export const seconds = count;

export const flag: Field<boolean> = (value, path) =>
  typeof value === "boolean" ? value : refuse("wrong_shape", path, "true or false is needed");

/** Any text whose length, in characters, is within bounds. */
export function text(least = 0, most = Number.POSITIVE_INFINITY): Field<string> {
  return (value, path) => {
    if (typeof value !== "string") refuse("wrong_shape", path, "a text is needed");
    // Only a text that may be too long is counted by characters rather than UTF-16 units.
    const length = value.length <= most ? value.length : [...value].length;
    if (length < least || length > most) refuse("wrong_shape", path, `${length} characters`);
    return value;
  };
}

/** A text of this form. */
export function pattern(form: RegExp): Field<string> {
  const any = text();
  return (value, path) => {
    const given = any(value, path);
    return form.test(given) ? given : refuse("wrong_shape", path, `not of the form ${form.source}`);
  };
}

export const digestField = pattern(/^[0-9a-f]{64}$/);
export const publicKey = digestField;

/** Printable ASCII needs no look at Unicode's tables. */
const ASCII = /^[!-~](?:[ -~]*[!-~])?$/;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]/u;
const shortText = text(1, 256);

/**
 * A name that looks like no other: a decision is final by the name of its item.
 *
 * No control or format characters, no spaces but the plain one and that not at the ends, and
 * composed (NFC).
 */
export const name: Field<string> = (value, path) => {
  const given = shortText(value, path);
  if (ASCII.test(given)) return given;
  const outer = given.startsWith(" ") || given.endsWith(" ");
  if (outer || UNSEEN.test(given.replaceAll(" ", "")) || given.normalize("NFC") !== given) {
    const why = "characters that do not show, outer spaces, or not NFC";
    refuse("bad_name", path, `the name ${JSON.stringify(given)} has ${why}`);
  }
  return given;
};

/** A text that prints as one line: no control characters, line ends or turns of direction. */
export function oneLine(least: number, most: number): Field<string> {
  const bounded = text(least, most);
  return (value, path) => {
    const given = bounded(value, path);
    if (/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(given))
      refuse("bad_name", path, "control characters");
    return given;
  };
}

/** A list of at least so many. */
export function list<T>(each: Field<T>, least = 0): Field<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) refuse("wrong_shape", path, "a list is needed");
    const depth = path.length;
    const values = value.map((entry, i) => {
      path[depth] = i;
      return each(entry, path);
    });
    path.length = depth;
    if (values.length < least) refuse("wrong_shape", path, `at least ${least} are needed`);
    return values;
  };
}

/** A list of exactly two. */
export function pair<A, B>(first: Field<A>, second: Field<B>): Field<readonly [A, B]> {
  return (value, path) => {
    if (!Array.isArray(value)) refuse("wrong_shape", path, "a pair is needed");
    if (value.length > 2) refuse("too_long", path, "a pair is needed");
    const depth = path.length;
    const at = <T>(i: number, field: Field<T>): T => {
      path[depth] = i;
      if (i >= value.length) refuse("missing_field", path, "a pair is needed");
      return field(value[i], path);
    };
    const both = [at(0, first), at(1, second)] as const;
    path.length = depth;
    return both;
  };
}

/** A field that may be absent. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  const read: Field<T | undefined> = (value, path) =>
    value === null ? undefined : field(value, path);
  ABSENT.add(read as Field<unknown>);
  return read;
}
const ABSENT = new WeakSet<Field<unknown>>();

/** An object with these fields and no other; `rule` then looks at the whole. */
export function part<S extends Record<string, Field<unknown>>>(
  fields: S,
  rule: (content: Fields<S>, path: Path) => void = () => {},
): Field<Fields<S>> {
  return (value, path) => {
    if (!(value instanceof Map)) refuse("wrong_shape", path, "an object is needed");
    const content: Record<string, unknown> = {};
    const depth = path.length;
    for (const [key, field] of Object.entries(fields)) {
      const given = value.get(key);
      path[depth] = key;
      if (given !== undefined) content[key] = field(given, path);
      else if (!ABSENT.has(field)) refuse("missing_field", path, "it is needed");
    }
    for (const key of value.keys()) {
      path[depth] = key;
      if (!Object.hasOwn(fields, key)) refuse("unknown_field", path, "it is not known");
    }
    path.length = depth;
    rule(content as Fields<S>, path);
    return content as Fields<S>;
  };
}

type MayLack<S> = { [K in keyof S]: undefined extends Of<S[K]> ? K : never }[keyof S];
/** What a part with these fields is read into. */
export type Fields<S> = { readonly [K in Exclude<keyof S, MayLack<S>>]: Of<S[K]> } & {
  readonly [K in MayLack<S>]?: Of<S[K]>;
};

/** Refuse names that are not sorted by code point, each once: one order for all languages. */
export function requireAscending(names: readonly string[], what: string, path: Path): void {
  for (let i = 1; i < names.length; i++) {
    if (compare(names[i - 1], names[i]) >= 0) {
      refuse("wrong_shape", path, `${what} are not in ascending order, each once`);
    }
  }
}
