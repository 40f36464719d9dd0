/** What is signed and kept: the list of disclosures, what witnesses saw, what auditors measured. */
import {
  count,
  digestField,
  integer,
  list,
  name,
  optional,
  publicKey,
  refuse,
  seconds,
} from "./fields";
import { MILLION } from "./fixed";
import { kind, type MessageOf } from "./message";

/** A number from 0 to 1 in millionths. */
const share = integer(0, MILLION);
/** What a device that requires a certificate accepts at most, unless she says otherwise. */
export const MOST_AUC = 600_000;
/** Seconds for which a witness has to show an entry before a device answers under it. */
export const SHOWN_FOR = 24 * 60 * 60;

/** One link of the analyst's append-only list of disclosures. */
export const Entry = kind(
  "entry",
  {
    sequence: count,
    disclosure: digestField,
    /** Digest of the titles shown with it; devices refuse an entry that names none. */
    catalogue: optional(digestField),
    previous: optional(digestField),
    time: seconds,
    key: publicKey,
    /** The key that signs what follows, if that is another one: this signature vouches for it. */
    successor: optional(publicKey),
  },
  ({ sequence, previous, key, successor }, path) => {
    if ((previous === undefined) !== (sequence === 0)) {
      refuse("wrong_shape", path, "the first entry, and only it, has no previous one");
    }
    if (successor === key) refuse("wrong_shape", path, "a key is not its own successor");
  },
);
export type Entry = MessageOf<typeof Entry>;

/**
 * What an independent witness saw of an analyst's list, from its first entry to the newest.
 *
 * `entries` are digests, `seen` says when the witness first saw each by its own clock, and `time`
 * when it last saw the list, whose newest entry was then the last of these.
 */
export const WitnessStatement = kind(
  "witness statement",
  { entries: list(digestField, 1), seen: list(seconds), time: seconds, key: publicKey },
  ({ entries, seen, time }, path) => {
    if (entries.length !== seen.length) {
      refuse("wrong_shape", path, "entries and seen differ in length");
    }
    if ([...seen.slice(1), time].some((after, i) => after < seen[i])) {
      refuse("wrong_shape", path, "an entry was seen before an earlier one");
    }
  },
  ({ seen, time }) => ({
    /**
     * Return the number of the newest entry that was current for so many seconds, or undefined.
     *
     * An entry that another one replaced sooner never counts, however long ago that was: it was
     * there for those who happened to ask in between.
     */
    newestShownFor(needed: number): number | undefined {
      const ended = [...seen.slice(1), time];
      const long = seen.flatMap((at, i) => (ended[i] - at >= needed ? [i] : []));
      return long.at(-1);
    },
  }),
);
export type WitnessStatement = MessageOf<typeof WitnessStatement>;

/**
 * What an auditor measured of one disclosure on one data set; figures in millionths.
 *
 * `auc` is that of the strongest `attack`: 0.5 is a blind guess, below leaks as much as above. The
 * `null` interval is the chance band: what the strongest attack reaches on shuffled labels.
 */
export const Certificate = kind(
  "certificate",
  {
    disclosure: digestField,
    data: digestField,
    auditor: name,
    key: publicKey,
    attack: name,
    auc: share,
    auc_low: share,
    auc_high: share,
    null_low: share,
    null_high: share,
    rmse_cost: integer(),
    /** What share of NDCG@10 is lost; absent where no lists were ranked. */
    ndcg_cost: optional(integer()),
    /** Whom it was measured against; this and the rest are absent if not stated. */
    adversary: optional(name),
    /** People the audited disclosures were made of, and labelled people outside of these. */
    panel: optional(count),
    outsiders: optional(count),
    /** Share of their ratings that the people attacked gave. */
    given: optional(share),
    folds: optional(count),
    people: optional(count),
    attackers: optional(count),
    /** Share of a category found while 1 % or 0.1 % of the others are taken for it. */
    tpr_at_1: optional(share),
    tpr_at_01: optional(share),
    balanced_accuracy: optional(share),
    /** Share of people whose category is named with 90 % confidence. */
    named: optional(share),
    time: seconds,
  },
  (figures, path) => {
    const ordered =
      figures.auc_low <= figures.auc &&
      figures.auc <= figures.auc_high &&
      figures.null_low <= figures.null_high;
    if (!ordered) refuse("wrong_shape", path, "an interval does not contain what it should");
  },
);
export type Certificate = MessageOf<typeof Certificate>;
