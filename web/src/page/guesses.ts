/** The gauges' numbers: what reading title by title could tell, from public figures alone. */

import { type Disclosure, evidence, marginals } from "../index";
import type { Belief } from "./model";

/** Under one disclosure. */
export class Guesses {
  readonly #disclosure: Disclosure;

  constructor(disclosure: Disclosure) {
    this.#disclosure = disclosure;
  }

  /** What could be guessed of each feature from all ratings, and from all that is sent. */
  beliefs(rated: ReadonlyMap<string, number>, sent: ReadonlyMap<string, number>): Belief[] {
    const found = evidence(this.#disclosure, rated, sent);
    const raw = marginals(this.#disclosure, found.raw);
    const told = marginals(this.#disclosure, found.sent);
    return this.#disclosure.features.map((feature, place) => ({
      feature,
      raw: raw[place],
      sent: told[place],
      values: found.values,
    }));
  }
}
