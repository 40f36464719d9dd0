/**
 * What a device refuses. These checks prove consistency, not truth.
 *
 * An analyst that lies about its class statistics passes all of them. Only someone with the data
 * notices: an auditor, whose signed certificate `verifyCertificate` reads.
 */

import { encode } from "../../wire/canonical";
import { Disclosure, protects, schemeOf } from "../../wire/disclosure";
import { ONE } from "../../wire/fixed";
import { Catalogue } from "../../wire/listing";
import { checkNumbers } from "../../wire/numbers";
import { type Entry, SHOWN_FOR, type WitnessStatement } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import type { Signed } from "../../wire/signing";
import { requireContinuation, requireLinks, signedEntries, witnessedEntry } from "./links";
import { Pin, REMEDY } from "./pin";

/** A disclosure that passed. */
export interface Accepted {
  /** The disclosure, with its exact bytes. */
  readonly disclosure: Disclosure;
  /** The entry of the analyst's list that names it. */
  readonly entry: Entry;
  /** What to hold the analyst to from now on; save it. */
  readonly pin: Pin;
  /** Whether a newer one is out that no witness has shown for long enough. */
  readonly superseded: boolean;
  /** The key that was pinned, if another one signs now that it vouched for. */
  readonly succeeded: string | undefined;
}

export interface CheckOptions {
  /** Seconds for which the witness has to show an entry; a day if absent. */
  readonly shownFor?: number;
  /** She enters ratings in steps, such as stars: a continuous scale is refused. True if absent. */
  readonly ratingsInLevels?: boolean;
  /** False refuses, on first use, a scheme that does not hide which items were rated. */
  readonly showRated?: boolean;
  /** Take a scheme that leaves the category readable; for experiments only. */
  readonly allowUnsafe?: boolean;
}

/**
 * Accept a disclosure or refuse it with a code; nothing is sent or changed either way.
 *
 * `chain` holds the analyst's entries in order, from the pinned one or the one after it (from the
 * very first on first use) to the newest, which must name this disclosure. With a `witness` it is the
 * newest entry that the witness has shown for `shownFor` seconds. It must be about the pinned features, categories and scale: if those could change, whether a device can answer would
 * depend on the user's own category or ratings, and leak them. Nor may the scheme change, to one that
 * protects less.
 */
export function checkDisclosure(
  raw: Uint8Array | string,
  chain: readonly Signed[],
  pin?: Pin,
  witness?: WitnessStatement,
  options: CheckOptions = {},
): Accepted {
  const { ratingsInLevels = true, allowUnsafe = false, showRated = true } = options;
  const { shownFor = SHOWN_FOR } = options;
  const disclosure = Disclosure.parse(raw);
  const entries = checkList(chain, pin);
  const entry = witnessedEntry(entries, pin, witness, shownFor);
  requireNamed(disclosure, entry, entries);
  requireSame(disclosure, pin);
  requireSafe(disclosure, ratingsInLevels, allowUnsafe);
  requireScheme(disclosure, pin);
  if (!pin && !showRated && !hidesRated(disclosure)) {
    throw new RefusedError(
      "rated_shown",
      `scheme '${disclosure.scheme}' does not hide which titles you rate`,
    );
  }
  checkNumbers(disclosure);
  const { features, scale, scheme, sets } = disclosure;
  const { key, sequence, digest: head, successor } = entry;
  const pinned = Pin.make({ key, sequence, head, features, scale, scheme, sets, successor });
  const superseded = sequence !== entries[entries.length - 1].sequence;
  const succeeded = pin && pin.key !== key ? pin.key : undefined;
  return { disclosure, entry, pin: pinned, superseded, succeeded };
}

/** Tell whether which items were rated is hidden, item by item, or is no choice of hers. */
export function hidesRated(disclosure: Disclosure): boolean {
  return schemeOf(disclosure).subSamples;
}

/** Accept a list of disclosures, or refuse it with a code; return its entries. */
export function checkList(chain: readonly Signed[], pin: Pin | undefined): readonly Entry[] {
  const entries = signedEntries(chain, pin);
  requireLinks(entries);
  requireContinuation(entries, pin);
  return entries;
}

