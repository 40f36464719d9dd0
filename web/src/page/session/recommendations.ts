/** Recommendations: asked for after each delivery, ranked here for her category as it is now. */

import type { Agent, PrivateCategory, Recommendation } from "../../index";
import type { Shown } from "../model/model";
import { type Picture, RANKED, type Scored, sureness } from "../model/picture";

/** Items up to which all scores are asked for, so that a change of category needs no request. */
const FEW = 20_000;

export class Recommendations {
  /** Whether something was delivered since the last recommendations. */
  isStale = false;
  readonly #shown: Shown;
  #scored: Scored | null = null;

  constructor(shown: Shown) {
    this.#shown = shown;
  }

  /** Whether there are none, or none that know of the last delivery. */
  get isWanted(): boolean {
    return this.isStale || this.#shown.model.recommended === null;
  }

  /** Ask the service for scores; how many does not depend on who asks. */
  ask(agent: Agent, category: PrivateCategory): Promise<Recommendation[]> {
    const { items } = agent.standing.accepted.disclosure;
    return agent.recommend(items.length > FEW ? RANKED : items.length, category);
  }

  /** Take over what was scored, ranked for one cell. */
  take(ranked: readonly Recommendation[], cell: number | null): void {
    this.#scored = { ranked, cell };
    this.isStale = false;
    const model = this.#shown.model;
    const [before, now] = [model.sureness, sureness(this.#scored)];
    const surer = before !== null && now < before ? { before, now } : model.surer;
    this.#shown.change({ sureness: now, surer });
  }

  /** Show the ranking for her category as it is now, without asking anyone. */
  rank(picture: Picture, category: PrivateCategory): void {
    if (this.#scored) this.#shown.change(picture.ranked(this.#scored, category));
  }

  forget(): void {
    this.#scored = null;
  }
}
