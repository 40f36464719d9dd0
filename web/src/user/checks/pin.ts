/** What a device holds the analyst to: its key, its list of disclosures, and what they are about. */
import { assigned, featureNames, ratingScale } from "../../wire/disclosure";
import { count, digestField, list, name, optional, publicKey } from "../../wire/fields";
import { kind, type MessageOf } from "../../wire/message";

/**
 * The state of trust after a disclosure was accepted; it never leaves the device.
 *
 * `key` signed the last accepted entry; `successor` signs what follows, if that names another one.
 */
export const Pin = kind("pin", {
  key: publicKey,
  sequence: count,
  head: digestField,
  features: list(featureNames),
  scale: ratingScale,
  scheme: name,
  sets: optional(assigned),
  successor: optional(publicKey),
});
export type Pin = MessageOf<typeof Pin>;

/** What a person can do about a change of what is pinned. */
export const REMEDY = "if you know why and agree, accept the change";
