/** The gauges' numbers: what reading title by title could show, from public figures alone. */

import { type Disclosure, evidence, marginals } from "../../index";
import type { Guess } from "./model";

/** What could be guessed of each feature from all ratings, and from all that is sent. */
export function guessesOf(
  disclosure: Disclosure,
  rated: ReadonlyMap<string, number>,
  sent: ReadonlyMap<string, number>,
): Guess[] {
  const shares = evidence(disclosure, rated, sent);
  const fromRaw = marginals(disclosure, shares.raw);
  const fromSent = marginals(disclosure, shares.sent);
  return disclosure.features.map((feature, f) => ({
    feature,
    raw: fromRaw[f],
    sent: fromSent[f],
    values: shares.values,
  }));
}
