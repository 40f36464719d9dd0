/**
 * What the device keeps about one service: secret and ledger, pin, and the person's own notes.
 *
 * All of it is in one store. Nothing here leaves the device but through `Report`.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import { compare, digest, encode, utf8 } from "../../wire/canonical";
import { count, type Fields, integer, list, name, optional, pair } from "../../wire/fields";
import { textOf } from "../../wire/json";
import { kind, type MessageOf } from "../../wire/message";
import { RefusedError } from "../../wire/refusal";
import { Pin } from "../checks/pin";
import { NOTHING, Proof } from "../checks/proof";
import {
  BrokenSealError,
  FORGETTING,
  LEDGER,
  Ledger,
  MOVED,
  remembered,
  SECRET,
} from "../core/ledger";
import { type DeviceSecret, framed, PrivateCategory } from "../core/private";
import type { Store, Texts } from "../store";
import { Demands, USUAL } from "./demands";

/** Names of the texts beside those of the ledger. */
export const PIN = "pin";
export const NOTES = "notes";
export const PROOF = "proof";
export const DEMANDS = "demands";
/** A mark: it is from a file, and may not be the newest. */
export const RESTORED = "restored";
/** Kept while she may be in the panel: without the secret nobody could leave it for her. */
export const JOINED = "joined";
/** The name of that text in the store. */
export const IN_PANEL = `app/${JOINED}`;
const DOCUMENT = "document/";
const [TOKEN, MEMBER] = [utf8("midpoint/v1/token"), utf8("midpoint/v1/panel")];

const fields = {
  ratings: list(pair(name, integer())),
  category: optional(list(pair(name, name))),
  settled: list(count),
};

/**
 * What a person entered on her own device.
 *
 * `ratings` are in the order in which she gave them; `category` is there only if she asked the
 * device to remember it; `settled` are the rounds whose report the service acknowledged, or refused
 * for good.
 */
export const Notes = kind("notes", fields);
export type Notes = MessageOf<typeof Notes>;
const EMPTY = Notes.make({ ratings: [], settled: [] });

/** What is kept here was moved to another device; only a file from there leads back. */
export class MovedError extends MidpointError {
  override name = "MovedError";
}

/** The service is known here under another address, with another secret. */
export class KnownElsewhereError extends MidpointError {
  override name = "KnownElsewhereError";
}

/** Refuses a second secret for an analyst with one of these keys: two tosses for one rating. */
export type RequireOnlyOne = (keys: ReadonlySet<string>) => Promise<void>;

/** What one service has on this device. */
export class Home {
  readonly #store: Store;
  readonly #requireOnlyOne: RequireOnlyOne | undefined;
  #ledger: Ledger | undefined;
  #pin: Pin | undefined;
  #former: Pin | undefined;
  #notes: Notes;
  #proof: Proof;
  #demands: Demands;
  #kept: Texts;
  #forgetting: boolean;
  #restored: boolean;

  private constructor(store: Store, ledger: Ledger, texts: Texts, onlyOne?: RequireOnlyOne) {
    this.#store = store;
    this.#requireOnlyOne = onlyOne;
    this.#ledger = ledger;
    this.#pin = texts[PIN] === undefined ? undefined : Pin.parse(texts[PIN]);
    this.#notes = texts[NOTES] === undefined ? EMPTY : Notes.parse(texts[NOTES]);
    this.#proof = texts[PROOF] === undefined ? NOTHING : Proof.parse(texts[PROOF]);
    this.#demands = texts[DEMANDS] === undefined ? USUAL : Demands.parse(texts[DEMANDS]);
    this.#forgetting = texts[FORGETTING] !== undefined;
    this.#restored = texts[RESTORED] !== undefined;
    this.#kept = texts;
  }

  /** Open what a store holds, or start in an empty one with a new secret, or the one given. */
  static async open(store: Store, secret?: DeviceSecret, onlyOne?: RequireOnlyOne): Promise<Home> {
    const texts = await store.read();
    if (texts[MOVED] !== undefined) {
      throw new MovedError("this was moved to another device");
    }
    const known = texts[LEDGER] !== undefined || texts[SECRET] !== undefined;
    const ledger = known ? Ledger.open(store, texts) : await Ledger.create(store, secret);
    const home = new Home(store, ledger, texts, onlyOne);
    // Notes that are newer than the ledger: what that lost would be decided again.
    const lost = home.#notes.settled.find((round) => !ledger.answered(round));
    if (lost === undefined) return home;
    throw new BrokenSealError(`round ${lost} was sent, and the ledger does not know it`);
  }

