/** Local correction: the device adds its own offset to the scores it receives, and ranks again. */
import { compare } from "../../wire/canonical";
import { correction } from "../../wire/corrections";
import type { Disclosure } from "../../wire/disclosure";
import type { Scores } from "../../wire/exchange";
import { RefusedError } from "../../wire/refusal";
import { modelOf } from "../parameters";
import { ownPart, roundedPosition, tasteOf, valueShift } from "./counterparts";
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
 * counterparts, <move, taste_j> is taken off: `move` is what `Ledger.moveUnder` says, how far her
 * answers are from her taste (`tasteMove`), empty if there are none. A list of fewer items is made without knowing
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
  // In the clear the scores are of her ratings as they were.
  const cell = category.inTheClear ? undefined : category.cellIn(disclosure);
  const offsets = correction(disclosure);
  const { low, high } = disclosure.scale;
  const ranked: Recommendation[] = [];
  scores.items.forEach((item, i) => {
    const index = disclosure.index.get(item);
    if (index === undefined) {
      throw new RefusedError("unknown_item", `item '${item}' is not in the disclosure`);
    }
    if (rated.has(item)) return;
    const own = (of: number) =>
      offsets[index][of] +
      ownPart(disclosure, of, move, index) -
      valueShift(disclosure, move, index);
    const score = scores.score[i] + (cell === undefined ? 0 : own(cell));
    ranked.push({ item, score, shown: clip(score, low, high), deviation: scores.deviation[i] });
  });
  return ranked.sort((a, b) => b.score - a.score || compare(a.item, b.item));
}

/** Items by index, and a value of each in fixed point. */
export interface Valued {
  readonly item: readonly number[];
  readonly value: readonly number[];
}

/**
 * Return what answers say of her taste less what her ratings say, `counterparts` step 7. Shape (r,).
 *
 * `given` are the items that she rated and her ratings, `sent` those revealed, and as what.
 */
export function tasteMove(
  disclosure: Disclosure,
  cell: number,
  given: Valued,
  sent: Valued,
): number[] {
  const model = modelOf(disclosure);
  if (!model) return [];
  const offsets = correction(disclosure);
  const hers = given.value.map((value, i) => value - offsets[given.item[i]][cell]);
  const known = tasteOf(model, given.item, hers);
  const said = tasteOf(model, sent.item, sent.value);
  return roundedPosition(said.map((coordinate, i) => coordinate - known[i]));
}
