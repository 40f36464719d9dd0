"""Assigned items: all that is asked is answered, or nothing; the choice is never hers."""

import pytest

import midpoint as mp
from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.wire import Disclosure, Refusal, RefusedError
from tests.support.people.made_up import accepted, disclosure, ratings, solicitation

SHOWN = disclosure("dmp", sets="assigned")
HER = PrivateCategory({"gender": "F"})
ALL = ratings(SHOWN, share=1.0)


def sent(shown: Disclosure, rated: dict[str, int], asked: tuple[str, ...]) -> list[str]:
    question = solicitation(shown, 1, asked)
    report = decide(rated, question, accepted(shown), HER, Ledger(DeviceSecret(bytes(32))))
    return [item for item, _ in report.answers]


def test_all_that_is_asked_is_answered_and_nothing_beyond() -> None:
    asked = SHOWN.items[:4]
    assert sent(SHOWN, ALL, asked) == list(asked)


def test_who_leaves_one_out_answers_nothing() -> None:
    """Otherwise which ones she answers is a choice; without `sets` it shows, the control."""
    asked = SHOWN.items[:4]
    some = {item: ALL[item] for item in asked[:3]}
    assert sent(SHOWN, some, asked) == []
    assert sent(disclosure("dmp"), some, asked) == list(asked[:3])


def test_what_was_left_open_can_be_answered_when_it_is_asked_again() -> None:
    ledger, asked = Ledger(DeviceSecret(bytes(32))), SHOWN.items[:4]
    some = {item: ALL[item] for item in asked[:3]}
    first = decide(some, solicitation(SHOWN, 1, asked), accepted(SHOWN), HER, ledger)
    assert first.answers == ()
    assert not ledger.decided
    second = decide(ALL, solicitation(SHOWN, 2, asked), accepted(SHOWN), HER, ledger)
    assert [item for item, _ in second.answers] == list(asked)
    third = decide({}, solicitation(SHOWN, 3, asked[:2]), accepted(SHOWN), HER, ledger)
    assert third.answers == second.answers[:2]  # decided before, and final


def test_an_open_question_is_refused() -> None:
    question = solicitation(SHOWN, 1, SHOWN.items[:4], more=True)
    with pytest.raises(RefusedError, match="assigned") as refused:
        decide(ALL, question, accepted(SHOWN), HER, Ledger(DeviceSecret(bytes(32))))
    assert refused.value.code is Refusal.QUESTION_OPEN


def test_a_device_wants_the_question(tiny: mp.data.Simulation) -> None:
    analyst = mp.Analyst.train(tiny.ratings, "gender", scheme="dmp:sets=assigned")
    device = mp.Device(analyst.published, gender="F", agree_to_show_rated=True)
    question = analyst.solicit(budget=3)
    rated = dict.fromkeys(question.items, 3.0)
    for ask in (device.protect, device.preview):
        with pytest.raises(MidpointError, match="answer its question"):
            ask(rated)
    assert device.protect({}, question=question).answers == ()
    again = analyst.solicit(budget=3, asked=())
    later = again.model_copy(update={"round": 7})
    assert len(device.protect(rated, question=later).answers) == 3
