/** Local correction: the device adds its own offset to the scores it receives, and ranks anew. */
import { MidpointError } from "../../errors";
import { compare } from "../../wire/canonical";
import { correction } from "../../wire/corrections";
import { type Disclosure, schemeOf } from "../../wire/disclosure";
import type { Scores } from "../../wire/exchange";
import { RefusedError } from "../../wire/refusal";
import { valueShift } from "./counterparts";
import { clip } from "./obfuscation";
import type { PrivateCategory } from "./private";

/** One item as the user sees it; numbers in fixed point. */
export interface Recommendation {
  /** Its identifier. */
  readonly item: string;
  /** Predicted rating with her own offset, not clipped: what it is ranked by. */
  readonly score: number;
  /** The same, brought onto the scale for display. */
  readonly shown: number;
  /** Standard deviation of the prediction. */
  readonly deviation: number;
}

/**
 * Rank by score_j + offset_j[own category], best first, ties by item, then clip to the scale.
 *
 * Ranking comes before clipping, or all that reaches the top of the scale would tie. `rated` are her
 * own items, withheld ones included (see `Ledger.decided`); they are left out. Where devices look for
 * counterparts, by how much her values were moved, <move, taste_j>, is taken off again: `move` is what
 * `Ledger.moveUnder` says, empty if nothing was, and must be given. A list of fewer items is made
 * without knowing it: at any place, what is shown is worse than her best by at most max_j - min_j of
 * <move, taste_j>, which is at most 3/4 of the scale.
 */
export function correct(
  scores: Scores,
  disclosure: Disclosure,
  category: PrivateCategory,
  rated: ReadonlySet<string>,
  move?: readonly number[],
): Recommendation[] {
  if (!move && schemeOf(disclosure).counterparts) {
    throw new MidpointError(
      `scheme '${disclosure.scheme}' moved her values, which scores have to lose again; give ledger.moveUnder(disclosure.digest)`,
    );
  }
  if (scores.disclosure !== disclosure.digest) {
    throw new RefusedError("wrong_digest", "the scores go with another disclosure");
  }
  const cell = category.cellIn(disclosure);
  const places = new Map(disclosure.items.map((item, place) => [item, place]));
  const offsets = correction(disclosure);
  const { low, high } = disclosure.scale;
  const found: Recommendation[] = [];
  scores.items.forEach((item, i) => {
    const place = places.get(item);
    if (place === undefined) {
      throw new RefusedError("unknown_item", `item '${item}' is not in the disclosure`);
    }
    if (rated.has(item)) return;
    const shift = move?.length ? valueShift(disclosure, move, place) : 0;
    const score = scores.score[i] + (offsets[place][cell] - shift);
    found.push({ item, score, shown: clip(score, low, high), deviation: scores.deviation[i] });
  });
  return found.sort((a, b) => b.score - a.score || compare(a.item, b.item));
}
