"""Repeated interaction (Section 6.3): the joint report must not depend on the category.

Each control shows what would happen on a device without the rule under test.
"""

import numpy as np
import pytest
from made_up import STARS, disclosure, ratings, solicitation

from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Ledger, Parameters, PrivateCategory, decide, obfuscate, toss
from midpoint.wire import ONE, Disclosure, Refusal, RefusedError, Report

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
) -> Report:
    return decide(rated, solicitation(shown, number, items), shown, category, SECRET, ledger)


def test_a_report_is_the_obfuscation_of_the_coins() -> None:
    report = ask(Ledger(SECRET), 1)
    rated = sorted(RATED)
    index = np.array([SHOWN.items.index(item) for item in rated])
    value = np.array([RATED[item] for item in rated])
    done = obfuscate(index, value, 0, Parameters.of(SHOWN), toss(SECRET, rated))
    kept = [
        (item, int(told))
        for item, told, keep in zip(rated, done.value, done.keep, strict=True)
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
    told = {item for item, _ in ask(ledger, 1).answers}
    withheld = tuple(item for item in sorted(RATED) if item not in told)
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
    shares = [obfuscate(index, value, k, Parameters.of(shown), coins).keep.mean() for k in range(2)]
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


def test_one_round_asks_one_thing() -> None:
    ledger = Ledger(SECRET)
    ask(ledger, 1)
    for shown, items in ((SHOWN, SHOWN.items[:3]), (LATER, LATER.items)):
        with pytest.raises(RefusedError) as caught:
            ask(ledger, 1, shown, items)
        assert caught.value.code == Refusal.ROUND_CHANGED


def test_an_answered_item_is_not_asked_again_under_other_numbers() -> None:
    ledger = Ledger(SECRET)
    told = tuple(item for item, _ in ask(ledger, 1).answers)
    with pytest.raises(RefusedError) as caught:
        ask(ledger, 2, LATER, told)
    assert caught.value.code == Refusal.NUMBERS_CHANGED
    assert ledger.answered(2) is None
    assert [item for item, _ in ask(ledger, 2, SHOWN, told).answers] == list(told)


def test_refusing_does_not_tell_withheld_from_unrated() -> None:
    """A new disclosure about all that was not answered is taken in either case, and in silence."""
    ledger = Ledger(SECRET)
    told = {item for item, _ in ask(ledger, 1).answers}
    rest = tuple(item for item in SHOWN.items if item not in told)
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
    other = decide(
        RATED, solicitation(SHOWN), SHOWN, WOMAN, DeviceSecret(bytes(32)), Ledger(SECRET)
    )
    assert len({ask(ledger, 1).id, ask(ledger, 2).id, other.id}) == 3


def test_questions_that_do_not_fit_are_refused() -> None:
    cases = {
        Refusal.UNKNOWN_ITEM: solicitation(SHOWN, 1, ("item-99",)),
        Refusal.WRONG_DIGEST: solicitation(LATER),
    }
    for code, asked in cases.items():
        with pytest.raises(RefusedError) as caught:
            decide(RATED, asked, SHOWN, WOMAN, SECRET, Ledger(SECRET))
        assert caught.value.code == code


@pytest.mark.parametrize("scheme", ["dmpss", "mpssr", "ssia"])
def test_a_rating_off_the_scale_stops_before_anything_is_decided(scheme: str) -> None:
    shown, ledger = disclosure(scheme), Ledger(SECRET)
    with pytest.raises(MidpointError, match="'item-03' is not on the scale"):
        ask(ledger, 1, shown, rated={"item-01": ONE, "item-03": 7 * ONE})
    assert not ledger.decided
