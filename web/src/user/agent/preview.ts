/** What leaves the device, line by line, before anything is final. */
import type { Report, Solicitation } from "../../wire/exchange";
import type { Accepted } from "../checks/disclosure";
import { type Own, ownOf } from "../core/counterparts";
import { plan, type Ratings } from "../core/decisions";
import type { Ledger } from "../core/ledger";
import type { PrivateCategory } from "../core/private";

/**
 * What becomes of one rating.
 *
 * - sent: it is sent, as it is or changed.
 * - withheld: a coin keeps it here for good; people like her rate this item more often than others.
 * - sent_before, withheld_before: decided in an earlier round; that stands, whatever she says now.
 * - not_asked: this round does not ask about it, so nothing is decided.
 */
export type Fate = "sent" | "withheld" | "sent_before" | "withheld_before" | "not_asked";

/** One rating and what becomes of it; numbers in fixed point. */
export interface Line {
  readonly item: string;
  /** What she gave. */
  readonly rating: number;
  /** What the report says about it, or an earlier one said; undefined if nothing. */
  readonly sent: number | undefined;
  /** Why. */
  readonly fate: Fate;
  /** What her place makes of it; undefined where the scheme has no counterparts. */
  readonly own: Own | undefined;
}

/** All that would leave, and why. */
export interface Preview {
  /** The exact message that would be sent. */
  readonly report: Report;
  /** One line for each rating, in the order given. */
  readonly lines: readonly Line[];
}

/**
 * Show what `decide` will do, one line for each rating.
 *
 * The coins are fixed, so looking again, or looking and not confirming, tosses nothing anew.
 */
export function preview(
  ratings: Ratings,
  solicitation: Solicitation,
  accepted: Accepted,
  category: PrivateCategory,
  ledger: Ledger,
): Preview {
  const { report, round, met } = plan(ratings, solicitation, accepted, category, ledger);
  const { disclosure } = accepted;
  const places = new Map(disclosure.items.map((item, place) => [item, place]));
  const cell = category.cellIn(disclosure);
  const told = new Map(round ? report.answers : []);
  const withheld = new Set(round?.withheld);
  const line = (item: string, rating: number): Line => {
    const place = places.get(item);
    const own = met && place !== undefined ? ownOf(disclosure, cell, place, met) : undefined;
    const before = ledger.decision(item);
    if (before) {
      const fate = before.value === undefined ? "withheld_before" : "sent_before";
      return { item, rating, sent: before.value, fate, own };
    }
    const fate = told.has(item) ? "sent" : withheld.has(item) ? "withheld" : "not_asked";
    return { item, rating, sent: told.get(item), fate, own };
  };
  return { report, lines: [...ratings].map(([item, rating]) => line(item, rating)) };
}
