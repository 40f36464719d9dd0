import pytest

from midpoint.user import check_disclosure, check_titles
from midpoint.user.checks.disclosure import require_leak
from midpoint.wire import (
    ONE,
    SCHEMES,
    Disclosure,
    Entry,
    RatingScale,
    Refusal,
    RefusedError,
    Signed,
)
from tests.support.people.made_up import (
    AGE,
    ANALYST,
    GENDER,
    disclosure,
    entries,
    sealed,
    titles_of,
)
from tests.support.sites.published import CHAIN, LIST, PINS, SHOWN, code_of


def test_first_use_pins_key_and_head() -> None:
    accepted = check_disclosure(SHOWN[3].raw, CHAIN, None)
    assert accepted.pin == PINS[3]
    assert accepted.disclosure == SHOWN[3]
    assert accepted.entry == LIST[3]


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


@pytest.mark.parametrize("name", ["features", "scale", "scheme"])
def test_titles_that_go_with_another_disclosure_are_refused(name: str) -> None:
    """A page shows these before the disclosure is there, so they have to be the same."""
    shown = disclosure("dmpss", n_items=3)
    other = disclosure("dmp", (AGE,), n_items=3, points=(0, ONE))
    said = {part: getattr(shown, part) for part in ("features", "scale", "scheme")}

    def check(**changed: object) -> None:
        titles = titles_of(shown).model_copy(update={**said, **changed})
        entry = entries([shown], titled=True)[0].model_copy(update={"catalogue": titles.digest})
        assert check_titles(titles.raw, entry, shown) == titles

    check()
    check(**{name: None})
    with pytest.raises(RefusedError, match=f"another {name}") as caught:
        check(**{name: getattr(other, name)})
    assert caught.value.code == Refusal.WRONG_TITLES


def test_a_leak_budget_can_be_limited_and_is_checked() -> None:
    plain = disclosure("dmpss")
    keep = (ONE // 2, 0, *[ONE] * (len(plain.items) - 2))
    shown = disclosure("dmpss", keep=keep, leak=39_322)  # 0.60
    assert code_of(shown.raw, sealed(entries([shown])), None) is None
    require_leak(shown, None)
    require_leak(shown, 0.6001)
    for offered, most in ((shown, 0.59), (plain, 0.9)):  # the second does not say
        with pytest.raises(RefusedError) as refused:
            require_leak(offered, most)
        assert refused.value.code is Refusal.LEAK_TOO_LARGE
    same = disclosure("dmpss", keep=(ONE // 4,) * len(plain.items), leak=39_322)  # one share
    assert code_of(same.raw, sealed(entries([same])), None) is None
    require_leak(same, 0.6001)
    for wrong in (-1, ONE + 1):
        lie = disclosure("dmpss", keep=(wrong, *keep[1:]), leak=39_322)
        assert code_of(lie.raw, sealed(entries([lie])), None) == Refusal.REVEAL_OUT_OF_RANGE
    # Keep probabilities are everyone's: reveal probabilities are held to what they were.
    assert shown.reveal is not None
    reveal = ((ONE // 2, ONE // 2), *shown.reveal[1:])
    lie = disclosure("dmpss", keep=keep, leak=39_322, reveal=reveal)
    assert code_of(lie.raw, sealed(entries([lie])), None) == Refusal.REVEAL_INCONSISTENT