  /** Decisions and the secret behind them. */
  get ledger(): Ledger {
    if (!this.#ledger) {
      throw new MidpointError("this person was forgotten; start over, as somebody new");
    }
    return this.#ledger;
  }

  /** What the analyst is held to; undefined before first use. */
  get pin(): Pin | undefined {
    return this.#pin;
  }

  /** The signed entries that were shown here, refused ones too. */
  get proof(): Proof {
    return this.#proof;
  }

  /** What she demands of the service, until she changes it. */
  get demands(): Demands {
    return this.#demands;
  }

  /** What she entered. */
  get notes(): Notes {
    return this.#notes;
  }

  /** The pseudonym: HMAC(secret, tag), so it goes with these coins and this ledger only. */
  get token(): string {
    return bytesToHex(this.ledger.secret.prf(framed(TOKEN)));
  }

  /** The pseudonym in the panel; without the secret nothing ties it to the other one. */
  get memberToken(): string {
    return bytesToHex(this.ledger.secret.prf(framed(MEMBER)));
  }

  /** Her ratings in fixed point. */
  get ratings(): ReadonlyMap<string, number> {
    return new Map(this.#notes.ratings);
  }

  /** What she asked to be remembered of her category, by feature. */
  get categoryNames(): Readonly<Record<string, string>> | undefined {
    return this.#notes.category && Object.fromEntries(this.#notes.category);
  }

  /** The same, ready for use. */
  get category(): PrivateCategory | undefined {
    return this.categoryNames && new PrivateCategory(this.categoryNames);
  }

  /** The exact reports that are decided and not acknowledged, oldest first. */
  get unsent(): readonly string[] {
    const open = this.ledger.rounds.filter(({ round }) => !this.#notes.settled.includes(round));
    return open.map(({ report }) => report);
  }

  /** Whether she asked to be forgotten and it is not finished. */
  get forgetting(): boolean {
    return this.#forgetting;
  }

  /**
   * Take the analyst's next disclosure as on first use, because she agrees to a change.
   *
   * Secret and ledger stay, so nothing is decided again. The old pin stands in the store until a
   * disclosure is accepted.
   */
  repin(): void {
    this.#former = this.#pin ?? this.#former;
    this.#pin = undefined;
  }

  /** Hold the analyst to what it was held to before `repin`: what it showed then was refused. */
  restorePin(): void {
    this.#pin ??= this.#former;
    this.#former = undefined;
  }

  /**
   * Hold the analyst to this from now on; drop what does not fit what it is about now.
   *
   * `keys` are all that ever signed for it: nothing else here may be held to one of them.
   */
  async keepPin(pin: Pin, keys: Iterable<string> = []): Promise<void> {
    if (pin.text === this.#pin?.text) return;
    await this.#requireOnlyOne?.(new Set([pin.key, ...keys]));
    const former = this.#pin ?? this.#former;
    if (former && encode(former.features) !== encode(pin.features)) {
      await this.#note({ category: undefined });
    }
    if (former && encode(former.scale) !== encode(pin.scale)) await this.#note({ ratings: [] });
    await this.#write({ [PIN]: pin.text }, { [PIN]: former?.text });
    this.#pin = pin;
    this.#former = undefined;
  }

  /** Keep what the analyst and a witness signed. */
  async keepProof(proof: Proof): Promise<void> {
    if (proof.text === this.#proof.text) return;
    await this.#write({ [PROOF]: proof.text }, {});
    this.#proof = proof;
  }

  /** Demand this from now on. */
  async keepDemands(demands: Demands): Promise<void> {
    await this.#write({ [DEMANDS]: demands.text }, {});
    this.#demands = demands;
  }

  /** Keep her ratings instead of those kept before. */
  async keepRatings(ratings: ReadonlyMap<string, number>): Promise<void> {
    await this.#note({ ratings: [...ratings] });
  }

  /** Remember her category, because she said so; undefined takes it out again. */
  async keepCategory(names: Readonly<Record<string, string>> | undefined): Promise<void> {
    const category = names && Object.entries(names).sort(([a], [b]) => compare(a, b));
    await this.#note({ category });
  }

  /** Note that a round needs no more sending. */
  async settle(number: number): Promise<void> {
    const settled = new Set([...this.#notes.settled, number]);
    await this.#note({ settled: [...settled].sort((a, b) => a - b) });
  }

  /** Return the public text of this digest, if it was accepted last and is kept. */
  document(name: string): string | undefined {
    const text = this.#kept[DOCUMENT + name];
    return text !== undefined && digest(utf8(text)) === name ? text : undefined;
  }

  /**
   * Keep public texts that were accepted, instead of those kept before.
   *
   * Here forgetting erases them; in a cache of the browser they would outlive it.
   */
  async keepDocuments(...raws: readonly Uint8Array[]): Promise<void> {
    const now = Object.fromEntries(raws.map((raw) => [DOCUMENT + digest(raw), textOf(raw)]));
    const names = [...Object.keys(this.#kept), ...Object.keys(now)];
    const changes = Object.fromEntries(
      names
        .filter((name) => name.startsWith(DOCUMENT) && now[name] !== this.#kept[name])
        .map((name) => [name, now[name]]),
    );
    if (Object.keys(changes).length === 0) return;
    await this.#write(changes, {});
    this.#kept = { ...this.#kept, ...changes };
  }

  /** Return what an app keeps here for itself, under a name of its own. */
  kept(label: string): string | undefined {
    return this.#kept[`app/${label}`];
  }

  /** Keep something for the app; undefined takes it out. */
  async keep(label: string, text: string | undefined): Promise<void> {
    const change = { [`app/${label}`]: text };
    await this.#write(change, {});
    this.#kept = { ...this.#kept, ...change };
  }

  /**
   * Note that she asked to be forgotten; from now on nothing else is done.
   *
   * The service may have erased its half although its answer was lost. It would then number rounds
   * from the start, and the ledger would hold answers to other questions.
   */
  async startForgetting(): Promise<void> {
    // Begun before, it may be begun again; but only for this person.
    const expected = { [SECRET]: this.ledger.secret.saved() };
    await this.#store.write({ [FORGETTING]: "yes" }, expected);
    this.#forgetting = true;
  }

  /** Refuse to go on as somebody who asked to be forgotten. */
  requireRemembered(): void {
    if (this.#forgetting) {
      throw new MidpointError("you asked to be forgotten and it is not finished; forget again");
    }
    if (this.#restored) {
      throw new MidpointError("nothing was checked; connect first");
    }
  }

  /** Whether it is from a file, and the service was not asked since. */
  get restored(): boolean {
    return this.#restored;
  }

  /** Go on from a file, unless the service holds answers that the ledger does not know. */
  async requireNewest(answered: readonly number[]): Promise<void> {
    const unknown = answered.find((round) => !this.ledger.answered(round));
    if (unknown !== undefined) {
      throw new RefusedError(
        "round_changed",
        `round ${unknown} was sent, and the ledger does not know it`,
      );
    }
    await this.#write({ [RESTORED]: undefined }, {});
    this.#restored = false;
  }

  /** Take all of it away, at once, unless it is another person's by now. */
  async erase(): Promise<void> {
    await this.#store.erase({ [SECRET]: this.ledger.secret.saved() });
    this.#ledger = this.#pin = undefined;
    this.#notes = EMPTY;
    this.#proof = NOTHING;
    this.#demands = USUAL;
    this.#kept = {};
  }

  async #note(changes: Partial<Fields<typeof fields>>): Promise<void> {
    const { ratings, category, settled } = this.#notes;
    const notes = Notes.make({ ratings, category, settled, ...changes });
    const before = this.#notes === EMPTY ? undefined : this.#notes.text;
    await this.#write({ [NOTES]: notes.text }, { [NOTES]: before });
    this.#notes = notes;
  }

  /** Write for this person only: another tab may be forgetting her, or be somebody new. */
  #write(changes: Texts, expected: Texts): Promise<void> {
    return this.#store.write(changes, { ...expected, ...remembered(this.ledger.secret) });
  }
}
