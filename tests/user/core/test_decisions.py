"""Repeated interaction (Section 6.3): the joint report must not depend on the category.

Each control shows what would happen on a device without the rule under test.
"""

from typing import Any

import numpy as np
import pytest

from midpoint.errors import MidpointError
from midpoint.user import (
    DeviceSecret,
    Ledger,
    Parameters,
    Pin,
    PrivateCategory,
    check_disclosure,
    decide,
    require_legal,
    toss,
)
from midpoint.wire import (
    ONE,
    Disclosure,
    FeatureNames,
    RatingScale,
    Refusal,
    RefusedError,
    Report,
)
from tests.support.people.made_up import (
    STARS,
    accepted,
    disclosure,
    entries,
    ratings,
    sealed,
    solicitation,
)
from tests.support.people.unadjusted import obfuscate_unadjusted

SECRET = DeviceSecret(bytes(range(32)))
SHOWN = disclosure("dmpss")
LATER = disclosure("dmpss", seed=2)
WOMAN = PrivateCategory.of(SHOWN, {"gender": "F"})
MAN = PrivateCategory.of(SHOWN, {"gender": "M"})
RATED = ratings(SHOWN)


def ask(
    ledger: Ledger,
    number: int,
    shown: Disclosure = SHOWN,
    items: tuple[str, ...] = SHOWN.items,
    rated: dict[str, int] = RATED,
    category: PrivateCategory = WOMAN,
    *,
    more: bool = False,
) -> Report:
    question = solicitation(shown, number, items, more=more)
    return decide(rated, question, accepted(shown), category, ledger)


def test_a_report_is_the_obfuscation_of_the_coins() -> None:
    report = ask(Ledger(SECRET), 1)
    rated = sorted(RATED)
    index = np.array([SHOWN.items.index(item) for item in rated])
    value = np.array([RATED[item] for item in rated])
    done = obfuscate_unadjusted(index, value, 0, Parameters.of(SHOWN), toss(SECRET, rated))
    kept = [
        (item, int(sent))
        for item, sent, keep in zip(rated, done.value, done.keep, strict=True)
        if keep
    ]
    assert list(report.answers) == kept
    assert 0 < len(kept) < len(rated)


def test_asked_again_it_says_the_same_whatever_changed() -> None:
    ledger = Ledger(SECRET)
    first = ask(ledger, 1)
    other = {item: STARS[0] + STARS[-1] - value for item, value in RATED.items()}
    assert ask(ledger, 1).raw == first.raw
    assert ask(ledger, 1, rated=other, category=MAN).raw == first.raw
    fresh = ask(Ledger(SECRET), 1, rated=other, category=MAN)
    assert fresh.answers != first.answers  # the control: without the ledger it would differ


def test_a_changed_rating_or_category_does_not_reopen_a_decision() -> None:
    ledger = Ledger(SECRET)
    first = ask(ledger, 1)
    other = {item: STARS[0] + STARS[-1] - value for item, value in RATED.items()}
    second = ask(ledger, 2, rated=other, category=MAN)
    assert second.answers == first.answers
    assert second.id != first.id


def test_a_withheld_item_is_not_tossed_again_under_a_new_disclosure() -> None:
    ledger = Ledger(SECRET)
    sent = {item for item, _ in ask(ledger, 1).answers}
    withheld = tuple(item for item in sorted(RATED) if item not in sent)
    assert withheld
    always = LATER.model_copy(update={"reveal": ((ONE, ONE),) * len(LATER.items)})
    assert ask(ledger, 2, always, withheld).answers == ()
    control = ask(Ledger(SECRET), 2, always, withheld)
    assert [item for item, _ in control.answers] == list(withheld)


