/** What becomes of each rated title, and why, in plain words; from public figures and her group. */

import {
  correction,
  type Line as Decided,
  type Disclosure,
  isUnary,
  ONE,
  schemeOf,
} from "../../index";
import { decimal } from "../controls/scale";
import { percent, texts } from "../texts";
import type { Line } from "./model";
import type { Titles } from "./titles";

const NOTABLE = 0.05 * ONE;

type Reason = Pick<Line, "brief" | "why">;

/** Explains decisions under one disclosure. */
export class Reasons {
  readonly #disclosure: Disclosure;
  readonly #offsets: readonly (readonly number[])[];

  constructor(disclosure: Disclosure) {
    this.#disclosure = disclosure;
    this.#offsets = correction(disclosure);
  }

  /** One line for each rating, in the order in which they were given. */
  lines(decided: readonly Decided[], cell: number | null, titles: Titles): Line[] {
    return decided.map((line) => ({
      title: titles.of(line.item),
      yours: line.rating,
      sent: line.fate === "sent" ? (line.sent ?? null) : null,
      ...this.#reason(line, cell),
    }));
  }

  #reason(line: Decided, cell: number | null): Reason {
    const { why } = texts.leaves;
    const index = this.#disclosure.index.get(line.item);
    if (index === undefined || line.fate === "not_asked") {
      return { why: why.notAsked, brief: why.brief.notAsked };
    }
    if (line.fate !== "sent" || line.sent === undefined) return this.#withheld(line.reveal, index);
    const { asItIs, moved } = why.brief;
    if (cell === null) {
      return { why: why.inTheClear(line.sent === line.rating), brief: why.brief.inTheClear };
    }
    const brief = line.sent === line.rating ? asItIs : moved;
    return { why: this.#sent(line, line.sent, index, cell), brief };
  }

  #withheld(reveal: number, index: number): Reason {
    const { why } = texts.leaves;
    const share = percent(1 - reveal / ONE);
    const { counterparts } = schemeOf(this.#disclosure);
    // A share of everyone's answers may be withheld; then her group is named only if it adds more.
    const keep = this.#disclosure.keep?.[index] ?? ONE;
    if (keep < ONE && keep <= (ONE * reveal) / keep) {
      const budget = this.#disclosure.leak !== undefined;
      const ofAll = why.withheldOfAll(percent(1 - keep / ONE), budget, counterparts);
      return { why: ofAll, brief: why.brief.withheldOfAll(2 * keep < ONE) };
    }
    const kind = counterparts ? "withheldLikeOthers" : "withheld";
    return { why: why[kind](share), brief: why.brief[kind] };
  }

  #sent({ rating, shift, reveal }: Decided, sent: number, index: number, cell: number): string {
    const { why } = texts.leaves;
    const { valueMap } = schemeOf(this.#disclosure);
    if (isUnary(this.#disclosure.scale)) {
      return reveal < ONE ? why.namedByCoin(percent(1 - reveal / ONE)) : why.named;
    }
    if (valueMap === "item_average" || valueMap === "feature_average") return why.average;
    const offset = this.#offsets[index]?.[cell] ?? 0;
    const most = Math.max(Math.abs(offset), Math.abs(shift));
    if (sent === rating) return most < NOTABLE ? why.alike : why.same;
    if (most > NOTABLE && most === Math.abs(shift) && sent > rating === shift > 0) {
      return why.towards(decimal(Math.abs(shift)), shift > 0);
    }
    if (sent < rating && offset > NOTABLE) return why.higher(decimal(offset));
    if (sent > rating && offset < -NOTABLE) return why.lower(decimal(-offset));
    return why.moved;
  }
}
