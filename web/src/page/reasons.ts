/** What becomes of each rated title, and why, in plain words; from public figures and her group. */

import { correction, type Line as Decided, type Disclosure, ONE, schemeOf } from "../index";
import type { Line } from "./model";
import { decimal, percent } from "./scale";
import { texts } from "./texts";
import type { Titles } from "./titles";

const words = texts.leaves.why;
const NOTABLE = 0.05 * ONE;

/** Explains decisions under one disclosure. */
export class Reasons {
  readonly #disclosure: Disclosure;
  readonly #offsets: readonly (readonly number[])[];

  constructor(disclosure: Disclosure) {
    this.#disclosure = disclosure;
    this.#offsets = correction(disclosure);
  }

  /** One line for each rating, in the order in which they were given. */
  lines(decided: readonly Decided[], cell: number, titles: Titles): Line[] {
    return decided.map((line) => ({
      title: titles.of(line.item),
      yours: line.rating,
      sent: line.fate === "sent" ? (line.sent ?? null) : null,
      why: this.#why(line, cell),
    }));
  }

  #why({ item, rating, sent, fate, reveal, shift }: Decided, cell: number): string {
    const { valueMap, counterparts } = schemeOf(this.#disclosure);
    const index = this.#disclosure.index.get(item);
    if (index === undefined || fate === "not_asked") return words.notAsked;
    if (fate !== "sent" || sent === undefined) {
      const share = percent(1 - reveal / ONE);
      return counterparts ? words.withheldLikeOthers(share) : words.withheld(share);
    }
    if (valueMap === "item_average" || valueMap === "feature_average") return words.average;
    const offset = this.#offsets[index]?.[cell] ?? 0;
    const most = Math.max(Math.abs(offset), Math.abs(shift));
    if (sent === rating) return most < NOTABLE ? words.alike : words.same;
    if (most > NOTABLE && most === Math.abs(shift) && sent > rating === shift > 0) {
      return words.towards(decimal(Math.abs(shift)), shift > 0);
    }
    if (sent < rating && offset > NOTABLE) return words.higher(decimal(offset));
    if (sent > rating && offset < -NOTABLE) return words.lower(decimal(-offset));
    return words.moved;
  }
}
