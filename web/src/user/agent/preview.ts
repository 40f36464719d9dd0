/** What leaves the device, line by line, before anything is final. */
import type { Report, Solicitation } from "../../wire/exchange";
import { ONE } from "../../wire/fixed";
import type { Accepted } from "../checks/disclosure";
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
  /** Probability of revealing such a rating. */
  readonly reveal: number;
  /** How far its value moves towards her counterparts'. */
  readonly shift: number;
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
 * The coins are fixed, so looking again, or looking and not confirming, tosses nothing again.
 */
export function preview(
  ratings: Ratings,
  solicitation: Solicitation,
  accepted: Accepted,
  category: PrivateCategory,
  ledger: Ledger,
): Preview {
  const { report, round, adjustment } = plan(ratings, solicitation, accepted, category, ledger);
  const { index } = accepted.disclosure;
  const answers = new Map(round ? report.answers : []);
  const withheld = new Set(round?.withheld);
  const fateOf = (item: string): Pick<Line, "sent" | "fate"> => {
    const before = ledger.decision(item);
    if (before) {
      const fate = before.value === undefined ? "withheld_before" : "sent_before";
      return { sent: before.value, fate };
    }
    const fate = answers.has(item) ? "sent" : withheld.has(item) ? "withheld" : "not_asked";
    return { sent: answers.get(item), fate };
  };
  const line = ([item, rating]: [string, number]): Line => {
    const at = index.get(item);
    const known = at !== undefined;
    const reveal = known ? adjustment.reveal(at) : ONE;
    return { item, rating, ...fateOf(item), reveal, shift: known ? adjustment.shift(at) : 0 };
  };
  return { report, lines: [...ratings].map(line) };
}
