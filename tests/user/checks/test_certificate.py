from typing import Any

import pytest

from midpoint.user import verify_certificate
from midpoint.wire import (
    Refusal,
    RefusedError,
    Signed,
)
from tests.support.people.made_up import (
    AUDITOR,
    STRANGER,
    certificate,
)
from tests.support.sites.published import SHOWN

CERTIFICATE = certificate(SHOWN[0].digest)


def test_a_trusted_certificate_is_returned_and_none_is_said_plainly() -> None:
    signed = Signed.seal(CERTIFICATE, AUDITOR)
    digest = SHOWN[0].digest
    assert verify_certificate(signed, digest, {AUDITOR.public}) == CERTIFICATE
    assert verify_certificate(signed, digest, {STRANGER.public}) is None
    assert verify_certificate(None, digest, {AUDITOR.public}) is None
    with pytest.raises(RefusedError) as caught:
        verify_certificate(None, digest, {AUDITOR.public}, required=True)
    assert caught.value.code == Refusal.NOT_CERTIFIED


CLEAN = {"adversary": "clean", "people": 900}
"""Of somebody who does not know the scheme."""
UNKNOWN = {"adversary": "oracle", "people": 900}
"""Of somebody whom this version does not know."""


@pytest.mark.parametrize("missing", [{}, {"adversary": "panel"}, {"people": 900}, CLEAN, UNKNOWN])
def test_a_required_certificate_says_whom_it_was_measured_against(missing: dict[str, Any]) -> None:
    """Controls: it is shown where none is required, and taken where it says both."""
    signed = Signed.seal(CERTIFICATE.model_copy(update=missing), AUDITOR)
    digest, trusted = SHOWN[0].digest, {AUDITOR.public}
    with pytest.raises(RefusedError, match="against whom") as caught:
        verify_certificate(signed, digest, trusted, stated=True)
    assert caught.value.code == Refusal.NOT_CERTIFIED
    assert verify_certificate(signed, digest, {STRANGER.public}, stated=True) is None
    assert verify_certificate(signed, digest, trusted) is not None
    whole = CERTIFICATE.model_copy(update={"adversary": "panel", "people": 900})
    assert verify_certificate(Signed.seal(whole, AUDITOR), digest, trusted, stated=True) == whole


@pytest.mark.parametrize(
    ("signed", "digest"),
    [
        (Signed.seal(CERTIFICATE, STRANGER), SHOWN[0].digest),
        (Signed.seal(CERTIFICATE, AUDITOR), SHOWN[1].digest),
    ],
)
def test_a_forged_or_borrowed_certificate_is_refused(signed: Signed, digest: str) -> None:
    with pytest.raises(RefusedError) as caught:
        verify_certificate(signed, digest, {AUDITOR.public})
    assert caught.value.code == Refusal.BAD_CERTIFICATE


@pytest.mark.parametrize(
    ("low", "auc", "high", "reach"),
    [
        (990_000, 1_000_000, 1_000_000, 1_000_000),
        (0, 0, 10_000, 1_000_000),
        (350_000, 380_000, 410_000, 650_000),
        (300_000, 500_000, 610_000, 700_000),
        (498_000, 521_000, 600_000, 600_000),
    ],
)
def test_a_leak_beyond_her_limit_is_refused_on_both_sides(
    low: int, auc: int, high: int, reach: int
) -> None:
    figures = {"auc_low": low, "auc": auc, "auc_high": high}
    measured = CERTIFICATE.model_copy(update=figures)
    signed, digest = Signed.seal(measured, AUDITOR), SHOWN[0].digest
    assert measured.reach == reach
    with pytest.raises(
        RefusedError, match=rf"made-up auditor .* reach {reach / 1e6:.3f}"
    ) as caught:
        verify_certificate(signed, digest, {AUDITOR.public}, most_auc=reach - 1)
    assert caught.value.code == Refusal.NOT_CERTIFIED
    # The controls: a limit that it keeps, and an auditor whose word does not count.
    assert verify_certificate(signed, digest, {AUDITOR.public}, most_auc=reach) == measured
    assert verify_certificate(signed, digest, {STRANGER.public}, most_auc=reach - 1) is None