def test_fresh_coins_on_a_repeated_question_would_average_the_noise_away() -> None:
    """With fresh coins, the share of revealings tells the category; with the ledger, nothing."""
    index = np.zeros(2000, dtype=np.intp)
    value = np.full(2000, 3 * ONE)
    shown = SHOWN.model_copy(update={"reveal": ((ONE, ONE // 4), *(SHOWN.reveal or ())[1:])})
    coins = np.random.default_rng(0).random((2000, 4))
    shares = [
        obfuscate_unadjusted(index, value, k, Parameters.of(shown), coins).keep.mean()
        for k in range(2)
    ]
    assert shares[0] - shares[1] > 0.7
    item = (SHOWN.items[0],)
    for category in (WOMAN, MAN):
        ledger = Ledger(SECRET)
        rated = {item[0]: 3 * ONE}
        asked = [ask(ledger, n, shown, item, rated, category) for n in range(20)]
        assert len({report.answers for report in asked}) == 1


def test_what_is_left_unrated_is_closed_for_the_round_and_open_in_the_next() -> None:
    ledger = Ledger(SECRET)
    always = SHOWN.model_copy(update={"reveal": ((ONE, ONE),) * len(SHOWN.items)})
    some = {"item-01": 3 * ONE}
    both = {**some, "item-02": 4 * ONE}
    first = ask(ledger, 1, always, rated=some)
    assert [item for item, _ in first.answers] == ["item-01"]
    second = ask(ledger, 2, always, rated=both)
    assert [item for item, _ in second.answers] == ["item-01", "item-02"]
    assert ask(ledger, 1, always, rated=both).raw == first.raw


def test_an_open_round_decides_every_rated_item_by_the_same_coins() -> None:
    """What is not asked about is decided as if it were, once and for all."""
    asked = SHOWN.items[2:5]
    ledger, closed, whole = Ledger(SECRET), Ledger(SECRET), Ledger(SECRET)
    report = ask(ledger, 1, items=asked, more=True)
    assert report.answers == ask(whole, 1).answers
    assert ledger.decided == whole.decided == set(RATED)
    sent = ask(closed, 1, items=asked).answers  # the control: a closed round leaves the rest open
    assert closed.decided == set(asked) & set(RATED)
    assert len(sent) < len(report.answers)
    assert ask(ledger, 1, items=asked, more=True).raw == report.raw
    with pytest.raises(RefusedError) as caught:
        ask(ledger, 1, items=asked)
    assert caught.value.code == Refusal.ROUND_CHANGED


def test_an_open_round_tells_nothing_twice_unless_asked_and_keeps_every_decision() -> None:
    ledger = Ledger(SECRET)
    first = ask(ledger, 1, items=SHOWN.items[:6])
    other = {item: STARS[0] + STARS[-1] - value for item, value in RATED.items()}
    always = LATER.model_copy(update={"reveal": ((ONE, ONE),) * len(LATER.items)})
    untold = tuple(item for item in SHOWN.items[:6] if item not in dict(first.answers))
    second = ask(ledger, 2, always, untold[:1], other, MAN, more=True)
    rest = [item for item in SHOWN.items[6:] if item in RATED]
    assert [item for item, _ in second.answers] == rest  # nothing answered, nothing withheld
    assert ask(ledger, 3, always, (), other, more=True).answers == ()
    control = ask(Ledger(SECRET), 2, always, (), other, MAN, more=True)
    assert {item for item, _ in control.answers} == set(RATED)


def test_an_open_round_ignores_ratings_of_items_that_are_not_disclosed() -> None:
    ledger = Ledger(SECRET)
    ask(ledger, 1, items=(), rated={"item-01": ONE, "item-99": ONE}, more=True)
    assert ledger.decided == {"item-01"}


def test_one_round_asks_one_thing() -> None:
    ledger = Ledger(SECRET)
    ask(ledger, 1)
    for shown, items in ((SHOWN, SHOWN.items[:3]), (LATER, LATER.items)):
        with pytest.raises(RefusedError) as caught:
            ask(ledger, 1, shown, items)
        assert caught.value.code == Refusal.ROUND_CHANGED


def test_an_answered_item_is_not_asked_again_under_other_numbers() -> None:
    ledger = Ledger(SECRET)
    sent = tuple(item for item, _ in ask(ledger, 1).answers)
    with pytest.raises(RefusedError) as caught:
        ask(ledger, 2, LATER, sent)
    assert caught.value.code == Refusal.NUMBERS_CHANGED
    assert ledger.answered(2) is None
    assert [item for item, _ in ask(ledger, 2, SHOWN, sent).answers] == list(sent)


def test_refusing_does_not_tell_withheld_from_unrated() -> None:
    """A new disclosure about all that was not answered is taken in either case, and in silence."""
    ledger = Ledger(SECRET)
    sent = {item for item, _ in ask(ledger, 1).answers}
    rest = tuple(item for item in SHOWN.items if item not in sent)
    unrated = [item for item in rest if item not in RATED]
    assert unrated
    assert len(rest) > len(unrated)
    assert ask(ledger, 2, LATER, rest).answers == ()


def test_an_empty_round_has_a_report_too() -> None:
    report = ask(Ledger(SECRET), 1, rated={})
    assert report.answers == ()
    assert len(bytes.fromhex(report.id)) == 16


def test_ids_tell_rounds_and_devices_apart() -> None:
    ledger = Ledger(SECRET)
    other = ask(Ledger(DeviceSecret(bytes(32))), 1)
    assert len({ask(ledger, 1).id, ask(ledger, 2).id, other.id}) == 3


def test_questions_that_do_not_fit_are_refused() -> None:
    cases = {
        Refusal.UNKNOWN_ITEM: solicitation(SHOWN, 1, ("item-99",)),
        Refusal.WRONG_DIGEST: solicitation(LATER),
    }
    for code, asked in cases.items():
        with pytest.raises(RefusedError) as caught:
            decide(RATED, asked, accepted(SHOWN), WOMAN, Ledger(SECRET))
        assert caught.value.code == code


@pytest.mark.parametrize("scheme", ["dmpss", "mpssr", "ssia"])
def test_a_rating_off_the_scale_stops_before_the_question_is_looked_at(scheme: str) -> None:
    """Asked about or not, answered before or not: no question learns from the silence."""
    shown, ledger = disclosure(scheme), Ledger(SECRET)
    wrong = {"item-01": ONE, "item-03": 7 * ONE}
    for items in (shown.items, ("item-01",), ("item-99",)):
        with pytest.raises(MidpointError, match="'item-03' is not on the scale"):
            ask(ledger, 1, shown, items, wrong)
    assert not ledger.decided
    ask(ledger, 1, shown)
    with pytest.raises(MidpointError, match="'item-03' is not on the scale"):
        ask(ledger, 1, shown, rated=wrong)


@pytest.mark.parametrize("value", [3 * ONE + 0.9, float(3 * ONE), True, "3", None])
def test_a_rating_that_is_no_whole_number_is_refused_not_cut(value: Any) -> None:
    ledger = Ledger(SECRET)
    with pytest.raises(MidpointError, match="'item-01' is not a whole number"):
        ask(ledger, 1, rated={"item-01": value})
    assert not ledger.decided
    ask(ledger, 1, rated={"item-01": np.int64(3 * ONE)})  # type: ignore[dict-item]
    assert ledger.decided == {"item-01"}


def test_ratings_are_checked_when_they_are_entered() -> None:
    smooth = disclosure("mpss", scale=RatingScale(low=ONE, high=5 * ONE))
    require_legal({"a": 2 * ONE, "b": 5 * ONE}, SHOWN)
    require_legal({"a": ONE + 1}, smooth)
    for shown, value in (
        (SHOWN, ONE + 1),
        (SHOWN, 2**70),
        (smooth, ONE - 1),
        (smooth, 5 * ONE + 1),
    ):
        with pytest.raises(MidpointError, match="'b' is not on the scale"):
            require_legal({"a": ONE, "b": value}, shown)


def outcome(
    rated: dict[str, int], category: PrivateCategory, pin: Pin | None, new: Disclosure
) -> str:
    """What the analyst sees of a device that is shown another disclosure."""
    try:
        taken = check_disclosure(new.raw, sealed(entries([SHOWN, new])), pin)
        decide(rated, solicitation(new, 1, ("item-01",)), taken, category, Ledger(SECRET))
    except RefusedError as refused:
        return refused.code
    except MidpointError:
        return "silence"
    return "report"


def test_no_refusal_depends_on_the_category() -> None:
    """Categories are pinned; else a disclosure that lacks one makes that group fall silent."""
    new = disclosure(features=(FeatureNames(name="gender", categories=("F", "X")),))
    pin = accepted(SHOWN).pin
    seen = [outcome({"item-01": ONE}, category, pin, new) for category in (WOMAN, MAN)]
    assert seen == [Refusal.FEATURES_CHANGED] * 2
    control = [outcome({"item-01": ONE}, category, None, new) for category in (WOMAN, MAN)]
    assert control == ["report", "silence"]


def test_no_refusal_depends_on_a_rating() -> None:
    """The scale is pinned; without a pin, scales that begin ever higher would find the rating."""
    new, pin = disclosure(points=(*STARS[2:], 6 * ONE)), accepted(SHOWN).pin
    seen = [outcome({"item-01": star}, WOMAN, pin, new) for star in STARS]
    assert seen == [Refusal.SCALE_CHANGED] * 5
    control = [outcome({"item-01": star}, WOMAN, None, new) for star in STARS]
    assert control == ["silence"] * 2 + ["report"] * 3


def test_stars_on_a_scale_called_continuous_would_show_the_category() -> None:
    smooth = disclosure("mp", scale=RatingScale(low=ONE, high=5 * ONE))
    with pytest.raises(RefusedError) as caught:
        check_disclosure(smooth.raw, sealed(entries([smooth])), None)
    assert caught.value.code == Refusal.SCALE_CONTINUOUS
    offset = dict(zip(smooth.items, smooth.offset or (), strict=True))
    rated = dict.fromkeys(smooth.items, 3 * ONE)
    for own, category in enumerate((WOMAN, MAN)):  # the control: a device that takes it
        answers = ask(Ledger(SECRET), 1, smooth, rated=rated, category=category).answers
        whole = [sum((sent + offset[item][k]) % ONE == 0 for item, sent in answers) for k in (0, 1)]
        assert (whole[own], whole[1 - own]) == (12, 0)
