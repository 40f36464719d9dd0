/** One person at one service: what she does here, turned into the library's walk. */

import {
  Agent,
  Channel,
  type Home,
  MidpointError,
  PrivateCategory,
  type Rateable,
  RefusedError,
  type RequireOnlyOne,
  type Store,
  Witnesses,
} from "../../index";
import { saidOf } from "../controls/rating";
import type { Actions } from "../model/actions";
import { finalOf } from "../model/conversions";
import type { Demands, Model, Shown } from "../model/model";
import { loadGuesses, Picture } from "../model/picture";
import { Titles } from "../model/titles";
import { siteOf, texts } from "../texts";
import { Guard } from "./guard";
import type { Installation } from "./installation";
import { Preview, painted } from "./preview";
import { Recommendations } from "./recommendations";
import { Retries } from "./retries";
import { BrowserStorage, termsOf } from "./storage";

/** Give up soon and say so; the page then tries again by itself. */
const PATIENCE = { attempt: 15_000, total: 20_000, tries: 3, firstWait: 400 };

export class Session implements Actions {
  /** Says and shows a sentence. */
  announce: (sentence: string, withUndo?: boolean) => void = () => {};
  readonly #shown: Shown;
  readonly #address: string;
  readonly #storage: BrowserStorage;
  readonly #recommendations: Recommendations;
  readonly #channel = new Channel(PATIENCE);
  #opened: Agent | null = null;
  #picture: Picture | null = null;
  readonly #retries = new Retries(() => this.again());
  readonly #guard: Guard;
  readonly #preview: Preview;
  #looking = false;
  /** Whether she changed what she demands while the service was looked at. */
  #demanded = false;
  /** What she chose before anything passed all checks; kept when it has. */
  #chosen: Readonly<Record<string, string>> | null = null;
  /** What stands for a category when she said none and agreed; not kept, so asked on each visit. */
  #unprotected: PrivateCategory | null = null;
  /** Whether she agreed to a change that is not checked yet. */
  #agreed = false;

  constructor(shown: Shown, installation: Installation) {
    this.#shown = shown;
    this.#address = installation.address;
    this.#storage = new BrowserStorage(installation);
    shown.change({ anyWitness: installation.anyWitness });
    this.#recommendations = new Recommendations(shown);
    this.#guard = new Guard(shown, this.#retries, () => this.#opened !== null);
    this.#preview = new Preview(shown, this.#storage);
    addEventListener("online", () => this.again());
  }

  /** Open what this browser keeps, then look at the service. */
  async open(): Promise<void> {
    if (!isSecureContext) this.#guard.note("insecure");
    if (await this.#guard.run(() => this.#openHome())) await this.#look();
  }

  again(): void {
    this.#retries.stop();
    if (this.#opened) void this.#look();
  }

  choose(names: Readonly<Record<string, string>>): void {
    if (!this.#picture) {
      this.#chosen = names;
      this.#shown.change({ chosen: names, phase: "ready", draft: this.#preview.ratings });
      return;
    }
    this.#unprotected = null; // at once: nothing goes in the clear while the choice is kept
    void this.#guard.run(async () => {
      await this.#storage.inTurn(() => this.#home.keepCategory(names));
      this.#shown.change({ chosen: names, inTheClear: false });
      if (this.#model.phase === "ready") {
        this.#rank();
        await this.#foresee();
      } else {
        void this.#storage.makeLasting().then((lasting) => this.#shown.change({ lasting }));
        await this.#goOn(false);
      }
    });
  }

  sayNone(none: boolean): void {
    const everyone = this.#picture?.forEveryone() ?? null;
    this.#shown.change({ everyone, phase: none ? "everyone" : "welcome" });
  }

