/** What an auditor certified: only someone with the data can say whether numbers are true. */
import { MILLION } from "../../wire/fixed";
import { Certificate } from "../../wire/record";
import { RefusedError } from "../../wire/refusal";
import { type Signed, verify } from "../../wire/signing";

/** Adversaries who know the scheme, whom a figure has to hold against. */
const KNOWING = ["panel", "published", "outsider"];

/**
 * Return what a trusted auditor certified of the disclosure with this digest.
 *
 * Undefined means that nobody she trusts certified it, and is to be shown as such; when `required`
 * it is a refusal. A certificate that is forged or about another disclosure is always refused, and
 * so is a trusted one whose strongest attack may reach more than `mostAuc`, in millionths: an AUC as
 * far below 0.5 counts as much, and so does the far end of its interval. When `stated` a trusted one
 * has to say whom it was measured against, and on how many people: a figure alone can be that of an
 * adversary who knows nothing.
 */
export function verifyCertificate(
  signed: Signed | undefined,
  disclosure: string,
  trusted: readonly string[],
  required = false,
  mostAuc = MILLION,
  stated = false,
): Certificate | undefined {
  if (signed) {
    const certificate = Certificate.parse(signed.body);
    if (!verify(signed, certificate.key, Certificate)) {
      throw new RefusedError("bad_certificate", "the certificate's signature is wrong");
    }
    if (certificate.disclosure !== disclosure) {
      throw new RefusedError("bad_certificate", "it certifies another disclosure");
    }
    if (trusted.includes(certificate.key)) {
      if (Math.max(certificate.auc_high, MILLION - certificate.auc_low) > mostAuc) {
        throw new RefusedError("not_certified", "it certifies that more leaks than you accept");
      }
      if (stated && (!KNOWING.includes(certificate.adversary ?? "") || !certificate.people)) {
        throw new RefusedError(
          "not_certified",
          "it does not say against whom, or on how many people",
        );
      }
      return certificate;
    }
  }
  if (required) {
    throw new RefusedError("not_certified", "no auditor you trust certified this disclosure");
  }
  return undefined;
}
