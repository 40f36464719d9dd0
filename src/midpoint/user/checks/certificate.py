"""What an auditor certified: only someone with the data can say whether numbers are true."""

from collections.abc import Collection
from typing import Final

from midpoint.wire import MILLION, Certificate, Refusal, RefusedError, Signed

KNOWING: Final = frozenset({"panel", "published", "outsider"})
"""Adversaries who know the scheme, whom a figure has to hold against."""


def verify_certificate(
    signed: Signed | None,
    disclosure: str,
    trusted: Collection[str],
    *,
    required: bool = False,
    most_auc: int = MILLION,
    stated: bool = False,
) -> Certificate | None:
    """Return what a trusted auditor certified of the disclosure with this digest.

    None means that nobody she trusts certified it, and is to be shown as such; with `required` it
    is a refusal. A certificate that is forged or about another disclosure is always refused, and
    so is a trusted one whose strongest attack may reach more than `most_auc`, in millionths: an
    AUC as far below 0.5 counts as much, and so does the far end of its interval, since a few
    people show little. With `stated` a trusted one has to say whom it was measured against, and on
    how many people: a figure alone can be that of an adversary who knows nothing.
    """
    if signed is not None:
        certificate = signed.open(Certificate)
        if not signed.is_signed_by(certificate.key, Certificate):
            raise RefusedError(Refusal.BAD_CERTIFICATE, "the certificate's signature is wrong")
        if certificate.disclosure != disclosure:
            raise RefusedError(Refusal.BAD_CERTIFICATE, "it certifies another disclosure")
        if certificate.key in trusted:
            _require_at_most(certificate, most_auc)
            if stated and not (certificate.adversary in KNOWING and certificate.people):
                raise RefusedError(
                    Refusal.NOT_CERTIFIED,
                    f"the certificate by {certificate.auditor} does not say against whom that knows"
                    " the scheme it was measured, or on how many people; ask for one made by"
                    " `midpoint certify`",
                )
            return certificate
    if required:
        raise RefusedError(Refusal.NOT_CERTIFIED, "no auditor you trust certified this disclosure")
    return None


def _require_at_most(certificate: Certificate, most_auc: int) -> None:
    if certificate.reach > most_auc:
        raise RefusedError(
            Refusal.NOT_CERTIFIED,
            f"{certificate.auditor} certified an AUC of {certificate.auc / MILLION:.2f}"
            f" ({certificate.auc_low / MILLION:.2f} to {certificate.auc_high / MILLION:.2f}): the"
            f" strongest attack may reach {certificate.reach / MILLION:.3f}, and you accept"
            f" {most_auc / MILLION:.3f} at most",
        )
