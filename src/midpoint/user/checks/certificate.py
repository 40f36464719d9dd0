"""What an auditor certified: only someone with the data can say whether numbers are true."""

from collections.abc import Collection

from midpoint.wire import Certificate, Refusal, RefusedError, Signed


def verify_certificate(
    signed: Signed | None, disclosure: str, trusted: Collection[str], *, required: bool = False
) -> Certificate | None:
    """Return what a trusted auditor certified of the disclosure with this digest.

    None means that nobody she trusts certified it, and is to be shown as such; with `required` it
    is a refusal. A certificate that is forged or about another disclosure is always refused.
    """
    if signed is not None:
        certificate = signed.open(Certificate)
        if not signed.is_signed_by(certificate.key, Certificate):
            raise RefusedError(Refusal.BAD_CERTIFICATE, "the certificate's signature is wrong")
        if certificate.disclosure != disclosure:
            raise RefusedError(Refusal.BAD_CERTIFICATE, "it certifies another disclosure")
        if certificate.key in trusted:
            return certificate
    if required:
        raise RefusedError(Refusal.NOT_CERTIFIED, "no auditor you trust certified this disclosure")
    return None
