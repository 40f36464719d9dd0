/** From ratings to the one report of a round: ledger, coins and obfuscation together. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import { compare, utf8 } from "../../wire/canonical";
import { type Disclosure, isUnary, numbersOf, schemeOf } from "../../wire/disclosure";
import { Report, type Solicitation } from "../../wire/exchange";
import { ONE } from "../../wire/fixed";
import { RefusedError } from "../../wire/refusal";
import type { Accepted } from "../checks/disclosure";
import { modelOf } from "../parameters";
import { toss } from "./coins";
import { tasteMove, type Valued } from "./correction";
import { type Adjustment, adjust, bySteps } from "./counterparts";
import { type Ledger, Round } from "./ledger";
import { illegal, obfuscate } from "./obfuscation";
import { framed, type PrivateCategory } from "./private";

const TAG = utf8("midpoint/v1/report");
/** In the clear: everything is revealed, and nothing moves. */
const AS_RATED: Adjustment = { reveal: () => ONE, shift: () => 0, move: [] };

/** Her ratings in fixed point, by item. */
export type Ratings = ReadonlyMap<string, number>;
/** A value that is revealed, and the digest of what was disclosed about its item then. */
type Revealed = ReadonlyMap<string, { value: number; numbers: string }>;

/** What a round would decide; nothing is final before it is recorded. */
export interface Plan {
  /** What is sent. */
  readonly report: Report;
  /** What the ledger is to keep; undefined if the round was answered before. */
  readonly round: Round | undefined;
  /** What becomes of her ratings, by all that was asked and answered. */
  readonly adjustment: Adjustment;
}

/**
 * Return the report of a round; asked again, exactly the same one.
 *
 * An item that was decided before, under whatever disclosure, rating or category, keeps its
 * decision. What is asked about and left unrated is closed for the round. An open round decides
 * every other rated item of the disclosure too, once: what was decided before and is not asked about
 * is not reported again. There is a report whatever was withheld, even an empty one. Where items are
 * assigned, she answers all that she is asked or nothing new: what she leaves out would be a choice of
 * hers, and show. In the clear (`PrivateCategory.unprotected`) all that is decided is revealed, as it
 * was rated. `accepted` comes from `checkDisclosure`; coins and the report's name come from the
 * ledger's own secret.
 */
export async function decide(
  ratings: Ratings,
  solicitation: Solicitation,
  accepted: Accepted,
  category: PrivateCategory,
  ledger: Ledger,
): Promise<Report> {
  const { report, round } = plan(ratings, solicitation, accepted, category, ledger);
  if (round) await ledger.record(round);
  return report;
}

/** Return what `decide` would do, to be shown before it is final; the coins do not change. */
export function plan(
  ratings: Ratings,
  solicitation: Solicitation,
  { disclosure }: Accepted,
  category: PrivateCategory,
  ledger: Ledger,
): Plan {
  requireLegal(ratings, disclosure);
  // Here, so that no question decides whether this stops.
  const cell = category.inTheClear ? undefined : category.cellIn(disclosure);
  const { asked, rated: before, value } = evidenceBy(ratings, solicitation, disclosure, ledger);
  const adjustment = cell === undefined ? AS_RATED : adjust(disclosure, cell, asked, before, value);
  const answered = ledger.answered(solicitation.round);
  if (answered) return { report: again(answered, solicitation), round: undefined, adjustment };
  requireAsked(solicitation, disclosure, ledger);
  const items = [...solicitation.items];
  if (solicitation.open) items.push(...undecided(ratings, items, disclosure, ledger));
  const whole = items.every((item) => ratings.has(item) || ledger.decision(item));
  const fresh = items.filter(
    (item) => (whole || !disclosure.sets) && ratings.has(item) && !ledger.decision(item),
  );
  const revealed = new Map<string, { value: number; numbers: string }>();
  for (const item of items) {
    const { value, numbers = "" } = ledger.decision(item) ?? {};
    if (value !== undefined) revealed.set(item, { value, numbers });
  }
  toss(ledger.secret, fresh).forEach((uniform, i) => {
    const item = fresh[i];
    const index = disclosure.index.get(item) as number;
    const rating = ratings.get(item) as number;
    const { keep, value } =
      cell === undefined
        ? { keep: true, value: reportable(rating, disclosure) }
        : obfuscate(index, rating, cell, disclosure, uniform, adjustment);
    if (keep) revealed.set(item, { value, numbers: numbersOf(disclosure, index) });
  });
  const rated = fresh.map((item) => [item, ratings.get(item) as number] as const);
  const move =
    cell === undefined || adjustment.move.length === 0 || isUnary(disclosure.scale)
      ? adjustment.move
      : tasteMove(
          disclosure,
          cell,
          { item: before, value },
          allRevealed(revealed, disclosure, ledger),
        );
  return { ...planned(revealed, rated, solicitation, disclosure, ledger, move), adjustment };
}

/** Return all that was revealed of a disclosure's items, in this round and before. */
function allRevealed(revealed: Revealed, disclosure: Disclosure, ledger: Ledger): Valued {
  const [index, values]: [number[], number[]] = [[], []];
  disclosure.items.forEach((item, i) => {
    const value = revealed.get(item)?.value ?? ledger.decision(item)?.value;
    if (value === undefined) return;
    index.push(i);
    values.push(value);
  });
  return { item: index, value: values };
}

