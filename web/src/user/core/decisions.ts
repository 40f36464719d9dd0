/** From ratings to the one report of a round: ledger, coins and obfuscation together. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import { compare, utf8 } from "../../wire/canonical";
import { type Disclosure, numbersOf } from "../../wire/disclosure";
import { Report, type Solicitation } from "../../wire/exchange";
import { RefusedError } from "../../wire/refusal";
import type { Accepted } from "../checks/disclosure";
import { toss } from "./coins";
import { type Counterparts, counterparts, modelOf, ownOf } from "./counterparts";
import { type Ledger, Round } from "./ledger";
import { illegal, obfuscate } from "./obfuscation";
import { framed, type PrivateCategory } from "./private";

const TAG = utf8("midpoint/v1/report");

/** Her ratings in fixed point, by item. */
export type Ratings = ReadonlyMap<string, number>;
type PositionModel = Map<string, number>;

/** What a round would decide; nothing is final before it is recorded. */
export interface Plan {
  /** What is sent. */
  readonly report: Report;
  /** What the ledger is to keep; undefined if the round was answered before. */
  readonly round: Round | undefined;
  /** Her counterparts by all that was asked and answered; undefined if nothing needs them. */
  readonly met: Counterparts | undefined;
}

/**
 * Return the report of a round; asked again, exactly the same one.
 *
 * An item that was decided before, under whatever disclosure, rating or category, keeps its
 * decision. What is asked about and left unrated is closed for the round. An open round decides
 * every other rated item of the disclosure too, once: what was decided before and is not asked about
 * is not told again. There is a report whatever was withheld, even an empty one. `accepted` comes
 * from `checkDisclosure`; coins and the report's name come from the ledger's own secret.
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
  const cell = category.cellIn(disclosure); // here, so that no question decides whether this stops
  const answered = ledger.answered(solicitation.round);
  if (answered) return { report: again(answered, solicitation), round: undefined, met: undefined };
  const places = positionsOf(solicitation, disclosure);
  requireUnchanged(places, disclosure, ledger);
  if (solicitation.open) addUndecided(places, ratings, disclosure, ledger);
  const fresh = [...places.keys()].filter((item) => ratings.has(item) && !ledger.decision(item));
  const told = new Map<string, { value: number; numbers: string }>();
  for (const item of places.keys()) {
    const { value, numbers = "" } = ledger.decision(item) ?? {};
    if (value !== undefined) told.set(item, { value, numbers });
  }
  const met = metBy(ratings, solicitation, disclosure, ledger, cell);
  toss(ledger.secret, fresh).forEach((uniform, i) => {
    const item = fresh[i];
    const place = places.get(item) as number;
    const own = met && ownOf(disclosure, cell, place, met);
    const rating = ratings.get(item) as number;
    const done = obfuscate(place, rating, cell, disclosure, uniform, 1, own);
    if (done.keep) told.set(item, { value: done.value, numbers: numbersOf(disclosure, place) });
  });
  const rated = fresh.map((item) => [item, ratings.get(item) as number] as const);
  return planned(told, rated, solicitation, disclosure, ledger, met);
}

/**
 * Refuse ratings that are not whole numbers on the scale; for the moment she enters one.
 *
 * Later it would be too late: a device that is silent because of a rating tells it. So `decide`
 * looks at all ratings, asked about or not, before it looks at the question, and since the scale is
 * pinned, what was legal once stays so.
 */
export function requireLegal(ratings: Ratings, disclosure: Disclosure): void {
  for (const [item, value] of ratings) {
    if (illegal(value, disclosure)) {
      throw new MidpointError(`the rating of item '${item}' is not on the scale; mend it first`);
    }
  }
}