/**
 * Accept the titles that an accepted entry of the list names, or refuse them with a code.
 *
 * A title decides what she answers about. Were titles not part of the list, one person could be
 * shown others, and would answer about one thing with the numbers of another. Features, scale and
 * scheme that are shown with them are those of the disclosure, or of the pin while that is not there.
 */
export function checkTitles(
  raw: Uint8Array | string,
  entry: Entry,
  disclosure?: Pick<Disclosure, "features" | "scale" | "scheme">,
): Catalogue {
  if (entry.catalogue === undefined) {
    throw new RefusedError(
      "titles_unsigned",
      "the service's list names no titles, so anyone could be shown others; it has to publish again",
    );
  }
  const catalogue = Catalogue.parse(raw);
  if (catalogue.digest !== entry.catalogue) {
    throw new RefusedError("wrong_titles", "the titles are not those that the signed list names");
  }
  for (const name of ["features", "scale", "scheme"] as const) {
    const shown = catalogue[name];
    if (shown && disclosure && encode(shown) !== encode(disclosure[name])) {
      const sentence = `the titles go with another ${name} than the disclosure`;
      throw new RefusedError("wrong_titles", sentence);
    }
  }
  return catalogue;
}

/** Refuse another disclosure than the one that the entry names. */
function requireNamed(disclosure: Disclosure, entry: Entry, entries: readonly Entry[]): void {
  if (entry.disclosure === disclosure.digest) return;
  const named = entries.filter((other) => other.disclosure === disclosure.digest).at(-1);
  if (named && named.sequence > entry.sequence) {
    throw new RefusedError(
      "not_witnessed",
      `the witness has not shown entry ${named.sequence} for long enough; answer under entry ${entry.sequence}, or come back later`,
    );
  }
  const sentence = `entry ${entry.sequence} of the list names another disclosure`;
  throw new RefusedError(named ? "rolled_back" : "wrong_digest", sentence);
}

/** Refuse a change for everyone, before anyone's category or rating is looked at. */
function requireSame(disclosure: Disclosure, pin?: Pin): void {
  if (pin && encode(disclosure.features) !== encode(pin.features)) {
    throw new RefusedError(
      "features_changed",
      `the private features or their categories are not those pinned; ${REMEDY}`,
    );
  }
  if (pin && encode(disclosure.scale) !== encode(pin.scale)) {
    throw new RefusedError("scale_changed", `the rating scale is not the one pinned; ${REMEDY}`);
  }
}

/** Refuse another scheme, for everyone; after the unsafe ones, which nobody should accept. */
function requireScheme(disclosure: Disclosure, pin?: Pin): void {
  if (pin && disclosure.scheme !== pin.scheme) {
    throw new RefusedError(
      "scheme_changed",
      `scheme '${disclosure.scheme}' replaces '${pin.scheme}'; ${REMEDY}`,
    );
  }
  if (pin && disclosure.sets !== pin.sets) {
    const now = disclosure.sets ?? "chosen by people";
    throw new RefusedError("scheme_changed", `items are now ${now}, which is new; ${REMEDY}`);
  }
}

function requireSafe(disclosure: Disclosure, ratingsInLevels: boolean, allowUnsafe: boolean): void {
  const discrete = disclosure.scale.levels !== undefined;
  if (ratingsInLevels && !discrete) {
    throw new RefusedError(
      "scale_continuous",
      "ratings are given in levels, and the scale has none",
    );
  }
  if (!allowUnsafe && !protects(disclosure)) {
    throw new RefusedError(
      "scheme_unsafe",
      `scheme '${disclosure.scheme}' leaves the category readable`,
    );
  }
}

/** Refuse a disclosure that is said to leak more than she accepts, or that does not say how much. */
export function requireLeak({ leak }: Disclosure, most: number | undefined): void {
  if (most === undefined || (leak !== undefined && leak <= Math.round(most * ONE))) return;
  const says = leak === undefined ? "does not say how much" : `says ${(leak / ONE).toFixed(3)}`;
  throw new RefusedError(
    "leak_too_large",
    `you accept a leak budget of ${most}, and the service ${says}`,
  );
}
