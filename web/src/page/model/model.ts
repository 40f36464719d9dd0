/** What the page shows, as one immutable value; views draw it and never change it. */

import { FILMS, type Site } from "../texts";
import type { Title, Titles } from "./titles";

/** One private feature and its categories, as disclosed. */
export interface FeatureChoice {
  readonly name: string;
  readonly categories: readonly string[];
}

/** One rated title of the present round, and what becomes of it. */
export interface Line {
  readonly title: Title;
  readonly yours: number;
  /** The value that would be sent; null if it stays here. */
  readonly sent: number | null;
  /** Why, in a few words for the row, and in full. */
  readonly brief: string;
  readonly why: string;
  /** What was said of it before, if that changed while she went on rating; null if withheld. */
  readonly was?: number | null;
}

/** One title that one category rates more often than another, from public figures. */
export interface Example {
  readonly title: Title;
  readonly feature: string;
  readonly more: string;
  readonly fewer: string;
  readonly times: number;
}

/** What an attacker who reads title by title could guess of one feature. */
export interface Guess {
  readonly feature: FeatureChoice;
  /** Probability of each category from the ratings as given. */
  readonly raw: readonly number[];
  /** The same from what is sent. */
  readonly sent: readonly number[];
  /** Whether the disclosure says how groups rate; else only what was rated shows anything. */
  readonly values: boolean;
}

/** What an auditor signed; shares from 0 to 1. */
export interface Measured {
  readonly auditor: string;
  readonly key: string;
  readonly attack: string;
  readonly auc: number;
  readonly low: number;
  readonly high: number;
  readonly nullLow: number;
  readonly nullHigh: number;
  /** Whom it was measured against, where that is stated. */
  readonly adversary?: string;
  readonly panel: number;
  readonly outsiders: number;
  /** Share of people whose category is named with 90 % confidence, where that is stated. */
  readonly named?: number;
  /** Whether she confirmed the auditor's key. */
  readonly trusted: boolean;
}

/** What she demands of the service, on the same terms as in the terminal. */
export interface Demands {
  /** Address of the witness that is asked; null for none. */
  readonly witness: string | null;
  /** Its public key; empty if the first one that it shows is held on to. */
  readonly witnessKey: string;
  /** Whether she chose to ask none, although there is one. */
  readonly withoutWitness: boolean;
  /** Hours for which it has to show an entry before that is answered under. */
  readonly hours: number;
  /** Public keys of auditors that she trusts. */
  readonly auditors: readonly string[];
  readonly requireCertificate: boolean;
  /** AUC that the strongest attack may reach, as certified. */
  readonly mostAuc: number;
  /** AUC that errors of the figures may let somebody reach, as the service says; null for any. */
  readonly mostLeak: number | null;
  /** Whether she agreed to a scheme that does not hide which titles she rates. */
  readonly showRated: boolean;
}

/** One recommended title; numbers in fixed point. */
export interface Recommended {
  readonly title: Title;
  readonly shown: number;
  readonly deviation: number;
}

/** One line of an answered round. */
export interface Decided {
  readonly title: Title;
  readonly yours: number | null;
  readonly sent: number | null;
}

/** One answered round. */
export interface Answered {
  /** Her first answer is 1; a round that was dropped unanswered leaves no gap. */
  readonly number: number;
  readonly decided: readonly Decided[];
  readonly bytes: string;
  readonly delivered: boolean;
}

export type Phase = "opening" | "refused" | "welcome" | "everyone" | "ready";
export type View = "rate" | "leaves" | "foryou" | "ledger";

