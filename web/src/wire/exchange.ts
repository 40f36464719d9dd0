/** What analyst and user say to each other about one person: question, answer, scores. */
import {
  count,
  digestField,
  flag,
  integer,
  list,
  name,
  oneLine,
  optional,
  pair,
  pattern,
  refuse,
  requireAscending,
  seconds,
  text,
} from "./fields";
import { kind, type MessageOf } from "./message";

/** So that a score with an offset added to it is still exact. */
const score = integer(-(2 ** 52), 2 ** 52);

/** Rounds that a device speaks of, at most. */
export const MOST_ROUNDS = 10 ** 6;
/** Most bytes of an answer that holds no list of all items. */
export const LARGEST_ANSWER = 2 ** 20;
/** Most bytes of an answer that grows with time: some ten thousand entries or reports. */
export const LARGEST_LIST = 2 ** 24;
/** Items up to which all scores are asked for; beyond, the best and a margin for rated ones. */
export const ALL_UP_TO = 20_000;
/** The margin: public, since the number of rated items says something about who rated them. */
export const MARGIN = 2_000;

/**
 * What a device says to be asked about items: the digest of the disclosure that it accepted.
 *
 * `after` is the number of the last round whose report was acknowledged, or refused for good; absent
 * if none. The next round is a later one, also for an analyst that lost what it had kept.
 * `superseded` is true if a newer disclosure is out that no witness has shown for long enough.
 */
export const SolicitationRequest = kind("solicitation request", {
  disclosure: digestField,
  after: optional(integer(0, MOST_ROUNDS)),
  superseded: optional(flag),
});
export type SolicitationRequest = MessageOf<typeof SolicitationRequest>;

/**
 * The items that the analyst asks about in one round, under one disclosure.
 *
 * One round has one set of items, ever. In an `open` one other items of the disclosure may be
 * answered as well.
 */
export const Solicitation = kind(
  "solicitation",
  { disclosure: digestField, round: count, items: list(name), open: flag },
  ({ items }, path) => requireAscending(items, "items", path),
);
export type Solicitation = MessageOf<typeof Solicitation>;

/**
 * The answer: revealed items only, so that withheld and unrated look the same.
 *
 * It has no field in which the private feature could travel. `id` is 128 random bits that name the
 * report, and no person; `answers` are pairs of item and obfuscated rating, ascending by item.
 */
export const Report = kind(
  "report",
  {
    id: pattern(/^[0-9a-f]{32}$/),
    disclosure: digestField,
    round: count,
    answers: list(pair(name, integer())),
  },
  ({ answers }, path) =>
    requireAscending(
      answers.map(([item]) => item),
      "answers",
      path,
    ),
);
export type Report = MessageOf<typeof Report>;

/**
 * What a person shares who joins the panel: her category and her ratings, as they are.
 *
 * Nothing of it is protected. A device makes one only after she agreed, and sends it under a
 * pseudonym of its own. `category` are pairs of feature and category, ascending by feature, and
 * `ratings` of item and raw rating in fixed point, ascending by item.
 */
export const PanelRatings = kind(
  "panel ratings",
  {
    disclosure: digestField,
    category: list(pair(name, name), 1),
    ratings: list(pair(name, integer()), 1),
  },
  ({ category, ratings }, path) => {
    const first = (pairs: readonly (readonly [string, unknown])[]) => pairs.map(([key]) => key);
    requireAscending(first(category), "features", path);
    requireAscending(first(ratings), "ratings", path);
  },
);
export type PanelRatings = MessageOf<typeof PanelRatings>;

/**
 * Whether people may join the panel, and what is kept of this member.
 *
 * `shared` is the exact text of the `PanelRatings` that she shared; it and `joined`, when she first
 * did, are absent if she is not in it.
 */
export const PanelMembership = kind(
  "panel membership",
  { open: flag, joined: optional(seconds), shared: optional(text()) },
  ({ joined, shared }, path) => {
    if ((joined === undefined) !== (shared === undefined)) {
      refuse("missing_field", path, "joined and shared go together");
    }
  },
  ({ shared }) => ({
    /** What she shared; undefined if she is not in it. */
    get ratings(): PanelRatings | undefined {
      return shared === undefined ? undefined : PanelRatings.parse(shared);
    },
  }),
);
export type PanelMembership = MessageOf<typeof PanelMembership>;

/** What the analyst predicts, free of any category; the device corrects and ranks it. */
export const Scores = kind(
  "scores",
  { disclosure: digestField, items: list(name), score: list(score), deviation: list(count) },
  ({ items, score, deviation }, path) => {
    requireAscending(items, "items", path);
    if (items.length !== score.length || items.length !== deviation.length) {
      refuse("wrong_shape", path, "items, score and deviation differ in length");
    }
  },
);
export type Scores = MessageOf<typeof Scores>;

/** What the analyst says once a report is kept for good. */
export const Receipt = kind("receipt", { report: digestField, answers: count });
export type Receipt = MessageOf<typeof Receipt>;

/** Why the analyst did not do what it was asked: a word for programs, a sentence for a person. */
export const Problem = kind("problem", {
  code: pattern(/^[a-z][a-z_]{0,39}$/),
  message: oneLine(0, 2000),
});
export type Problem = MessageOf<typeof Problem>;
