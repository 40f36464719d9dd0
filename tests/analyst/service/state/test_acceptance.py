"""Rounds go on from where the device is, also when the service lost what it had kept."""

from dataclasses import replace

import pytest

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.state.acceptance import MOST_ROUNDS, OpenRound, receipt
from midpoint.analyst.storage import Summary
from midpoint.wire import Receipt, Solicitation, digest

WORK = OpenRound(b"t" * 32, 5, "0" * 64, ("a", "b"), only_asked=False)


def opened(work: OpenRound, summary: Summary | None) -> tuple[Solicitation, Summary]:
    before = summary or Summary(5)
    decision = work.decide(summary)
    after = before.after(decision)
    assert after is not None
    return Solicitation.parse(decision.reply), after


def test_a_device_that_is_done_with_a_round_is_asked_a_later_one() -> None:
    first, kept = opened(WORK, None)
    later, _ = opened(replace(WORK, after=6), None)
    assert (first.round, later.round) == (0, 7)
    again, _ = opened(WORK, kept)
    assert again.raw == first.raw  # control: a question that is open stays


def test_an_open_question_that_the_device_is_done_with_is_left() -> None:
    _, kept = opened(WORK, None)
    next_one, kept = opened(replace(WORK, after=0), kept)
    assert next_one.round == 1
    again, _ = opened(replace(WORK, after=0), kept)
    assert again.raw == next_one.raw


@pytest.mark.slow
def test_a_token_has_so_many_rounds_and_no_more() -> None:
    """Without an end, somebody could make each of her requests take longer than the last."""
    kept: Summary | None = None
    for number in range(MOST_ROUNDS):
        _, kept = opened(replace(WORK, after=number - 1), kept)
    last, _ = opened(replace(WORK, after=MOST_ROUNDS - 2), kept)  # the control: it is still open
    assert last.round == MOST_ROUNDS - 1
    with pytest.raises(DeclinedError) as declined:
        opened(replace(WORK, after=MOST_ROUNDS - 1), kept)
    assert declined.value.code == "rounds_used_up"


def test_a_receipt_is_the_bytes_of_a_checked_message() -> None:
    assert receipt(b"abc", 7) == Receipt(report=digest(b"abc"), answers=7).raw
