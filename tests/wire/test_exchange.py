import json

from midpoint.wire import (
    Refusal,
    Report,
    Scores,
    Solicitation,
)
from tests.support.sites.messages import ZERO, code_of


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
