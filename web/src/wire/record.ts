/** What is signed and kept: the chain of disclosures, and what an auditor measured. */
import { count, digestField, integer, name, optional, publicKey, refuse, seconds } from "./fields";
import { MILLION } from "./fixed";
import { kind, type MessageOf } from "./message";

/** A number from 0 to 1 in millionths. */
const share = integer(0, MILLION);
/** What a device that requires a certificate accepts at most, unless she says otherwise. */
export const MOST_AUC = 600_000;

/** One link of the analyst's append-only list of disclosures. */
export const Entry = kind(
  "entry",
  {
    sequence: count,
    disclosure: digestField,
    /** Digest of the titles shown with it; absent from entries made before titles were signed. */
    catalogue: optional(digestField),
    previous: optional(digestField),
    time: seconds,
    key: publicKey,
  },
  ({ sequence, previous }, path) => {
    if ((previous === undefined) !== (sequence === 0)) {
      refuse("wrong_shape", path, "the first entry, and only it, has no previous one");
    }
  },
);
export type Entry = MessageOf<typeof Entry>;

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
