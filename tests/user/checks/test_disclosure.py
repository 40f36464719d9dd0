from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.errors import MidpointError
from midpoint.user import Pin, Witness, check_disclosure, check_numbers, verify_certificate
from midpoint.wire import (
    ONE,
    SCHEMES,
    Certificate,
    Disclosure,
    Entry,
    RatingScale,
    Refusal,
    RefusedError,
    Signed,
)
from tests.support.made_up import (
    AGE,
    ANALYST,
    AUDITOR,
    GENDER,
    STRANGER,
    disclosure,
    entries,
    sealed,
)

SHOWN = [disclosure(seed=seed) for seed in range(4)]
LIST = entries(SHOWN)
CHAIN = sealed(LIST)
PINS = [
    Pin(
        key=ANALYST.public,
        sequence=entry.sequence,
        head=entry.digest,
        features=SHOWN[0].features,
        scale=SHOWN[0].scale,
        scheme=SHOWN[0].scheme,
    )
    for entry in LIST
]


def code_of(*arguments: Any, **options: Any) -> Refusal | None:
    try:
        check_disclosure(*arguments, **options)
    except RefusedError as refused:
        return refused.code
    return None


def test_first_use_pins_key_and_head() -> None:
    accepted = check_disclosure(SHOWN[3].raw, CHAIN, None)
    assert accepted.pin == PINS[3]
    assert accepted.disclosure == SHOWN[3]
    assert accepted.entry == LIST[3]


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_list_may_start_at_or_after_or_before_the_pinned_entry(start: int) -> None:
    assert check_disclosure(SHOWN[3].raw, CHAIN[start:], PINS[1]).pin == PINS[3]


def test_nothing_new_is_accepted_again() -> None:
    assert check_disclosure(SHOWN[3].raw, CHAIN[3:], PINS[3]).pin == PINS[3]


def test_gaps_are_refused() -> None:
    raw = SHOWN[3].raw
    assert code_of(raw, CHAIN[1:], None) == Refusal.CHAIN_GAP
    assert code_of(raw, CHAIN[3:], PINS[1]) == Refusal.CHAIN_GAP
    assert code_of(raw, [CHAIN[0], CHAIN[1], CHAIN[3]], None) == Refusal.CHAIN_GAP
    assert code_of(raw, [], None) == Refusal.CHAIN_GAP


def test_rollback_is_refused() -> None:
    assert code_of(SHOWN[1].raw, CHAIN[:2], PINS[3]) == Refusal.ROLLED_BACK
    assert code_of(SHOWN[1].raw, CHAIN, None) == Refusal.ROLLED_BACK


def test_a_fork_is_refused() -> None:
    forked = sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2], SHOWN[3]]))
    raw = SHOWN[3].raw
    for start in (0, 1, 2):
        assert code_of(raw, forked[start:], PINS[1]) == Refusal.CHAIN_FORKED
    assert code_of(raw, [*CHAIN[:2], *forked[2:]], None) == Refusal.CHAIN_FORKED
    assert code_of(raw, forked, PINS[0]) is None  # it forks later than what was pinned


def test_a_witness_sees_what_the_pin_cannot() -> None:
    forked = sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2], SHOWN[3]]))
    seen = Witness(1, LIST[1].digest)
    raw = SHOWN[3].raw
    assert code_of(raw, forked, PINS[0], seen) == Refusal.WITNESS_DISAGREES
    assert code_of(raw, CHAIN, PINS[0], seen) is None
    assert code_of(raw, CHAIN[2:], PINS[1], seen) is None
    assert code_of(raw, CHAIN[3:], PINS[3], seen) == Refusal.CHAIN_GAP
    assert code_of(SHOWN[1].raw, CHAIN[:2], None, Witness(2, LIST[2].digest)) == (
        Refusal.WITNESS_DISAGREES
    )


def test_keys_and_signatures() -> None:
    raw = SHOWN[3].raw
    swapped = sealed(entries(SHOWN, STRANGER), STRANGER)
    assert code_of(raw, swapped, PINS[1]) == Refusal.KEY_CHANGED
    assert code_of(raw, swapped, None) is None  # first use trusts the key it sees
    mixed = [*CHAIN[:3], Signed.seal(LIST[3].model_copy(update={"key": STRANGER.public}), STRANGER)]
    assert code_of(raw, mixed, None) == Refusal.KEY_CHANGED
    forged = [*CHAIN[:3], Signed.seal(LIST[3], STRANGER)]
    assert code_of(raw, forged, None) == Refusal.BAD_SIGNATURE