  goInTheClear(): void {
    if (!this.#picture) return;
    this.#unprotected = PrivateCategory.unprotected();
    this.#shown.change({ inTheClear: true });
    void this.#guard.run(() => this.#goOn(false));
  }

  rate(item: string, value: number | null): void {
    if (this.#model.working || this.#model.final.has(item) || !this.#opened) return;
    const before = this.#model.lines;
    if (!this.#preview.rate(item, value)) return;
    this.#drafted(() => this.announce(saidOf(this.#model, item, value, before), true));
  }

  undo(): string | null {
    const item = this.#model.working ? null : this.#preview.undo();
    if (item !== null) this.#drafted();
    return item;
  }

  send(): void {
    const category = this.#category;
    const { working, pending, unchecked } = this.#model;
    if (!category || working || pending || unchecked || !this.#agent.asked) return;
    this.#shown.change({ working: "sending" });
    void this.#guard
      .run(async () => {
        // What is decided must not be decided again: the ledger is to outlive a lack of space.
        this.#shown.change({ lasting: await this.#storage.makeLasting() });
        await this.#storage.inTurn(() => this.#agent.answer(this.#preview.ratings, category));
        this.#preview.begin();
        this.#shown.change({ asked: [], hasRound: false });
        await this.#foresee();
        await this.#deliver();
        await this.#recommend();
        await this.#ask();
        location.hash = "#foryou";
        this.announce(texts.notices.sent);
      })
      .then((done) => {
        this.#shown.change({ working: null });
        if (!done && this.#home.unsent.length > 0) this.announce(texts.notices.sentWaiting);
      });
  }

  exported(): string {
    const { notes, ledger, proof } = this.#home;
    const kept = { ratings: notes.ratings, rounds: ledger.rounds, proof };
    return `${JSON.stringify(kept, null, 2)}\n`;
  }

  withStore<T>(
    work: (store: Store, address: string, requireOnlyOne?: RequireOnlyOne) => Promise<T>,
  ): Promise<T> {
    const { store, requireOnlyOne } = this.#storage;
    return this.#storage.inTurn(() => work(store, this.#address, requireOnlyOne));
  }

  async forget(): Promise<boolean> {
    this.#shown.change({ working: "forgetting" });
    const done = await this.#guard.run(() => this.#storage.inTurn(() => this.#agent.forget()));
    this.#shown.change({ working: null });
    if (done) await this.#startOver();
    else if (this.#home.forgetting) this.#guard.note("forgetting");
    return done;
  }

  async panel(element: HTMLElement): Promise<void> {
    await this.#guard.run(async () => {
      const { panelPart } = await import("../views/rest");
      if (this.#picture) await panelPart(element, this.#agent, this.announce);
    });
  }

  trust(key: string, trusted: boolean): void {
    this.#shown.change({ unchecked: true });
    void this.#guard.run(async () => {
      await this.#storage.trust(key, trusted);
      const certificates = this.#picture?.certificates((known) => this.#storage.trusts(known));
      this.#shown.change({ certificates });
      this.#checkDemands();
    });
  }

  demand(demands: Demands): void {
    this.#shown.change({ demands, unchecked: true });
    void this.#guard.run(async () => {
      await this.#storage.inTurn(() => this.#storage.keepDemands(demands));
      this.#checkDemands();
    });
  }

  useHere(): void {
    location.reload();
  }

  accept(): void {
    this.#agreed = true;
    void this.#storage.inTurn(async () => this.#home.repin()).then(() => this.#look());
  }

  withoutStorage(): void {
    this.#storage.withoutStorage();
    this.#shown.change({ notices: this.#model.notices.filter((notice) => notice !== "noOpening") });
    void this.open();
  }

  startOver(onlyHere = false): void {
    const erased = this.#storage.erase(this.#address, new Channel(PATIENCE), onlyHere);
    void erased.then(
      () => location.reload(),
      () => this.#guard.note("notErased"),
    );
  }

  get #model(): Model {
    return this.#shown.model;
  }

  get #agent(): Agent {
    if (!this.#opened) throw new MidpointError("the page is not open yet");
    return this.#opened;
  }

