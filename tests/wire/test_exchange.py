import gzip
import json
import zlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

from midpoint.wire import (
    Refusal,
    Report,
    Scores,
    Solicitation,
)
from midpoint.wire.exchange import read_answer
from tests.support.sites.messages import ZERO, code_of


def ended(reading: Coroutine[Any, Any, bytes]) -> bytes:
    """Return what is read of pieces that are there already, so that nothing waits."""
    with pytest.raises(StopIteration) as end:
        reading.send(None)
    return bytes(end.value.value)


def test_an_answer_that_goes_on_after_its_end_is_dropped_at_once() -> None:
    """The control is the same answer without more behind it."""
    came = list[int]()

    async def pieces(more: int) -> AsyncIterator[bytes]:
        yield gzip.compress(b"all")
        for piece in range(more):
            came.append(piece)
            yield bytes(1000)

    assert ended(read_answer(pieces(0), "gzip", 100)) == b"all"
    with pytest.raises(zlib.error, match="after its end"):
        ended(read_answer(pieces(50), "gzip", 100))
    assert len(came) == 1


def test_whether_a_round_is_open_is_said_by_true_or_false() -> None:
    content = json.loads(Solicitation(disclosure=ZERO, round=0, items=(), open=False).raw)
    assert code_of(Solicitation, content) is None
    values: list[object] = [0, 1, "true", None, []]
    for value in values:
        assert code_of(Solicitation, {**content, "open": value}) == Refusal.WRONG_SHAPE


def test_a_report_has_room_for_nothing_else() -> None:
    assert set(Report.model_fields) == {"version", "id", "disclosure", "round", "answers"}


def test_scores_leave_room_for_an_offset() -> None:
    for score, code in ((2**52, None), (2**52 + 1, Refusal.WRONG_SHAPE)):
        content = {"disclosure": ZERO, "items": ["a"], "score": [score], "deviation": [0]}
        assert code_of(Scores, {**content, "version": 1}) == code