def test_a_signature_for_another_kind_of_message_is_not_good() -> None:
    borrowed = Signed(
        body=LIST[0].raw.decode(), signature=ANALYST.sign(Certificate.domain, LIST[0].raw)
    )
    assert code_of(SHOWN[0].raw, [borrowed], None) == Refusal.BAD_SIGNATURE
    assert code_of(SHOWN[0].raw, CHAIN[:1], None) is None


def test_the_digest_covers_the_exact_bytes() -> None:
    spaced = SHOWN[3].raw.replace(b",", b", ", 1)
    assert Disclosure.parse(spaced).scheme == SHOWN[3].scheme
    assert code_of(spaced, CHAIN, None) == Refusal.WRONG_DIGEST
    again = Entry(
        sequence=0, disclosure=Disclosure.parse(spaced).digest, time=0, key=ANALYST.public
    )
    assert code_of(spaced, [Signed.seal(again, ANALYST)], None) is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_that_leaves_the_category_readable_is_refused(scheme: str) -> None:
    stars = disclosure(scheme)
    unsafe = scheme in {"no", "ss", "mp", "mpss"}
    chain = sealed(entries([stars]))
    assert code_of(stars.raw, chain, None) == (Refusal.SCHEME_UNSAFE if unsafe else None)
    assert code_of(stars.raw, chain, None, allow_unsafe=True) is None
    if scheme in {"mp", "mpss"}:
        smooth = disclosure(scheme, scale=RatingScale(low=ONE, high=5 * ONE))
        assert code_of(smooth.raw, sealed(entries([smooth])), None, ratings_in_levels=False) is None


def test_features_scale_and_scheme_are_pinned_as_they_were_first_seen() -> None:
    smooth = RatingScale(low=ONE, high=5 * ONE)
    first = disclosure("fa", (AGE,), scale=smooth)
    later = disclosure("fa", (AGE,), scale=smooth, seed=3)
    pin = check_disclosure(first.raw, sealed(entries([first])), None, ratings_in_levels=False).pin
    assert (pin.features, pin.scale, pin.scheme) == (first.features, first.scale, "fa")
    for new, code in (
        (later, None),
        (disclosure("fa", (GENDER,), scale=smooth), Refusal.FEATURES_CHANGED),
        (disclosure("fa", (AGE,)), Refusal.SCALE_CHANGED),
        (disclosure("ssfa", (AGE,), scale=smooth), Refusal.SCHEME_CHANGED),
        (disclosure("fa", (AGE,), scale=RatingScale(low=0, high=5 * ONE)), Refusal.SCALE_CHANGED),
    ):
        chain = sealed(entries([first, new]))
        assert code_of(new.raw, chain, pin, ratings_in_levels=False) == code
        assert code_of(new.raw, chain, None, ratings_in_levels=False) is None


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if not SCHEMES[name].needs_levels])
def test_a_continuous_scale_is_for_continuous_input_only(scheme: str) -> None:
    smooth = disclosure(scheme, scale=RatingScale(low=ONE, high=5 * ONE))
    chain = sealed(entries([smooth]))
    for allow in (False, True):
        assert code_of(smooth.raw, chain, None, allow_unsafe=allow) == Refusal.SCALE_CONTINUOUS
    assert code_of(smooth.raw, chain, None, ratings_in_levels=False, allow_unsafe=True) is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_consistent_numbers_pass(scheme: str) -> None:
    check_numbers(disclosure(scheme, seed=5))


def first_row(column: str, row: Any) -> dict[str, Any]:
    scheme = {"offset": "mpr", "levels": "dmp", "reveal": "dmpss", "average": "fa"}[column]
    shown = disclosure(scheme)
    return {"scheme": scheme, column: (row, *getattr(shown, column)[1:])}