export interface Model {
  readonly phase: Phase;
  readonly view: View;
  /** Why the service was refused. */
  readonly refusal: {
    readonly code: string;
    readonly sentence: string;
    /** Whether this browser refused; else the service did. */
    readonly ours: boolean;
  } | null;
  /** Whether the last request found no service. */
  readonly away: boolean;
  /** Something that takes a moment, by name; nothing else may start meanwhile. */
  readonly working: "sending" | "forgetting" | null;
  readonly notices: readonly Notice[];
  /** Whether this browser promised to keep what is kept; null before it was asked. */
  readonly lasting: boolean | null;
  readonly features: readonly FeatureChoice[];
  /** Whether which titles were rated is hidden too, title by title. */
  readonly hidesRated: boolean;
  readonly chosen: Readonly<Record<string, string>> | null;
  /** Whether she said no category and agreed that nothing is protected. */
  readonly inTheClear: boolean;
  readonly titles: Titles | null;
  /** What the site calls its items, and whether they are rated at all. */
  readonly site: Site;
  /** What ratings give away, by one title of this site; null if it is not known. */
  readonly example: Example | null;
  readonly levels: readonly number[];
  /** The titles that the service asks about in the present round. */
  readonly asked: readonly Title[];
  readonly hasRound: boolean;
  /** Ratings of the present round, not sent yet; the latest last. */
  readonly draft: ReadonlyMap<string, number>;
  /** Items whose decision is final: the value sent, or null if withheld. */
  readonly final: ReadonlyMap<string, number | null>;
  /** What she gave to those. */
  readonly given: ReadonlyMap<string, number>;
  /**
   * Whether `lines`, `bytes` and `guesses` are still those of an earlier draft: they are worked out
   * again, and meanwhile nothing is sent.
   */
  readonly pending: boolean;
  /** Whether she changed what she demands and the service was not checked since: nothing is sent. */
  readonly unchecked: boolean;
  /** What becomes of each rating of the present round, in the order of the draft. */
  readonly lines: readonly Line[];
  /** The exact text that would be sent. */
  readonly bytes: string;
  readonly guesses: readonly Guess[];
  readonly certificates: readonly Measured[];
  readonly recommended: readonly Recommended[] | null;
  /** Mean deviation of the recommendations; null before there are any. */
  readonly sureness: number | null;
  /** The same before and after the last answer, if it fell. */
  readonly surer: { readonly before: number; readonly now: number } | null;
  /** The best titles for everyone, for somebody who says no category; null if she was not there. */
  readonly everyone: readonly Title[] | null;
  readonly answers: number;
  readonly ledger: readonly Answered[];
  /** The entry of the service's list that is answered under, and whether a newer one waits. */
  readonly head: {
    readonly sequence: number;
    readonly digest: string;
    readonly superseded: boolean;
  } | null;
  /** The witnesses that the service names. */
  readonly witnesses: readonly string[];
  /** Whether the page may ask others, too. */
  readonly anyWitness: boolean;
  readonly demands: Demands | null;
}

/**
 * A warning that stands.
 *
 * - noStorage: nothing outlives the page. storage: a step was not kept; that passes.
 * - noOpening: storage did not open. badStorage: what it holds is broken, and only then may it go.
 * - moved: all of it was moved to another device, and nothing is decided here.
 * - newKey: the service signs with another key, for which the known one vouched.
 * - notErased: the service did not confirm; erasing here only is still possible.
 */
export type Notice =
  | "insecure"
  | "noStorage"
  | "storage"
  | "noOpening"
  | "badStorage"
  | "notErased"
  | "otherTab"
  | "forgetting"
  | "moved"
  | "newKey"
  | "failed";

export const start: Model = {
  phase: "opening",
  view: "rate",
  refusal: null,
  away: false,
  working: null,
  notices: [],
  lasting: null,
  features: [],
  hidesRated: false,
  chosen: null,
  inTheClear: false,
  titles: null,
  site: FILMS,
  example: null,
  levels: [],
  asked: [],
  hasRound: false,
  draft: new Map(),
  pending: false,
  unchecked: false,
  final: new Map(),
  given: new Map(),
  lines: [],
  bytes: "",
  guesses: [],
  certificates: [],
  recommended: null,
  sureness: null,
  surer: null,
  everyone: null,
  answers: 0,
  ledger: [],
  head: null,
  witnesses: [],
  anyWitness: false,
  demands: null,
};

/** Holds the present model and notifies views of changes, once a turn. */
export class Shown {
  #model: Model = start;
  #waiting = false;
  readonly #listeners: ((model: Model) => void)[] = [];

  get model(): Model {
    return this.#model;
  }

  /** Change some fields; views are notified together, before the next paint. */
  change(fields: Partial<Model>): void {
    this.#model = { ...this.#model, ...fields };
    if (this.#waiting) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      for (const listener of this.#listeners) listener(this.#model);
    });
  }

  /** Show nothing of anyone, but the warnings that still stand. */
  forget(): void {
    const { notices, lasting, witnesses, anyWitness } = this.#model;
    this.change({
      ...start,
      witnesses,
      anyWitness,
      notices: notices.filter((notice) => notice !== "forgetting"),
      lasting,
    });
  }

  /** Call back with the model now and after each change. */
  watch(listener: (model: Model) => void): void {
    this.#listeners.push(listener);
    listener(this.#model);
  }
}