  get #home(): Home {
    return this.#agent.home;
  }

  get #category(): PrivateCategory | undefined {
    return this.#unprotected ?? this.#home.category;
  }

  async #openHome(): Promise<void> {
    const home = await this.#storage.open();
    if (this.#storage.ends) this.#guard.note("noStorage");
    this.#opened = new Agent(this.#address, home, {}, this.#channel);
    this.#useDemands();
    this.#preview.begin(home);
  }

  /** Deliver what waits, check what the service publishes, and go on from there. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const refused = this.#model.phase === "refused";
    const done = await this.#guard.run(async () => {
      if (this.#home.forgetting) await this.#finishForgetting();
      await this.#agent.requireNewest();
      await this.#deliver();
      await this.#readWitnesses();
      await this.#agent.connect((rateable) => this.#showEarly(rateable));
      this.#readAgain();
      this.#checked();
      await this.#keepEarly();
      if (this.#category) await this.#goOn(refused);
      else this.sayNone(this.#model.phase === "everyone");
    });
    this.#looking = false;
    if (done && !this.#demanded) this.#shown.change({ unchecked: false });
    if (done && this.#retries.succeeded()) this.announce(texts.notices.back);
    if (this.#demanded) {
      this.#demanded = false;
      await this.#look();
    }
  }

  /** Ask which witnesses the page may ask; one that she demands is asked, named or not. */
  async #readWitnesses(): Promise<void> {
    const url = `${this.#address}/witnesses.json`;
    const raw = await this.#channel.ask({ method: "GET", url, largest: 2 ** 16 });
    const { witnesses } = Witnesses.parse(raw);
    this.#shown.change({ witnesses });
    this.#useDemands();
    const { demands, anyWitness } = this.#model;
    const witness = demands?.witness;
    if (witness && !anyWitness && !witnesses.includes(witness)) {
      throw new RefusedError("not_witnessed", texts.refused.unnamedWitness(witness));
    }
  }

  /** She demands something else: nothing is sent before the service was checked by it. */
  #checkDemands(): void {
    this.#useDemands();
    this.#shown.change({ unchecked: true }); // a look that began before may have ended meanwhile
    this.#demanded = this.#looking; // what is looked at now was demanded before
    this.again();
  }

  /** Hold the service to what she demands now. */
  #useDemands(): void {
    const demands = this.#storage.demands(this.#model.witnesses);
    this.#agent.terms = termsOf(demands);
    this.#shown.change({ demands });
  }

  /** On the way to the first check, let her choose and rate; nothing of it is kept or sent yet. */
  #showEarly({ features, scale, scheme, catalogue }: Rateable): void {
    if (this.#model.phase !== "opening" || this.#agreed) return;
    const chosen = this.#home.categoryNames ?? null;
    this.#shown.change({
      features,
      hidesRated: scheme.subSamples,
      levels: scale.levels,
      site: siteOf(catalogue.wording, scale.levels ?? []),
      final: finalOf(this.#home.ledger),
      titles: new Titles(
        catalogue.items,
        catalogue.titles,
        catalogue.ratings,
        catalogue.genres,
        catalogue.links,
      ),
      draft: this.#preview.ratings,
      chosen,
      phase: chosen ? "ready" : "welcome",
    });
    void loadGuesses(); // while the disclosure is on its way, so that nothing waits for it then
  }

  /** Keep what she chose and rated before the first check. */
  async #keepEarly(): Promise<void> {
    const names = this.#chosen;
    this.#chosen = null;
    if (names) {
      await this.#storage.inTurn(() => this.#home.keepCategory(names));
      void this.#storage.makeLasting().then((lasting) => this.#shown.change({ lasting }));
    }
    if (this.#model.pending) await this.#preview.keep(this.#home);
  }

  /** After a change that she agreed to, ratings on another scale are not kept any more. */
  #readAgain(): void {
    if (this.#agreed) this.#preview.begin(this.#home);
    this.#agreed = false;
  }

  async #finishForgetting(): Promise<void> {
    this.#guard.note("forgetting");
    await this.#storage.inTurn(() => this.#agent.forget());
    await this.#openHome();
    this.#clear();
  }

  async #startOver(): Promise<void> {
    await this.#openHome();
    this.#clear();
    await this.#look();
    this.announce(texts.ledger.forgotten);
  }

  /** Show nothing of anyone. */
  #clear(): void {
    this.#recommendations.forget();
    this.#picture = this.#chosen = this.#unprotected = null;
    this.#preview.stop();
    location.hash = "";
    this.#shown.forget();
  }

  /** Go on rating; what was refused may have been the question, so it is asked for again. */
  async #goOn(afterRefusal: boolean): Promise<void> {
    if (afterRefusal) await this.#ask();
    this.#shown.change({ phase: "ready", chosen: this.#home.categoryNames ?? null });
    this.#decided();
    await Promise.all([this.#foresee(), this.#isAsked || this.#ask()]);
    if (!this.#recommendations.isWanted) return;
    await this.#recommend();
    // Meanwhile there may be new figures: then what was asked under the old ones is not open here.
    if (!this.#isAsked) await this.#ask();
  }

  /** Whether the question at hand goes with the figures that passed the checks last. */
  get #isAsked(): boolean {
    return this.#agent.asked?.disclosure === this.#agent.standing.accepted.disclosure.digest;
  }

  /** Take over what passed the checks. */
  #checked(): void {
    this.#picture = new Picture(this.#agent);
    if (this.#agent.standing.accepted.succeeded !== undefined) this.#guard.note("newKey");
    const checked = this.#picture.checked((key) => this.#storage.trusts(key));
    // The same features as before are not drawn again: she may be choosing.
    const same = JSON.stringify(checked.features) === JSON.stringify(this.#model.features);
    this.#shown.change({ ...checked, ...(same && { features: this.#model.features }) });
  }

  async #ask(): Promise<void> {
    const asked = await this.#agent.solicit();
    if (asked.disclosure !== this.#picture?.digest) this.#checked();
    this.#shown.change(this.#picture?.asked(asked.items) ?? {});
    await this.#foresee();
  }

  async #deliver(): Promise<void> {
    const receipt = await this.#storage
      .inTurn(() => this.#agent.submit())
      .finally(() => this.#decided());
    if (!receipt) return;
    await this.#storage.keepAnswers(receipt.answers);
    this.#recommendations.isStale = true;
    this.#shown.change({ away: false });
    this.#decided();
  }

  async #recommend(): Promise<void> {
    const category = this.#category;
    const { ledger } = this.#home;
    if (!category || ledger.rounds.length === 0) return;
    const ranked = await this.#recommendations.ask(this.#agent, category);
    if (this.#agent.standing.accepted.disclosure.digest !== this.#picture?.digest) this.#checked();
    this.#recommendations.take(ranked, this.#picture?.cell(category) ?? null);
    this.#rank();
  }

  /** Show the ranking for her category as it is now, without asking anyone. */
  #rank(): void {
    const category = this.#category;
    if (category && this.#picture) this.#recommendations.rank(this.#picture, category);
  }

  /** A rating changed: show it at once, then keep it, and work out again what would leave. */
  #drafted(said = () => {}): void {
    const previewed = this.#foresee();
    void this.#guard.run(async () => {
      await painted();
      if (this.#picture) await this.#preview.keep(this.#home);
    });
    void this.#guard.run(async () => {
      if (await previewed) said();
    });
  }

  /** Show what is final. */
  #decided(): void {
    if (!this.#picture) return;
    this.#shown.change(this.#picture.decided(this.#storage.answers));
  }

  /** Show what would leave; true when it is shown (see Preview.show). */
  async #foresee(): Promise<boolean> {
    return this.#preview.show(this.#category, this.#picture);
  }
}
