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
  readonly #places: ReadonlyMap<string, number>;

  constructor(disclosure: Disclosure) {
    this.#disclosure = disclosure;
    this.#offsets = correction(disclosure);
    this.#places = new Map(disclosure.items.map((item, place) => [item, place]));
  }

  /** One line for each rating, in the order in which they were given. */
  lines(decided: readonly Decided[], cell: number, titles: Titles): Line[] {
    return decided.map((one) => ({
      title: titles.of(one.item),
      yours: one.rating,
      told: one.fate === "sent" ? (one.sent ?? null) : null,
      why: this.#why(one, cell),
    }));
  }

  #why({ item, rating, sent, fate, own }: Decided, cell: number): string {
    const place = this.#places.get(item);
    if (place === undefined || fate === "not_asked") return words.notAsked;
    if (fate !== "sent" || sent === undefined) {
      if (own) return words.withheldLikeOthers(percent(1 - own.reveal / ONE));
      const reveal = this.#disclosure.reveal?.[place]?.[cell] ?? ONE;
      return words.withheld(percent(1 - reveal / ONE));
    }
    const map = schemeOf(this.#disclosure).valueMap;
    if (map === "item_average" || map === "feature_average") return words.average;
    const offset = this.#offsets[place]?.[cell] ?? 0;
    const shift = own?.shift ?? 0;
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