BAD_ROWS = [
    (Refusal.OFFSET_TOO_LARGE, first_row("offset", (-5 * ONE, 5 * ONE))),
    (Refusal.OFFSET_TOO_LARGE, first_row("offset", (-3 * ONE, 3 * ONE))),
    (Refusal.OFFSET_NOT_CENTRED, first_row("offset", (ONE, ONE))),
    (Refusal.OFFSET_NOT_CENTRED, first_row("offset", (3, 0))),
    (Refusal.BAD_DISTRIBUTION, first_row("levels", ((ONE, 0, 0, 0, 0), (ONE - 1, 0, 0, 0, 0)))),
    (Refusal.BAD_DISTRIBUTION, first_row("levels", ((ONE + 1, -1, 0, 0, 0), (ONE, 0, 0, 0, 0)))),
    (Refusal.REVEAL_OUT_OF_RANGE, first_row("reveal", (0, ONE))),
    (Refusal.REVEAL_OUT_OF_RANGE, first_row("reveal", (ONE + 1, ONE))),
    (Refusal.REVEAL_INCONSISTENT, first_row("reveal", (ONE - 1, ONE // 2))),
    (Refusal.AVERAGE_OUT_OF_RANGE, first_row("average", (ONE - 1, 2 * ONE))),
    (Refusal.TOO_TELLING, first_row("offset", (2 * ONE, -2 * ONE))),
    (Refusal.TOO_TELLING, first_row("levels", ((ONE - 1, 0, 0, 0, 1), (1, 0, 0, 0, ONE - 1)))),
    (Refusal.TOO_TELLING, first_row("reveal", (1, ONE))),
]


@pytest.mark.parametrize(("code", "change"), BAD_ROWS)
def test_inconsistent_numbers_are_refused(code: Refusal, change: dict[str, Any]) -> None:
    bad = disclosure(**change)
    assert code_of(bad.raw, sealed(entries([bad])), None) == code
    with pytest.raises(RefusedError, match="'item-00'"):
        check_numbers(bad)


AT_THE_LIMIT: list[tuple[str, Any, Any]] = [
    ("offset", (3 * ONE // 2, -3 * ONE // 2), (3 * ONE // 2 + 1, -3 * ONE // 2 - 1)),
    ("reveal", (ONE, ONE // 64), (ONE, ONE // 64 - 1)),
    (
        "levels",
        ((ONE // 4 * 3, 0, 0, 0, ONE // 4), (0, 0, 0, 0, ONE)),
        ((ONE // 4 * 3 + 1, 0, 0, 0, ONE // 4 - 1), (0, 0, 0, 0, ONE)),
    ),
]


@pytest.mark.parametrize(("column", "within", "beyond"), AT_THE_LIMIT)
def test_the_limits_of_what_is_too_telling(column: str, within: Any, beyond: Any) -> None:
    check_numbers(disclosure(**first_row(column, within)))
    with pytest.raises(RefusedError) as caught:
        check_numbers(disclosure(**first_row(column, beyond)))
    assert caught.value.code == Refusal.TOO_TELLING


def test_quantised_offsets_may_be_off_centre_by_a_step() -> None:
    rows = tuple((ONE // 4, 0) for _ in range(12))
    check_numbers(disclosure("mpr", offset=rows, bits=4))
    with pytest.raises(RefusedError):
        check_numbers(disclosure("mpr", offset=rows))


def test_a_lie_about_the_statistics_passes() -> None:
    """Consistency, not truth: numbers drawn at random pass, and the texts say so."""
    rng = np.random.default_rng(0)
    lie = rng.integers(-ONE, ONE, 12).tolist()
    check_numbers(disclosure("mpr", offset=tuple((v, -v) for v in lie)))


CERTIFICATE = Certificate(
    disclosure=SHOWN[0].digest,
    data="0" * 64,
    auditor="A. Auditor",
    key=AUDITOR.public,
    attack="boosted trees",
    auc=521_000,
    auc_low=498_000,
    auc_high=544_000,
    null_low=470_000,
    null_high=530_000,
    rmse_cost=3_100,
    time=1_700_000_000,
)


def test_a_trusted_certificate_is_returned_and_none_is_said_plainly() -> None:
    signed = Signed.seal(CERTIFICATE, AUDITOR)
    digest = SHOWN[0].digest
    assert verify_certificate(signed, digest, {AUDITOR.public}) == CERTIFICATE
    assert verify_certificate(signed, digest, {STRANGER.public}) is None
    assert verify_certificate(None, digest, {AUDITOR.public}) is None
    with pytest.raises(RefusedError) as caught:
        verify_certificate(None, digest, {AUDITOR.public}, required=True)
    assert caught.value.code == Refusal.NOT_CERTIFIED


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


def test_a_pin_survives_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "pin.json"
    assert Pin.load(path) is None
    PINS[2].save(path)
    assert Pin.load(path) == PINS[2]
    assert Pin.load(path) != PINS[2].model_copy(update={"sequence": 1})
    good = path.read_bytes()
    wrong = (good[:-9], good.replace(b'"sequence":2', b'"sequence":"2"'), b"{}", b"[]")
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(MidpointError, match="damaged"):
            Pin.load(path)
