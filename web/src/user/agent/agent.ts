/**
 * The user's walk: send what is decided, fetch, check, pin; be asked, answer, submit; recommend.
 *
 * Nothing secret decides which requests are made, in which order and when, nor any of their bytes but
 * a report's content. They follow from the address, the service's answers and what the person does.
 * Public documents are fetched without a pseudonym.
 */
import { MidpointError } from "../../errors";
import { utf8 } from "../../wire/canonical";
import {
  ALL_UP_TO,
  LARGEST_ANSWER,
  LARGEST_LIST,
  MARGIN,
  MOST_ROUNDS,
  Receipt,
  Report,
  Scores,
  Solicitation,
  SolicitationRequest,
} from "../../wire/exchange";
import { MILLION } from "../../wire/fixed";
import { LARGEST_MESSAGE, read, textOf } from "../../wire/json";
import { Certificates, Chain } from "../../wire/listing";
import type { Kind, Message } from "../../wire/message";
import { Certificate, Entry, MOST_AUC, SHOWN_FOR, WitnessStatement } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import { SCHEMES } from "../../wire/scheme";
import { Signed } from "../../wire/signing";
import { verifyCertificate } from "../checks/certificate";
import { checkDisclosure, checkList, checkTitles, requireLeak } from "../checks/disclosure";
import { readStatement, requireWitness, witnessedEntry } from "../checks/links";
import { adding, beginning, requireUnforked, seeing, witnessKey } from "../checks/proof";
import { correct, type Recommendation } from "../core/correction";
import { decide, planAhead, type Ratings } from "../core/decisions";
import type { PrivateCategory } from "../core/private";
import { addressOf } from "./address";
import { AwayError, Channel, type Request, ServiceError, UnusableError } from "./channel";
import type { Home } from "./home";
import { type Preview, preview } from "./preview";
import type { Fetched, Rateable, Standing, Terms } from "./standing";

/** Codes after which sending the same report again is no use. */
const REFUSED_FOR_GOOD = new Set([
  "malformed",
  "too_large",
  "report_changed",
  "round_unknown",
  "unknown_disclosure",
  "retired_disclosure",
  "space_used_up",
]);

/** A person's agent at one service, with her secret in a store of this device. */
export class Agent {
  readonly address: string;
  readonly home: Home;
  terms: Terms;
  readonly #channel: Channel;
  #standing: Standing | undefined;
  #asked: Solicitation | undefined;

  constructor(address: string, home: Home, terms: Terms = {}, channel = new Channel()) {
    this.address = addressOf(address, true);
    this.home = home;
    this.terms = terms;
    this.#channel = channel;
  }

