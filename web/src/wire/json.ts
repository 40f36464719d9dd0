/** Strict JSON in: what two readers may understand differently is refused. */
import { RefusedError } from "./refusal";

/** Integers beyond this are not exact in every language, so they are refused. */
export const LARGEST = 2 ** 53 - 1;
/** Longer messages, in bytes, are refused unread: 64 MB hold half a million items. */
export const LARGEST_MESSAGE = 2 ** 26;
/** Deeper nesting than any message has. */
const DEEPEST = 200;

export type Json = null | boolean | number | string | Json[] | Map<string, Json>;

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
/** All but quote, backslash and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ["null", null],
  ["true", true],
  ["false", false],
]);
const NUMBER_WORDS = ["NaN", "Infinity", "-Infinity"];
/** Integers with so many digits are exact. */
const EXACT_DIGITS = 15;
/** Lists within lists of a column or a prior. */
const FEW_LEVELS = 5;

/** Return the text of these bytes, refusing too many of them and what is not UTF-8. */
export function textOf(raw: Uint8Array): string {
  if (raw.length > LARGEST_MESSAGE) {
    throw new RefusedError(
      "too_long",
      `${raw.length} bytes are more than the ${LARGEST_MESSAGE} of a message`,
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw notJson("it is not UTF-8");
  }
}

/** Read a text, refusing doubled keys and numbers that are not exact integers. */
export function read(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;
  #loneSurrogate = false;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Json {
    if (depth > DEEPEST) throw notJson("it is nested too deeply");
    this.#space();
    const next = this.#text[this.#at];
    if (next === "[") return this.#array(depth);
    if (next === '"') return this.#string();
    if (next === "{") return this.#object(depth);
    for (const [word, value] of WORDS) if (this.#word(word)) return value;
    for (const word of NUMBER_WORDS) if (this.#word(word)) throw notAnInteger(word);
    return this.#number();
  }

  /** Refuse what follows the value, and half a character, which Python reads and then refuses. */
  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
    if (this.#loneSurrogate) throw notJson("it holds half a character");
  }

  #object(depth: number): Json {
    const pairs: [string, Json][] = [];
    this.#at++;
    if (!this.#closes("}")) {
      do {
        this.#space();
        if (this.#text[this.#at] !== '"') throw this.#unexpected();
        const key = this.#string();
        this.#space();
        if (this.#text[this.#at++] !== ":") throw this.#unexpected();
        pairs.push([key, this.value(depth + 1)]);
      } while (this.#continues("}"));
    }
    const content = new Map<string, Json>();
    for (const [key, value] of pairs) {
      if (content.has(key)) {
        const shown = JSON.stringify(key.slice(0, 40));
        throw new RefusedError("duplicate_key", `the key ${shown} appears twice in one object`);
      }
      content.set(key, value);
    }
    return content;
  }

  #array(depth: number): Json {
    const values: Json[] = [];
    const numbers = this.#numbers();
    if (numbers) return numbers;
    this.#at++;
    if (this.#closes("]")) return values;
    do values.push(this.value(depth + 1));
    while (this.#continues("]"));
    return values;
  }

  #closes(end: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== end) return false;
    this.#at++;
    return true;
  }

  #continues(end: string): boolean {
    this.#space();
    const next = this.#text[this.#at++];
    if (next !== "," && next !== end) throw this.#unexpected();
    return next === ",";
  }

  #string(): string {
    this.#at++;
    let text = this.#match(PLAIN);
    if (this.#text[this.#at] === "\\") {
      while (this.#text[this.#at] === "\\") text += this.#escape() + this.#match(PLAIN);
      // A text from bytes has whole characters; only escapes can make half ones.
      if (/\p{Cs}/u.test(text)) this.#loneSurrogate = true;
    }
    if (this.#text[this.#at++] !== '"') throw this.#unexpected();
    return text;
  }

  #escape(): string {
    const kind = this.#text[this.#at + 1];
    const hexadecimal = this.#text.slice(this.#at + 2, this.#at + 6);
    if (kind === "u" && /^[0-9a-fA-F]{4}$/.test(hexadecimal)) {
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(hexadecimal, 16));
    }
    if (kind === undefined || !Object.hasOwn(ESCAPES, kind)) throw this.#unexpected();
    this.#at += 2;
    return ESCAPES[kind];
  }

  /**
   * Read a list of integers, or of lists of them, by the language's own reader, ten times as fast.
   *
   * Only what both readers understand alike: a few levels of brackets, commas, and integers with few
   * digits. Anything else is undefined, and is read, or refused with a reason, piece by piece.
   */
  #numbers(): Json[] | undefined {
    const end = endOfNumbers(this.#text, this.#at);
    if (end === undefined) return undefined;
    try {
      const values = JSON.parse(this.#text.slice(this.#at, end)) as Json[];
      this.#at = end;
      return values;
    } catch {
      return undefined;
    }
  }

  #number(): number {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (!match) throw this.#unexpected();
    const [text, fraction, exponent] = match;
    this.#at += text.length;
    if (fraction || exponent) throw notAnInteger(text);
    if (text.length > 17 || Math.abs(Number(text)) > LARGEST) {
      throw new RefusedError(
        "integer_too_large",
        `the integer ${text.slice(0, 40)} is beyond 2^53 and not exact`,
      );
    }
    return Number(text) + 0; // -0 is 0
  }

  #space(): void {
    for (; ; this.#at++) {
      const next = this.#text.charCodeAt(this.#at);
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
    }
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += text.length;
    return text;
  }

  #unexpected(): RefusedError {
    return notJson(`unexpected at character ${this.#at}`);
  }
}

/** Return where a list of integers ends; undefined if it may hold anything that has to be looked at. */
function endOfNumbers(text: string, start: number): number | undefined {
  let depth = 0;
  let digits = 0;
  for (let at = start; at < text.length; at++) {
    const next = text.charCodeAt(at);
    if (next >= 0x30 && next <= 0x39) {
      if (++digits > EXACT_DIGITS) return undefined;
      continue;
    }
    digits = 0;
    if (next === 0x5b) depth++;
    else if (next === 0x5d) depth--;
    else if (next === 0x2d) {
      if (text.charCodeAt(at + 1) === 0x30) return undefined; // -0 is 0
    } else if (next !== 0x2c) return undefined;
    if (depth === 0) return at + 1;
    if (depth > FEW_LEVELS) return undefined;
  }
  return undefined;
}

function notJson(why: string): RefusedError {
  return new RefusedError(
    "not_json",
    `this is not JSON in UTF-8 (${why}); ask for the message again`,
  );
}

function notAnInteger(text: string): RefusedError {
  return new RefusedError(
    "not_an_integer",
    `the number ${text.slice(0, 40)} is not written as an integer`,
  );
}
