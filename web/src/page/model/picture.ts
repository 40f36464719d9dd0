/** What the model shows of an agent's state: worked out here, asked of nobody. */

import {
  type Agent,
  bestForEveryone,
  type PrivateCategory,
  type Recommendation,
  schemeOf,
} from "../../index";
import { siteOf } from "../texts";
import { answeredOf, finalOf, measuredOf, recommendedOf, reranked } from "./conversions";
import { exampleOf } from "./example";
import type { Measured, Model } from "./model";
import { Reasons } from "./reasons";
import { type Title, Titles } from "./titles";

/** How many recommendations are ranked; public, the same for everyone. */
export const RANKED = 200;
/** How many titles are shown to somebody who says no category. */
const FOR_EVERYONE = 50;

/** What the gauges show is worked out by a part that is loaded when there is something to guess. */
let guesses: typeof import("./guesses") | null = null;

/** Load it; without it there are no gauges, and all else is as it is. */
export async function loadGuesses(): Promise<void> {
  try {
    guesses ??= await import("./guesses");
  } catch {
    // The service is away; the next rating tries again.
  }
}

/** Draws under the disclosure that passed the checks last. */
export class Picture {
  readonly titles: Titles;
  readonly digest: string;
  readonly #agent: Agent;
  readonly #reasons: Reasons;

  constructor(agent: Agent) {
    const { accepted, titles, popularity, genres, links } = agent.standing;
    const { items } = accepted.disclosure;
    this.#agent = agent;
    void loadGuesses();
    this.digest = accepted.disclosure.digest;
    this.#reasons = new Reasons(accepted.disclosure);
    this.titles = new Titles(
      items,
      items.map((item) => titles.get(item) ?? item),
      items.map((item) => popularity.get(item) ?? 0),
      items.map((item) => genres.get(item) ?? ""),
      items.map((item) => links.get(item) ?? ""),
    );
  }

  /** What the service publishes. */
  checked(trusts: (key: string) => boolean): Partial<Model> {
    const { accepted, wording } = this.#agent.standing;
    const { disclosure, entry, superseded } = accepted;
    const levels = disclosure.scale.levels ?? [];
    return {
      refusal: null,
      away: false,
      features: disclosure.features,
      hidesRated: schemeOf(disclosure).subSamples,
      levels,
      site: siteOf(wording, levels),
      example: exampleOf(disclosure, this.titles),
      titles: this.titles,
      certificates: this.certificates(trusts),
      head: { sequence: entry.sequence, digest: entry.digest, superseded },
    };
  }

  /** What auditors signed, and whether she trusts them. */
  certificates(trusts: (key: string) => boolean): Measured[] {
    return this.#agent.standing.certificates.map((certificate) =>
      measuredOf(certificate, trusts(certificate.key)),
    );
  }

  /** What the service asks about: people know the most rated titles best. */
  asked(items: readonly string[]): Partial<Model> {
    const asked = items.map((item) => this.titles.of(item));
    asked.sort((a, b) => b.ratings - a.ratings || (a.item < b.item ? -1 : 1));
    return { asked, hasRound: true, away: false };
  }

  /** What is final. */
  decided(answers: number): Partial<Model> {
    const { ledger, ratings, unsent } = this.#agent.home;
    const rounds = answeredOf(ledger, ratings, unsent, this.titles);
    const given = new Map([...ratings].filter(([item]) => ledger.decision(item)));
    return { final: finalOf(ledger), given, ledger: rounds, answers };
  }

  /** The best titles for everyone. */
  forEveryone(): Title[] {
    const best = bestForEveryone(this.#agent.standing).slice(0, FOR_EVERYONE);
    return best.map((item) => this.titles.of(item));
  }

  /** Do the long part of `preview` ahead, pausing after each step of it. */
  ahead(draft: ReadonlyMap<string, number>, category: PrivateCategory): Generator<void, void> {
    return this.#agent.ahead(draft, category);
  }

  /** What would leave, and what could be guessed from all of it. */
  preview(draft: ReadonlyMap<string, number>, category: PrivateCategory): Partial<Model> {
    const { ledger, ratings } = this.#agent.home;
    const { disclosure } = this.#agent.standing.accepted;
    const seen = this.#agent.asked ? this.#agent.preview(draft, category) : null;
    const lines = seen?.lines ?? [];
    const sent = new Map<string, number>();
    for (const [item, value] of finalOf(ledger)) if (value !== null) sent.set(item, value);
    for (const line of lines) {
      if (line.fate === "sent" && line.sent !== undefined) sent.set(line.item, line.sent);
    }
    const rated = new Map([...ratings].filter(([item]) => ledger.decision(item)));
    for (const [item, value] of draft) rated.set(item, value);
    const guessed = guesses?.guessesOf(disclosure, rated, sent) ?? [];
    return {
      draft,
      pending: false,
      lines: this.#reasons.lines(lines, this.cell(category), this.titles),
      bytes: seen?.report.text ?? "",
      // In the clear what is sent is what she rated, and gives away as much.
      guesses: category.inTheClear
        ? guessed.map((guess) => ({ ...guess, sent: guess.raw }))
        : guessed,
    };
  }

  /** Recommendations for her category as it is now, from scores that were made for all. */
  ranked(scored: Scored, category: PrivateCategory): Partial<Model> {
    const { disclosure } = this.#agent.standing.accepted;
    const ranked = reranked(scored.ranked, disclosure, scored.cell, this.cell(category));
    return { recommended: recommendedOf(ranked.slice(0, RANKED), this.titles) };
  }

  /** Her joint cell under this disclosure; null in the clear. */
  cell(category: PrivateCategory): number | null {
    if (category.inTheClear) return null;
    return category.cellIn(this.#agent.standing.accepted.disclosure);
  }
}

/** What the service scored, ranked for one cell, or for none. */
export interface Scored {
  readonly ranked: readonly Recommendation[];
  readonly cell: number | null;
}

/** Mean deviation of the first recommendations. */
export function sureness({ ranked }: Scored): number {
  const first = ranked.slice(0, RANKED);
  return first.reduce((sum, { deviation }) => sum + deviation, 0) / Math.max(first.length, 1);
}