  /** What passed the checks last. */
  get standing(): Standing {
    if (!this.#standing) throw new MidpointError("nothing was checked; connect first");
    return this.#standing;
  }

  /** The round to be answered; undefined if none is open. */
  get asked(): Solicitation | undefined {
    return this.#asked;
  }

  /** The witness to ask: the one that she names, or else the one that was asked before; if any. */
  get witness(): string | undefined {
    const { witness, withoutWitness } = this.terms;
    return withoutWitness ? undefined : (witness ?? this.home.proof.asked);
  }

  /** Send what was decided and not acknowledged, then fetch, check and pin. */
  async connect(early?: (rateable: Rateable) => void): Promise<Standing> {
    await this.requireNewest();
    await this.submit();
    return this.check(await this.fetch(early));
  }

  /** Where all of it is from a file: ask whether anything was answered since. */
  async requireNewest(): Promise<void> {
    if (!this.home.restored) return;
    const rounds = roundsIn(await this.#keptThere());
    await this.home.requireNewest(rounds);
  }

  /**
   * Ask for all that is public, without a pseudonym; the witness first, so it is no newer.
   *
   * `early` hears of the titles once they are there and are those that the list names.
   */
  async fetch(early?: (rateable: Rateable) => void): Promise<Fetched> {
    const other = this.witness;
    const witness = other === undefined ? undefined : await this.#askWitness(other);
    const chain = await this.#public("/v1/chain", Chain, LARGEST_LIST);
    const entry = this.#toFetch(chain, witness);
    const titles = entry.catalogue;
    const named = titles ? this.#named("catalogues", titles) : new Uint8Array();
    const [catalogue, certificates] = await Promise.all([
      named,
      this.#public(
        `/v1/disclosures/${entry.disclosure}/certificates`,
        Certificates,
        LARGEST_ANSWER,
      ),
    ]);
    const [disclosure] = await Promise.all([
      this.#named("disclosures", entry.disclosure), // the largest by far; titles are drawn meanwhile
      early && this.#showEarly(catalogue, chain, witness, early),
    ]);
    return { witness, chain, disclosure, certificates, catalogue };
  }

  /**
   * Accept what was fetched and pin it, or refuse it and change nothing but proof.
   *
   * After a refusal the service is held to the former pin, even if she agreed to a change. The
   * entries that it signed are kept as proof in any case.
   */
  async check(fetched: Fetched): Promise<Standing> {
    const { entries } = fetched.chain;
    const held = this.home.pin;
    try {
      if (held) await this.home.keepProof(adding(this.home.proof, entries, held.key));
      const standing = this.#examined(fetched);
      if (held) requireUnforked(this.home.proof, entries);
      const keys = entries.map(({ body }) => Entry.parse(body).key);
      await this.home.keepPin(standing.accepted.pin, keys);
      const proof = held ? this.home.proof : beginning(this.home.proof, entries);
      await this.home.keepProof(seeing(proof, fetched.witness, this.witness));
      await this.home.keepDocuments(fetched.disclosure, fetched.catalogue);
      // What it asked goes with figures that are no longer current.
      const { digest } = standing.accepted.disclosure;
      if (this.#asked?.disclosure !== digest) this.#asked = undefined;
      this.#standing = standing;
      return standing;
    } catch (error) {
      this.home.restorePin();
      throw error;
    }
  }

  /** Get the next question; if a new disclosure was published meanwhile, check it first. */
  async solicit(): Promise<Solicitation> {
    try {
      this.#asked = await this.#solicit();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "not_current") throw error;
      await this.check(await this.fetch());
      this.#asked = await this.#solicit();
    }
    return this.#asked;
  }

  /** Show what an answer to the open round would send and withhold; nothing is decided. */
  preview(ratings: Ratings, category: PrivateCategory): Preview {
    const { accepted } = this.standing;
    return preview(ratings, this.#open(), accepted, category, this.home.ledger);
  }

  /** Do the long part of `preview` and `answer` ahead, pausing after each step of it. */
  *ahead(ratings: Ratings, category: PrivateCategory): Generator<void, void> {
    if (!this.#asked) return;
    yield* planAhead(ratings, this.#asked, this.standing.accepted, category, this.home.ledger);
  }

  /** Decide the open round for good; the report waits on the device until `submit`. */
  async answer(ratings: Ratings, category: PrivateCategory): Promise<Report> {
    this.home.requireRemembered();
    const asked = this.#open();
    this.preview(ratings, category); // what cannot be decided is not kept either
    await this.home.keepRatings(new Map([...this.home.ratings, ...ratings]));
    const { accepted } = this.standing;
    const report = await decide(ratings, asked, accepted, category, this.home.ledger);
    this.#asked = undefined;
    return report;
  }

  /**
   * Send every decided report that was not acknowledged, oldest first, as it was decided.
   *
   * Returns the last receipt; undefined if there was nothing to send.
   */
  async submit(): Promise<Receipt | undefined> {
    this.home.requireRemembered();
    let receipt: Receipt | undefined;
    for (const text of this.home.unsent) receipt = await this.#send(Report.parse(text));
    return receipt;
  }

  /** Return her n best items that she has not rated, with her own offset added here. */
  async recommend(n: number, category: PrivateCategory): Promise<Recommendation[]> {
    let scores = await this.#scores(n);
    if (scores.disclosure !== this.standing.accepted.disclosure.digest) {
      await this.check(await this.fetch());
      scores = await this.#scores(n);
    }
    const rated = new Set([...this.home.ledger.decided, ...this.home.ratings.keys()]);
    const { disclosure } = this.standing.accepted;
    const move = this.home.ledger.moveUnder(disclosure.digest);
    return correct(scores, disclosure, category, rated, move).slice(0, n);
  }

  /** Return all that the service and this device keep about her, as JSON. */
  async export(): Promise<string> {
    this.home.requireRemembered();
    const text = await this.#keptThere();
    const member = textOf(await this.asMember("GET"));
    for (const kept of [text, member]) read(kept);
    const [service, panel] = [JSON.parse(text), JSON.parse(member)];
    const { notes, ledger } = this.home;
    const device = { notes, rounds: ledger.rounds, proof: this.home.proof };
    return JSON.stringify({ service, panel, device }, null, 2);
  }

  /** Ask about the panel, under a pseudonym of its own; see `panel`. */
  asMember(method: Request["method"], body?: Message): Promise<Uint8Array> {
    return this.#personal(method, "/v1/panel", LARGEST_LIST, body, this.home.memberToken);
  }

  /**
   * Erase her data at the service and in its panel, then on this device.
   *
   * If the service does not answer, everything stays, and nothing else can be done until this
   * succeeds. With `onlyHere` the service is not asked; it then keeps her data for good.
   */
  async forget(onlyHere = false): Promise<void> {
    await this.home.startForgetting();
    if (!onlyHere) {
      await this.asMember("DELETE"); // whether she joined or not: a backup may not know it
      await this.#personal("DELETE", "/v1/pseudonym", LARGEST_ANSWER);
    }
    await this.home.erase();
    this.#standing = this.#asked = undefined;
  }

  /** Show titles that are fine; what is wrong with others is said when all of it is checked. */
  #showEarly(
    raw: Uint8Array,
    chain: Chain,
    witness: Signed | undefined,
    early: (rateable: Rateable) => void,
  ): void {
    try {
      const { pin } = this.home;
      const entries = checkList(chain.entries, pin);
      const entry = witnessedEntry(entries, pin, this.#statement(witness), this.#shownFor);
      const catalogue = checkTitles(raw, entry, pin);
      const { features, scale } = catalogue;
      const scheme = SCHEMES.get(catalogue.scheme ?? "");
      if (features && scale?.levels && scheme) early({ features, scale, scheme, catalogue });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }

  #examined(fetched: Fetched): Standing {
    const { entries } = fetched.chain;
    const { pin } = this.home;
    const witness = this.#statement(fetched.witness);
    const options = { shownFor: this.#shownFor, showRated: this.terms.showRated ?? false };
    const accepted = checkDisclosure(fetched.disclosure, entries, pin, witness, options);
    requireLeak(accepted.disclosure, this.terms.mostLeak);
    const { items, digest } = accepted.disclosure;
    const {
      titles,
      ratings,
      items: named,
      wording,
      genres,
      links,
    } = checkTitles(fetched.catalogue, accepted.entry, accepted.disclosure);
    const shown = <T>(column: readonly T[], other: (item: string) => T) => {
      const listed = new Map(named.map((item, i) => [item, column[i]]));
      return new Map(items.map((item) => [item, listed.get(item) ?? other(item)]));
    };
    const said = (column: readonly string[] = []) =>
      new Map(named.flatMap((item, i) => (column[i] ? [[item, column[i]]] : [])));
    return {
      accepted,
      certificate: this.#certificate(fetched.certificates, digest),
      certificates: fetched.certificates.certificates.map(({ body }) => Certificate.parse(body)),
      titles: shown(titles, (item) => item),
      popularity: shown(ratings, () => 0),
      genres: said(genres),
      links: said(links),
      wording,
    };
  }

  #open(): Solicitation {
    if (!this.#asked) throw new MidpointError("no round is open; solicit first");
    return this.#asked;
  }

  get #shownFor(): number {
    return this.terms.shownFor ?? SHOWN_FOR;
  }

  async #askWitness(witness: string): Promise<Signed> {
    const address = addressOf(witness, true);
    try {
      if (address === this.address) throw new MidpointError("it is the service");
      return Signed.parse(await this.#get(`${address}/v1/witness`, LARGEST_LIST));
    } catch (error) {
      if (error instanceof AwayError) {
        // Its last statement still holds: it allows nothing new.
        const last = this.home.proof.witness;
        if (last) return last;
        throw error;
      }
      throw new UnusableError(`${witness} is no witness: ${(error as Error).message}`);
    }
  }

  /**
   * Read what a witness signed; refuse another key than she named, or than its first one.
   *
   * That key is held on to whatever else she agrees to: a service that changed something is not to
   * choose its witness. Nor may a witness that was there before be missing.
   */
  #statement(signed: Signed | undefined): WitnessStatement | undefined {
    const held = witnessKey(this.home.proof);
    if (signed) return readStatement(signed, this.terms.witnessKey ?? held);
    requireWitness(this.terms.withoutWitness ? undefined : held);
    return undefined;
  }

  /** Return the entry whose disclosure is to be fetched; nothing is checked yet. */
  #toFetch({ entries }: Chain, witness: Signed | undefined): Entry {
    const statement = witness && WitnessStatement.parse(witness.body);
    const chosen = statement?.newestShownFor(this.#shownFor) ?? entries.length;
    return Entry.parse((entries[chosen] ?? entries[entries.length - 1]).body);
  }

  #get(url: string, largest: number): Promise<Uint8Array> {
    return this.#channel.ask({ method: "GET", url, largest });
  }

  /** Return what is named by its own digest: as it is kept here, or else ask for it. */
  async #named(directory: string, name: string): Promise<Uint8Array> {
    const kept = this.home.document(name);
    if (kept !== undefined) return utf8(kept);
    return this.#get(`${this.address}/v1/${directory}/${name}`, LARGEST_MESSAGE);
  }

  async #public<T>(path: string, kind: Kind<T>, largest: number): Promise<T & Message> {
    return kind.parse(await this.#get(this.address + path, largest));
  }

  #personal(
    method: Request["method"],
    path: string,
    largest: number,
    body?: Message,
    token = this.home.token,
  ) {
    const url = this.address + path;
    return this.#channel.ask({ method, url, largest, body: body?.text, token });
  }

  async #solicit(): Promise<Solicitation> {
    this.home.requireRemembered();
    const { disclosure, superseded } = this.standing.accepted;
    const done = this.home.notes.settled.at(-1); // they are sorted
    const after = done === undefined ? undefined : Math.min(done, MOST_ROUNDS);
    const ask = SolicitationRequest.make({
      disclosure: disclosure.digest,
      after,
      superseded: superseded || undefined,
    });
    return Solicitation.parse(
      await this.#personal("POST", "/v1/solicitation", LARGEST_MESSAGE, ask),
    );
  }

