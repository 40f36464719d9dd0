/** Why something from beyond the trust line is refused: a stable code and a plain sentence. */
import { MidpointError } from "../errors";

/** Codes that programs may rely on; the same in every language. */
export const REFUSALS = [
  "too_long",
  "not_json",
  "duplicate_key",
  "not_an_integer",
  "integer_too_large",
  "unknown_field",
  "missing_field",
  "unknown_version",
  "unknown_scheme",
  "bad_name",
  "wrong_shape",
  "wrong_columns",
  "features_changed",
  "scale_changed",
  "scheme_changed",
  "scale_continuous",
  "scheme_unsafe",
  "rated_shown",
  "wrong_digest",
  "titles_unsigned",
  "wrong_titles",
  "bad_signature",
  "key_changed",
  "chain_forked",
  "chain_gap",
  "rolled_back",
  "witness_disagrees",
  "witness_changed",
  "not_witnessed",
  "offset_too_large",
  "offset_not_centred",
  "bad_distribution",
  "reveal_out_of_range",
  "reveal_inconsistent",
  "too_telling",
  "leak_too_large",
  "bad_positions",
  "average_out_of_range",
  "numbers_changed",
  "round_changed",
  "unknown_item",
  "bad_certificate",
  "not_certified",
] as const;

export type Refusal = (typeof REFUSALS)[number];

/** What was received is refused; nothing was sent and nothing was lost. */
export class RefusedError extends MidpointError {
  override name = "RefusedError";
  readonly code: Refusal;
  readonly sentence: string;

  constructor(code: Refusal, sentence: string) {
    super(`${sentence} [${code}]`);
    this.code = code;
    this.sentence = sentence;
  }
}
