/** What the analyst shows everyone: its items by title, its list of disclosures, certificates. */
import { featureNames, ratingScale } from "./disclosure";
import {
  count,
  list,
  name,
  type Of,
  oneLine,
  optional,
  part,
  refuse,
  requireAscending,
} from "./fields";
import { kind, type MessageOf } from "./message";
import { Signed } from "./signing";

const LONGEST_TITLE = 500;
const LONGEST_WORD = 30;
/** Entries of other lists that a device keeps, at most; the first ones prove as much as later. */
export const MOST_OTHERS = 1000;
/** Entries of the list itself that a device keeps, at most: one a day for 27 years. */
export const MOST_SHOWN = 10_000;

const word = oneLine(1, LONGEST_WORD);

/**
 * What people of this site call its items: `item` is one of them, such as film, and `items` are
 * several; `done` is what a person has done who names one, such as seen, liked or bought.
 */
export const wording = part({ item: word, items: word, done: word });
export type Wording = Of<typeof wording>;

/**
 * All items by title, for a person to find what she has rated; `ratings` counts training's.
 *
 * `features`, `scale` and `scheme` are those of the disclosure that is named beside it: she can rate
 * before that, which is large, is there. Where `wording` is absent they are films.
 */
export const Catalogue = kind(
  "catalogue",
  {
    items: list(name, 1),
    titles: list(oneLine(1, LONGEST_TITLE)),
    ratings: list(count),
    features: optional(list(featureNames)),
    scale: optional(ratingScale),
    scheme: optional(name),
    wording: optional(wording),
  },
  ({ items, titles, ratings }, path) => {
    requireAscending(items, "items", path);
    if (items.length !== titles.length || items.length !== ratings.length) {
      refuse("wrong_shape", path, "items, titles and ratings differ in length");
    }
  },
);
export type Catalogue = MessageOf<typeof Catalogue>;

/** The whole list of disclosures, each entry signed, in order; the last one is current. */
export const Chain = kind("chain", { entries: list(Signed.field, 1) });
export type Chain = MessageOf<typeof Chain>;

/** Addresses of the witnesses that the operator of a service names to its page. */
export const Witnesses = kind("witnesses", { witnesses: list(oneLine(1, LONGEST_TITLE)) });
export type Witnesses = MessageOf<typeof Witnesses>;

/** What auditors signed about one disclosure; there may be none. */
export const Certificates = kind("certificates", { certificates: list(Signed.field) });
export type Certificates = MessageOf<typeof Certificates>;