  async #send(report: Report): Promise<Receipt> {
    let receipt: Receipt;
    try {
      receipt = Receipt.parse(await this.#personal("POST", "/v1/reports", LARGEST_ANSWER, report));
    } catch (error) {
      const final = error instanceof ServiceError && REFUSED_FOR_GOOD.has(error.code);
      if (final) await this.home.settle(report.round);
      throw error;
    }
    if (receipt.report !== report.digest) {
      throw new RefusedError("wrong_digest", "the receipt is for another report");
    }
    await this.home.settle(report.round);
    return receipt;
  }

  /** Return what the service keeps about her, as JSON; it may know nobody of this pseudonym. */
  async #keptThere(): Promise<string> {
    try {
      return textOf(await this.#personal("GET", "/v1/pseudonym", LARGEST_LIST));
    } catch (error) {
      if (error instanceof ServiceError && error.code === "not_found") return "null";
      throw error;
    }
  }

  async #scores(n: number): Promise<Scores> {
    this.home.requireRemembered();
    const { disclosure, superseded } = this.standing.accepted;
    const older = superseded ? `/${disclosure.digest}` : "";
    const best = disclosure.items.length <= ALL_UP_TO ? "" : `?top=${n}&margin=${MARGIN}`;
    return Scores.parse(await this.#personal("GET", `/v1/scores${older}${best}`, LARGEST_MESSAGE));
  }

  /** Return the first certificate by an auditor she trusts; refuse forged and leaking ones. */
  #certificate(shown: Certificates, disclosure: string): Certificate | undefined {
    const { auditors = [], requireCertificate = false, mostAuc = MOST_AUC / MILLION } = this.terms;
    const most = requireCertificate ? Math.round(mostAuc * MILLION) : MILLION;
    const trusted = shown.certificates
      .map((signed) =>
        verifyCertificate(signed, disclosure, auditors, false, most, requireCertificate),
      )
      .find((certificate) => certificate !== undefined);
    return trusted ?? verifyCertificate(undefined, disclosure, auditors, requireCertificate);
  }
}

/** Return the rounds that the service holds answers of, from what it exports. */
function roundsIn(text: string): number[] {
  read(text);
  const rounds = (JSON.parse(text)?.reports ?? []).map?.(({ round }: { round: number }) => round);
  if (rounds?.every(Number.isInteger)) return rounds;
  throw new RefusedError("wrong_shape", "the export names no rounds");
}