/** Do the long part of `plan` ahead, pausing after each step; `plan` then finds it done. */
export function* planAhead(
  ratings: Ratings,
  solicitation: Solicitation,
  { disclosure }: Accepted,
  category: PrivateCategory,
  ledger: Ledger,
): Generator<void, void> {
  const model = modelOf(disclosure);
  if (!model || category.inTheClear) return;
  const cell = category.cellIn(disclosure);
  yield* bySteps({ model, cell, ...evidenceBy(ratings, solicitation, disclosure, ledger) });
}

/**
 * Refuse ratings that are not whole numbers on the scale; for the moment she enters one.
 *
 * Later it would be too late: a device that is silent because of a rating leaks it. So `decide`
 * looks at all ratings, asked about or not, before it looks at the question, and since the scale is
 * pinned, what was legal once stays so.
 */
export function requireLegal(ratings: Ratings, disclosure: Disclosure): void {
  for (const [item, value] of ratings) {
    if (illegal(value, disclosure)) {
      throw new MidpointError(`the rating of item '${item}' is not on the scale; correct it first`);
    }
  }
}

/** Return a rating as it is, or the nearest level that reports are on. */
function reportable(value: number, { scale }: Disclosure): number {
  const far = (level: number) => Math.abs(level - value);
  const nearest = (a: number, b: number) => (far(b) < far(a) ? b : a); // of two, the lower
  return scale.reported?.reduce(nearest) ?? value;
}

function planned(
  revealed: Revealed,
  rated: readonly (readonly [string, number])[],
  solicitation: Solicitation,
  disclosure: Disclosure,
  ledger: Ledger,
  move: readonly number[],
): Pick<Plan, "report" | "round"> {
  const sorted = [...revealed].sort(([a], [b]) => compare(a, b));
  const name = ledger.secret.prf(framed(TAG, utf8(solicitation.digest)));
  const report = Report.make({
    id: bytesToHex(name.slice(0, 16)),
    disclosure: disclosure.digest,
    round: solicitation.round,
    answers: sorted.map(([item, { value }]) => [item, value] as const),
  });
  const evidence = {
    open: solicitation.open,
    asked: solicitation.items,
    given: rated,
    move: rated.length > 0 ? move : undefined,
  };
  const round = Round.make({
    round: solicitation.round,
    solicitation: solicitation.digest,
    report: report.text,
    numbers: sorted.map(([, { numbers }]) => numbers),
    withheld: rated.map(([item]) => item).filter((item) => !revealed.has(item)),
    ...(schemeOf(disclosure).counterparts ? evidence : {}), // for her position in later rounds
  });
  return { report, round };
}

function again(answered: Round, solicitation: Solicitation): Report {
  if (answered.solicitation !== solicitation.digest) {
    throw new RefusedError(
      "round_changed",
      `round ${solicitation.round} was answered when it asked something else`,
    );
  }
  return Report.parse(answered.report);
}

/**
 * Refuse a question about unknown items, or again, under other numbers, about one that was answered.
 *
 * Only revealed answers count, which the analyst knows: a refusal that depended on withheld items
 * would distinguish them from unrated ones. For those the decision stands in silence.
 */
function requireAsked(solicitation: Solicitation, disclosure: Disclosure, ledger: Ledger): void {
  if (solicitation.disclosure !== disclosure.digest) {
    throw new RefusedError("wrong_digest", "the question goes with another disclosure");
  }
  for (const item of solicitation.items) {
    if (!disclosure.index.has(item)) {
      throw new RefusedError("unknown_item", `item '${item}' is not in the disclosure`);
    }
  }
  if (solicitation.open && disclosure.sets) {
    throw new RefusedError(
      "question_open",
      "items are assigned, and the question leaves the choice to her",
    );
  }
  for (const item of solicitation.items) {
    const numbers = ledger.decision(item)?.numbers;
    if (numbers && numbers !== numbersOf(disclosure, disclosure.index.get(item) as number)) {
      throw new RefusedError(
        "numbers_changed",
        `item '${item}' was answered and is asked again under other numbers`,
      );
    }
  }
}

/** Return each rated item of the disclosure that is not among these and has no decision yet. */
function undecided(
  ratings: Ratings,
  asked: readonly string[],
  disclosure: Disclosure,
  ledger: Ledger,
): string[] {
  const known = new Set(asked);
  return disclosure.items.filter(
    (item) => ratings.has(item) && !ledger.decision(item) && !known.has(item),
  );
}

/**
 * Return what shows her position: all that was asked and answered so far, items by index.
 *
 * One round of a few items shows her position too badly to hide what all rounds together reveal. What
 * was rated in an earlier round counts as it was rated then.
 */
function evidenceBy(
  ratings: Ratings,
  solicitation: Solicitation,
  disclosure: Disclosure,
  ledger: Ledger,
): { asked: readonly number[]; rated: readonly number[]; value: readonly number[] } {
  const { rounds } = ledger;
  const everything = solicitation.open || rounds.some(({ open }) => open);
  const asked = new Set([...rounds.flatMap((round) => round.asked ?? []), ...solicitation.items]);
  const legal = new Set(disclosure.scale.levels); // she may have agreed to another scale since
  const before = rounds.flatMap((round) => round.given ?? []);
  const given = new Map([...ratings, ...before.filter(([, rating]) => legal.has(rating))]);
  const [rated, left, value]: [number[], number[], number[]] = [[], [], []];
  disclosure.items.forEach((item, index) => {
    if (!everything && !asked.has(item)) return;
    const rating = given.get(item);
    if (rating !== undefined) {
      rated.push(index);
      value.push(rating);
    } else if (!ledger.decision(item)) left.push(index);
  });
  return { asked: [...rated, ...left], rated, value };
}
