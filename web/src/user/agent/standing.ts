/** What a person demands of a service, what it showed, and what of that passed the checks. */
import type { FeatureNames, RatingScale } from "../../wire/disclosure";
import type { Catalogue, Certificates, Chain, Wording } from "../../wire/listing";
import type { Certificate } from "../../wire/record";
import type { Scheme } from "../../wire/scheme";
import type { Signed } from "../../wire/signing";
import type { Accepted } from "../checks/disclosure";

/** What the service shows everyone, unchecked. */
export interface Fetched {
  /** What the witness signed about the list, if there is one. */
  readonly witness: Signed | undefined;
  /** The list of disclosures. */
  readonly chain: Chain;
  /** What the entry names under which is answered, exact; without a witness that is the newest. */
  readonly disclosure: Uint8Array;
  /** What auditors signed about it. */
  readonly certificates: Certificates;
  /** The titles that the same entry names, exact; nothing if it names none. */
  readonly catalogue: Uint8Array;
}

/** What can be rated before the disclosure is there: signed with the list, and held to the pin. */
export interface Rateable {
  readonly features: readonly FeatureNames[];
  readonly scale: RatingScale;
  readonly scheme: Scheme;
  readonly catalogue: Catalogue;
}

/** What passed all checks. */
export interface Standing {
  /** The disclosure, and what the analyst is held to. */
  readonly accepted: Accepted;
  /** What an auditor she trusts measured of it; undefined is to be shown as such. */
  readonly certificate: Certificate | undefined;
  /** All certificates that are genuine, no matter who signed them; trust is hers to give. */
  readonly certificates: readonly Certificate[];
  /** What each item of the disclosure is called. */
  readonly titles: ReadonlyMap<string, string>;
  /** How many people rated each item in training. */
  readonly popularity: ReadonlyMap<string, number>;
  /** What people of this site call its items; undefined if it does not say. */
  readonly wording: Wording | undefined;
}

/** What a person demands of a service. */
export interface Terms {
  /** Address of a witness: somebody independent that watches the list (`midpoint witness`). */
  readonly witness?: string;
  /** Its public key; unless given, the key that it shows first is held on to. */
  readonly witnessKey?: string;
  /** Whether she agrees to go on without the witness that this device knows. */
  readonly withoutWitness?: boolean;
  /** Seconds for which it has to show an entry before that is answered under; a day if absent. */
  readonly shownFor?: number;
  /** Whether she agrees, on first use, to a scheme that does not hide which items she rated. */
  readonly showRated?: boolean;
  /** Public keys of auditors that she trusts. */
  readonly auditors?: readonly string[];
  /** Whether to refuse a disclosure that none of them certified. */
  readonly requireCertificate?: boolean;
  /** If one is required: AUC that the strongest attack may reach, as certified; 0.6 unless given. */
  readonly mostAuc?: number;
  /** AUC that errors of what is disclosed may let somebody reach, as the service says; any unless given. */
  readonly mostLeak?: number;
}
