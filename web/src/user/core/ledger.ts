/**
 * The ledger: every decision on an item, revealed or withheld, is final.
 *
 * A store holds the device's secret and its one ledger, made together and never apart: the same
 * coins with another ledger would toss decided items again. The ledger's text is a seal (HMAC of the
 * whole under the secret) and one line per answered round, as in the file that the Python side
 * writes. It is replaced as a whole, and anything else found in it is tampering. It holds true
 * decisions, so it is for its owner's eyes only.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import { utf8 } from "../../wire/canonical";
import { Report } from "../../wire/exchange";
import {
  count,
  digestField,
  flag,
  integer,
  list,
  name,
  optional,
  pair,
  text,
} from "../../wire/fields";
import { kind, type MessageOf } from "../../wire/message";
import type { Store, Texts } from "../store";
import { DeviceSecret, framed } from "./private";

const TAG = utf8("midpoint/v1/ledger");
/** Names of the texts in the store. */
export const SECRET = "secret";
export const LEDGER = "ledger";
/** There once she asked to be forgotten, until all of it is gone. */
export const FORGETTING = "forgetting";
/** There once all of it was moved to another device: then nothing is decided here. */
export const MOVED = "moved";

/** What is kept was read, and is not what this device wrote. */
export class BrokenSealError extends MidpointError {
  override name = "BrokenSealError";
}

/**
 * One answered round, as the ledger keeps it.
 *
 * `solicitation` is the digest of what was asked, `report` the exact text of the answer; `numbers`
 * has, per answer, the digest of what was disclosed about its item when it was first given. Where the
 * scheme has counterparts, `open` says whether all items were asked about, `asked` which were,
 * `given` what she rated that was decided then, and `move` how her taste factors were moved, in 1/256.
 */
export const Round = kind("round", {
  round: count,
  solicitation: digestField,
  report: text(),
  numbers: list(digestField),
  withheld: list(name),
  open: optional(flag),
  asked: optional(list(name)),
  given: optional(list(pair(name, integer()))),
  move: optional(list(integer())),
});
export type Round = MessageOf<typeof Round>;

/** What was decided about one item. */
export interface Decision {
  /** The revealed value in fixed point; undefined if it is withheld. */
  readonly value: number | undefined;
  /** Digest of what was disclosed about a revealed item then; empty if it is withheld. */
  readonly numbers: string;
}

/** Decisions of one device: in a store by `create` and `open`; else in memory. */
export class Ledger {
  readonly secret: DeviceSecret;
  #store: Store | undefined;
  readonly #rounds = new Map<number, Round>();
  readonly #decisions = new Map<string, Decision>();

  constructor(secret: DeviceSecret) {
    this.secret = secret;
  }

  /** Start an empty ledger in a store, once, with a new secret of its own. */
  static async create(store: Store, secret = DeviceSecret.generate()): Promise<Ledger> {
    const ledger = new Ledger(secret);
    ledger.#store = store;
    const none: Texts = { [SECRET]: undefined, [LEDGER]: undefined };
    await store.write({ [SECRET]: secret.saved(), [LEDGER]: ledger.text }, none);
    return ledger;
  }

  /** Read a ledger from what its store holds, refusing one that was changed by others. */
  static open(store: Store, texts: Texts): Ledger {
    const ledger = Ledger.read(texts[LEDGER] ?? "", DeviceSecret.load(texts[SECRET] ?? ""));
    ledger.#store = store;
    return ledger;
  }

  /** Read a ledger's text, as a copy in memory. */
  static read(text: string, secret: DeviceSecret): Ledger {
    const end = text.indexOf("\n");
    const body = text.slice(end + 1);
    if (end < 0 || text.slice(0, end) !== sealOf(body, secret)) {
      throw new BrokenSealError(
        "the ledger was changed, or goes with another secret; restore it, or start over",
      );
    }
    const ledger = new Ledger(secret);
    for (const line of body.split("\n").slice(0, -1)) ledger.#keep(Round.parse(line));
    return ledger;
  }

  /** The whole of it: a seal, and one line per answered round. */
  get text(): string {
    return sealed([...this.#rounds.values()], this.secret);
  }

  /** Return what was decided about an item; undefined if it is still open. */
  decision(item: string): Decision | undefined {
    return this.#decisions.get(item);
  }

  /** Return a round that was answered; undefined if it is still open. */
  answered(number: number): Round | undefined {
    return this.#rounds.get(number);
  }

  /** All items with a decision, withheld ones included; for this device only. */
  get decided(): ReadonlySet<string> {
    return new Set(this.#decisions.keys());
  }

  /** All answered rounds, in the order in which they were answered. */
  get rounds(): readonly Round[] {
    return [...this.#rounds.values()];
  }

  /** Return how her taste factors moved in the last round under a disclosure; empty if not. */
  moveUnder(disclosure: string): readonly number[] {
    for (const { move, report } of [...this.#rounds.values()].reverse()) {
      if (move?.length && Report.parse(report).disclosure === disclosure) return move;
    }
    return [];
  }

  /** Make a round's decisions final: when this resolves they are in the store. */
  async record(answered: Round): Promise<void> {
    this.#requireOpen(answered.round);
    const next = sealed([...this.#rounds.values(), answered], this.secret);
    const expected = { ...remembered(this.secret), [LEDGER]: this.text };
    await this.#store?.write({ [LEDGER]: next }, expected);
    this.#requireOpen(answered.round);
    this.#keep(answered);
  }

  #requireOpen(number: number): void {
    if (this.#rounds.has(number)) {
      throw new MidpointError(`round ${number} is answered; a decision is final`);
    }
  }

  #keep(answered: Round): void {
    const { answers } = Report.parse(answered.report);
    if (answers.length !== answered.numbers.length) {
      throw new MidpointError(`round ${answered.round} of the ledger does not fit its report`);
    }
    this.#rounds.set(answered.round, answered);
    answers.forEach(([item, value], i) => {
      this.#first(item, { value, numbers: answered.numbers[i] });
    });
    for (const item of answered.withheld) this.#first(item, { value: undefined, numbers: "" });
  }

  #first(item: string, decision: Decision): void {
    if (!this.#decisions.has(item)) this.#decisions.set(item, decision);
  }
}

/** What has to be there to write for this person: her secret, not moved, no wish to be forgotten. */
export function remembered(secret: DeviceSecret): Texts {
  return { [SECRET]: secret.saved(), [FORGETTING]: undefined, [MOVED]: undefined };
}

function sealed(rounds: readonly Round[], secret: DeviceSecret): string {
  const body = rounds.map((round) => `${round.text}\n`).join("");
  return `${sealOf(body, secret)}\n${body}`;
}

function sealOf(body: string, secret: DeviceSecret): string {
  return bytesToHex(secret.prf(framed(TAG, utf8(body))));
}
