/**
 * The only door of the device: one bounded request at a time, the same headers for everyone.
 *
 * No redirect is followed, no cookie kept, no referrer sent. An answer is read up to a size, counted
 * after decompression, and up to a time, counted over all of it.
 */
import { MidpointError } from "../../errors";
import { Problem } from "../../wire/exchange";
import { RefusedError } from "../../wire/refusal";

/** Answers that mean: the same again, later. */
const BUSY = new Set([429, 502, 503, 504]);

/** The service did not answer, or not now; nothing is lost, and the same may be asked again. */
export class AwayError extends MidpointError {
  override name = "AwayError";
}

/** What came back is no answer of this protocol; it is not asked for again. */
export class UnusableError extends MidpointError {
  override name = "UnusableError";
}

/** The service said no, with a code that programs may rely on. */
export class ServiceError extends MidpointError {
  override name = "ServiceError";
  readonly code: string;
  readonly sentence: string;

  constructor(code: string, sentence: string) {
    super(`the service says: ${sentence} [${code}]`);
    this.code = code;
    this.sentence = sentence;
  }
}

/** How long to wait for an answer, in milliseconds. */
export interface Patience {
  /** For one try, from its first byte out to its last byte in. */
  readonly attempt: number;
  /** For all tries and the waiting between them. */
  readonly total: number;
  /** How often the same bytes are sent, at most. */
  readonly tries: number;
  /** Before the second try; twice as long before each further one, less some jitter. */
  readonly firstWait: number;
}

export const PATIENCE: Patience = { attempt: 30_000, total: 90_000, tries: 5, firstWait: 500 };

/** One request, the same bytes however often it is tried. */
export interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  /** The whole address. */
  readonly url: string;
  /** Most bytes that the answer may have. */
  readonly largest: number;
  /** The exact text that is sent. */
  readonly body?: string;
  /** The pseudonym; absent for what is public. */
  readonly token?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  /** Milliseconds that the service asks to wait, or 0. */
  readonly wait: number;
}

/** Sends requests and reads answers, with patience and limits. */
export class Channel {
  readonly #patience: Patience;
  readonly #fetch: typeof fetch;

  constructor(patience: Partial<Patience> = {}, send: typeof fetch = (...a) => fetch(...a)) {
    this.#patience = { ...PATIENCE, ...patience };
    this.#fetch = send;
  }

  /** Return the content of a good answer, trying the same bytes again while that may help. */
  async ask(request: Request): Promise<Uint8Array> {
    const { attempt, total, tries, firstWait } = this.#patience;
    const end = Date.now() + total;
    let why = "";
    for (let tried = 1; ; tried++) {
      let wait = firstWait * 2 ** (tried - 1) * (0.5 + Math.random() / 2);
      try {
        const allowed = Math.max(1, Math.min(attempt, end - Date.now()));
        const answer = await this.#once(request, allowed);
        if (!BUSY.has(answer.status)) return contentOf(answer);
        wait = Math.max(wait, answer.wait);
        why = `it is busy (${answer.status})`;
      } catch (error) {
        if (error instanceof MidpointError) throw error;
        why = error instanceof Error ? error.message : String(error);
      }
      if (tried >= tries || Date.now() + wait >= end) {
        const seconds = Math.ceil(Math.max(wait, 1000) / 1000);
        throw new AwayError(
          `${new URL(request.url).host} does not answer: ${why}; nothing is lost, try again in ${seconds} seconds`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #once(request: Request, allowed: number): Promise<Answer> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (request.body !== undefined) headers["Content-Type"] = "application/json";
    if (request.token !== undefined) headers.Authorization = `Bearer ${request.token}`;
    const deadline = new AbortController();
    const late = new Error(`no whole answer within ${Math.ceil(allowed / 1000)} seconds`);
    const timer = setTimeout(() => deadline.abort(late), allowed);
    try {
      const response = await this.#fetch(request.url, {
        method: request.method,
        headers,
        body: request.body,
        signal: deadline.signal,
        credentials: "omit",
        redirect: "manual",
        referrerPolicy: "no-referrer",
        // What a cache keeps outlives *forget me*, and one made for her would know her again.
        cache: "no-store",
      });
      const body = await bounded(response, request.largest);
      return { status: response.status, body, wait: waitOf(response.headers.get("Retry-After")) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Read the content; a small bomb that unpacks to more than allowed is dropped as it grows. */
async function bounded(response: Response, largest: number): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    length += next.value.length;
    if (length > largest) {
      await reader?.cancel();
      throw new RefusedError("too_long", `the answer has more than ${largest} bytes`);
    }
    pieces.push(next.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function waitOf(text: string | null): number {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : 0;
}

/** Return the content of a good answer; throw what a bad one says. */
function contentOf({ status, body }: Answer): Uint8Array {
  if (status >= 200 && status < 300) return body;
  // A browser shows a redirect that is not followed as status 0.
  if (status < 400) {
    throw new UnusableError(`the service points elsewhere (${status}), which is not followed`);
  }
  let problem: Problem;
  try {
    problem = Problem.parse(body);
  } catch {
    throw new UnusableError(`the service answers ${status} without a reason`);
  }
  throw new ServiceError(problem.code, problem.message);
}
