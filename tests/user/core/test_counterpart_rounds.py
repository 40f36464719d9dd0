"""Rounds with counterparts: what her position is estimated by, and what the ledger keeps."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from midpoint.errors import MidpointError
from midpoint.user import (
    DeviceSecret,
    Ledger,
    Parameters,
    PrivateCategory,
    adjust,
    decide,
    obfuscate,
    taste_move,
    toss,
)
from midpoint.user.core.ledger import Round
from midpoint.wire import ONE, Disclosure, Refusal, RefusedError, Report
from tests.support.people.made_up import STARS, accepted, disclosure, ratings, solicitation
from tests.support.people.nature import Nature, disclose

SECRET = DeviceSecret(bytes(range(32)))
SHOWN = disclose(Nature.draw(np.random.default_rng(3), (40, 2, 2, 2)), "cmpss", STARS)
LATER = disclose(Nature.draw(np.random.default_rng(4), (40, 2, 2, 2)), "cmpss", STARS)
CATEGORY = [PrivateCategory({"group": "g0"}), PrivateCategory({"group": "g1"})]
RATED = ratings(SHOWN, share=0.6)
OTHER = {item: STARS[0] + STARS[-1] - value for item, value in RATED.items()}


def ask(
    ledger: Ledger,
    number: int,
    shown: Disclosure = SHOWN,
    items: tuple[str, ...] = SHOWN.items,
    rated: dict[str, int] = RATED,
    cell: int = 0,
    *,
    more: bool = False,
) -> Report:
    question = solicitation(shown, number, items, more=more)
    return decide(rated, question, accepted(shown), CATEGORY[cell], ledger)


def expected(
    sent: list[str],
    rated: dict[str, int],
    asked: list[str],
    cell: int = 0,
    before: Mapping[str, int] = MappingProxyType({}),
) -> tuple[list[tuple[str, int]], list[int]]:
    """Return what a device answers about some items, by what it was asked; and the move.

    `before` is what earlier rounds revealed.
    """
    index = SHOWN.index
    known = sorted(item for item in rated if item in asked)
    item = np.array([index[i] for i in known], dtype=np.intp)
    value = np.array([rated[i] for i in known])
    p, about = Parameters.of(SHOWN), np.array([index[i] for i in asked])
    adjustment = adjust(p, cell, about, item, value)
    done = obfuscate(item, value, cell, p, toss(SECRET, known), adjustment)
    kept = [
        (i, int(v))
        for i, v, keep in zip(known, done.value, done.keep, strict=True)
        if keep and i in sent
    ]
    pairs = sorted((index[i], v) for i, v in (dict(before) | dict(kept)).items())
    where, said = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return kept, taste_move(SHOWN, cell, (item, value), (where, said)).tolist()


def moved(ledger: Ledger, number: int = 1) -> list[int] | None:
    answered = ledger.answered(number)
    assert answered is not None
    return None if answered.move is None else list(answered.move)


@pytest.mark.parametrize("cell", [0, 1])
def test_a_report_is_the_obfuscation_of_the_coins(cell: int) -> None:
    ledger = Ledger(SECRET)
    report = ask(ledger, 1, cell=cell)
    answers, move = expected(sorted(RATED), RATED, list(SHOWN.items), cell)
    assert list(report.answers) == answers
    assert 0 < len(answers) < len(RATED)
    assert moved(ledger) == move
    assert any(move)


def test_a_closed_round_estimates_by_what_it_asks_and_an_open_one_by_everything() -> None:
    asked = SHOWN.items[5:20]
    closed, opened = Ledger(SECRET), Ledger(SECRET)
    some, by_some = expected(list(asked), RATED, list(asked))
    everything, by_all = expected(list(SHOWN.items), RATED, list(SHOWN.items))
    assert list(ask(closed, 1, items=asked).answers) == some
    assert list(ask(opened, 1, items=asked, more=True).answers) == everything
    assert moved(closed) == by_some
    assert moved(opened) == by_all
    assert by_some != by_all
    assert closed.decided == set(asked) & set(RATED)
    assert opened.decided == set(RATED)


def test_asked_again_it_says_the_same_whatever_changed() -> None:
    ledger = Ledger(SECRET)
    first, move = ask(ledger, 1), moved(ledger)
    assert ask(ledger, 1, rated=OTHER, cell=1).raw == first.raw
    assert moved(ledger) == move
    with pytest.raises(RefusedError) as caught:
        ask(ledger, 1, items=SHOWN.items[:3])
    assert caught.value.code == Refusal.ROUND_CHANGED
    assert ask(Ledger(SECRET), 1, rated=OTHER, cell=1).answers != first.answers  # the control


@pytest.mark.parametrize("more", [False, True])
def test_earlier_decisions_stand_when_the_position_has_changed(more: bool) -> None:
    ledger = Ledger(SECRET)
    half = SHOWN.items[:20]
    first = dict(ask(ledger, 1, items=half).answers)
    withheld = set(half) & set(RATED) - first.keys()
    assert withheld
    changed = {item: OTHER[item] if item in half else RATED[item] for item in RATED}
    second = dict(ask(ledger, 2, rated=changed, cell=1, more=more).answers)
    assert {item: second[item] for item in first} == first
    assert not withheld & second.keys()
    fresh, _ = expected(list(SHOWN.items[20:]), RATED, list(SHOWN.items), cell=1)  # as rated then
    assert {item: v for item, v in second.items() if item not in half} == dict(fresh)


def test_all_rounds_together_estimate_her_position() -> None:
    ledger = Ledger(SECRET)
    half = SHOWN.items[:20]
    first = dict(ask(ledger, 1, items=half).answers)
    later = {item: value for item, value in RATED.items() if item not in half}
    second = dict(ask(ledger, 2, rated=later).answers)
    fresh, move = expected(list(SHOWN.items[20:]), RATED, list(SHOWN.items), before=first)
    assert {item: value for item, value in second.items() if item in later} == dict(fresh)
    assert moved(ledger, 2) == move
    alone = expected(list(SHOWN.items[20:]), later, list(SHOWN.items[20:]))[1]
    assert move != alone  # the control: by the second round only


def test_a_copy_in_memory_shows_what_will_be_decided() -> None:
    ledger = Ledger(SECRET)
    ask(ledger, 1, items=SHOWN.items[:10])
    shown = ask(ledger.copy_in_memory(), 2)
    assert ledger.answered(2) is None
    assert ask(ledger, 2).raw == shown.raw


def test_nobody_rated_anything() -> None:
    for more in (False, True):
        ledger = Ledger(SECRET)
        assert ask(ledger, 1, rated={}, more=more).answers == ()
        assert not ledger.decided
    assert ask(Ledger(SECRET), 1, items=(), rated={}, more=True).answers == ()
    assert ask(Ledger(SECRET), 1, items=()).answers == ()


def test_a_rating_off_the_scale_stops_before_anything_is_decided() -> None:
    ledger = Ledger(SECRET)
    with pytest.raises(MidpointError, match="not on the scale"):
        ask(ledger, 1, rated={**RATED, SHOWN.items[0]: ONE + 1})
    assert not ledger.decided


def test_the_ledger_keeps_the_move_on_disk(tmp_path: Path) -> None:
    with Ledger.create(tmp_path) as ledger:
        first, move = ask(ledger, 1), moved(ledger)
    with Ledger.open(tmp_path) as ledger:
        assert moved(ledger) == move
        assert list(ledger.move_under(SHOWN.digest)) == move
        assert ask(ledger, 1).raw == first.raw
        assert ledger.move_under(LATER.digest) == ()


def test_a_ledger_from_before_reads_as_it_was_written(tmp_path: Path) -> None:
    old = disclosure("dmpss")
    with Ledger.create(tmp_path) as ledger:
        woman = PrivateCategory({"gender": "F"})
        decide(ratings(old), solicitation(old), accepted(old), woman, ledger)
    lines = (tmp_path / "ledger").read_bytes().splitlines()
    assert b"move" not in lines[1]
    assert Round.parse(lines[1]).raw == lines[1]
    with Ledger.open(tmp_path) as ledger:
        assert moved(ledger) is None
        assert ledger.move_under(old.digest) == ()
        ask(ledger, 2)  # and goes on under a scheme with counterparts
    with Ledger.open(tmp_path) as ledger:
        assert moved(ledger) is None
        assert moved(ledger, 2)
        assert list(ledger.move_under(SHOWN.digest)) == moved(ledger, 2)


def test_the_move_is_that_of_the_last_round_under_the_disclosure() -> None:
    ledger = Ledger(SECRET)
    ask(ledger, 1, items=SHOWN.items[:20])
    ask(ledger, 2, items=SHOWN.items[20:])
    ask(ledger, 3, LATER, items=())
    assert list(ledger.move_under(SHOWN.digest)) == moved(ledger, 2) != moved(ledger, 1)


def test_a_round_that_decides_nothing_leaves_the_move_as_it_was() -> None:
    """What was sent stays moved as it was; taking another move off would be wrong by both."""
    ledger = Ledger(SECRET)
    ask(ledger, 1)
    before = ledger.move_under(SHOWN.digest)
    ask(ledger, 2, rated=OTHER)
    ask(ledger, 3, items=())
    assert ledger.move_under(SHOWN.digest) == before


def test_ratings_may_be_numpys_integers() -> None:
    plain, numbers = Ledger(SECRET), Ledger(SECRET)
    rated = {item: np.int64(value) for item, value in RATED.items()}
    assert ask(numbers, 1, rated=rated).raw == ask(plain, 1).raw  # type: ignore[arg-type]


def test_what_was_rated_on_another_scale_does_not_count_for_her_position() -> None:
    """She agreed to a new scale; the ledger still has what she rated on the old one."""
    known = SHOWN.items[:5]

    def second(given: int | None) -> list[int] | None:
        ledger, rated = Ledger(SECRET), {} if given is None else dict.fromkeys(known, STARS[-1])
        ask(ledger, 1, items=known, rated=rated)
        first = ledger.answered(1)
        assert first is not None
        old = None if given is None else tuple((item, given) for item in known)
        changed = Ledger(SECRET)
        changed.record(first.model_copy(update={"given": old}))
        later = {item: value for item, value in RATED.items() if item not in known}
        ask(changed, 2, rated=later)
        return moved(changed, 2)

    assert second(80 * ONE) != second(STARS[-1])  # eighty stars are none
    assert second(80 * ONE) == second(70 * ONE)
