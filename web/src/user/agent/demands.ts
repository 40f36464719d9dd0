/** What a person demands of a service, kept with her device: it holds until she changes it. */
import { count, flag, integer, list, name, optional, publicKey } from "../../wire/fields";
import { MILLION } from "../../wire/fixed";
import { kind, type MessageOf } from "../../wire/message";

/** An AUC in millionths. */
const auc = optional(integer(MILLION / 2, MILLION));

/**
 * What she demands; what is absent is as usual (`Terms`). It never leaves the device.
 *
 * `without_witness` and `show_rated` are said on the page; the terminal wants to hear them again.
 */
export const Demands = kind("demands", {
  auditors: list(publicKey),
  require_certificate: flag,
  most_auc: auc,
  most_leak: auc,
  witness: optional(name),
  witness_key: optional(publicKey),
  shown_for: optional(count),
  without_witness: flag,
  show_rated: flag,
});
export type Demands = MessageOf<typeof Demands>;
/** Nothing beyond the usual. */
export const USUAL = Demands.make({
  auditors: [],
  require_certificate: false,
  without_witness: false,
  show_rated: false,
});
