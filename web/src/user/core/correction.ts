/** Local correction: the device adds its own offset to the scores it receives, and ranks again. */
import { compare } from "../../wire/canonical";
import { correction } from "../../wire/corrections";
import type { Disclosure } from "../../wire/disclosure";
import type { Scores } from "../../wire/exchange";
import { RefusedError } from "../../wire/refusal";
import { ownPart, valueShift } from "./counterparts";
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
 * own items, withheld ones included (see `Ledger.decided`); they are left out. Where the scheme has
 * counterparts, by how much her values were moved, <move, taste_j>, is taken off again: `move` is what
 * `Ledger.moveUnder` says, empty if nothing was moved. A list of fewer items is made without knowing
 * it: at any rank, what is shown is worse than her best by at most max_j - min_j of <move, taste_j>,
 * which is at most 3/4 of the scale. Of sets `move` is her position, and what it says of an item is
 * added.
 */
export function correct(
  scores: Scores,
  disclosure: Disclosure,
  category: PrivateCategory,
  rated: ReadonlySet<string>,
  move: readonly number[],
): Recommendation[] {
  if (scores.disclosure !== disclosure.digest) {
    throw new RefusedError("wrong_digest", "the scores go with another disclosure");
  }
  const cell = category.cellIn(disclosure);
  const offsets = correction(disclosure);
  const { low, high } = disclosure.scale;
  const ranked: Recommendation[] = [];
  scores.items.forEach((item, i) => {
    const index = disclosure.index.get(item);
    if (index === undefined) {
      throw new RefusedError("unknown_item", `item '${item}' is not in the disclosure`);
    }
    if (rated.has(item)) return;
    const added = ownPart(disclosure, cell, move, index) - valueShift(disclosure, move, index);
    const score = scores.score[i] + offsets[index][cell] + added;
    ranked.push({ item, score, shown: clip(score, low, high), deviation: scores.deviation[i] });
  });
  return ranked.sort((a, b) => b.score - a.score || compare(a.item, b.item));
}