function planned(
  told: ReadonlyMap<string, { value: number; numbers: string }>,
  rated: readonly (readonly [string, number])[],
  solicitation: Solicitation,
  disclosure: Disclosure,
  ledger: Ledger,
  met: Counterparts | undefined,
): Plan {
  const sorted = [...told].sort(([a], [b]) => compare(a, b));
  const name = ledger.secret.prf(framed(TAG, utf8(solicitation.digest)));
  const report = Report.make({
    id: bytesToHex(name.slice(0, 16)),
    disclosure: disclosure.digest,
    round: solicitation.round,
    answers: sorted.map(([item, { value }]) => [item, value] as const),
  });
  const round = Round.make({
    round: solicitation.round,
    solicitation: solicitation.digest,
    report: report.text,
    numbers: sorted.map(([, { numbers }]) => numbers),
    withheld: rated.map(([item]) => item).filter((item) => !told.has(item)),
    open: met && solicitation.open,
    asked: met && solicitation.items,
    given: met && rated,
    move: rated.length > 0 ? met?.move : undefined,
  });
  return { report, round, met };
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

/** Return where the disclosure has each item that is asked about. */
function positionsOf(solicitation: Solicitation, disclosure: Disclosure): PositionModel {
  if (solicitation.disclosure !== disclosure.digest) {
    throw new RefusedError("wrong_digest", "the question goes with another disclosure");
  }
  const known = new Map(disclosure.items.map((item, place) => [item, place]));
  const places: PositionModel = new Map();
  for (const item of solicitation.items) {
    const place = known.get(item);
    if (place === undefined) {
      throw new RefusedError("unknown_item", `item '${item}' is not in the disclosure`);
    }
    places.set(item, place);
  }
  return places;
}

/**
 * Find her counterparts by all that was asked and answered so far; undefined if nothing needs them.
 *
 * By one round of a few items alone, she would be placed too badly to hide what all rounds together
 * tell. What was rated in an earlier round counts as it was rated then.
 */
function metBy(
  ratings: Ratings,
  solicitation: Solicitation,
  disclosure: Disclosure,
  ledger: Ledger,
  cell: number,
): Counterparts | undefined {
  const model = modelOf(disclosure);
  if (!model) return undefined;
  const everything = solicitation.open || ledger.rounds.some(({ open }) => open);
  const asked = new Set(ledger.rounds.flatMap((round) => round.asked ?? []));
  for (const item of solicitation.items) asked.add(item);
  const legal = new Set(disclosure.scale.levels); // she may have agreed to another scale since
  const before = ledger.rounds.flatMap((round) => round.given ?? []);
  const given = new Map([...ratings, ...before.filter(([, rating]) => legal.has(rating))]);
  const [rated, left, value]: [number[], number[], number[]] = [[], [], []];
  disclosure.items.forEach((item, place) => {
    if (!everything && !asked.has(item)) return;
    const rating = given.get(item);
    if (rating !== undefined) {
      rated.push(place);
      value.push(rating);
    } else if (!ledger.decision(item)) left.push(place);
  });
  return counterparts(model, cell, [...rated, ...left], rated, value);
}

/** Add each other rated item of the disclosure that has no decision yet. */
function addUndecided(
  places: PositionModel,
  ratings: Ratings,
  disclosure: Disclosure,
  ledger: Ledger,
): void {
  disclosure.items.forEach((item, place) => {
    if (ratings.has(item) && !ledger.decision(item)) places.set(item, place);
  });
}

/**
 * Refuse to be asked again, under other numbers, about an item that was answered.
 *
 * Only revealed answers count, which the analyst knows: a refusal that depended on withheld items
 * would tell them from unrated ones. For those the decision stands in silence.
 */
function requireUnchanged(places: PositionModel, disclosure: Disclosure, ledger: Ledger): void {
  for (const [item, place] of places) {
    const numbers = ledger.decision(item)?.numbers;
    if (numbers && numbers !== numbersOf(disclosure, place)) {
      throw new RefusedError(
        "numbers_changed",
        `item '${item}' was answered and is asked again under other numbers`,
      );
    }
  }
}
