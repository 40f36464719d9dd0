from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.rounds.conversation import DeviceKind, Transcript
from midpoint.audit.rounds.view import (
    TranscriptView,
    delay,
    drift,
    item_history,
    person_history,
    union,
)
from midpoint.errors import MidpointError
from tests.support.audits.meetings import ROUNDS, Meetings
from tests.support.audits.seen import Seen

NAN = float("nan")
# One person, three items, three rounds: answered thrice, answered late, never answered.
ASKED = np.array([[[1, 1, 0]], [[1, 1, 1]], [[1, 0, 1]]], dtype=np.bool_)
VALUE = np.array([[[2, NAN, NAN]], [[4, 5, NAN]], [[3, NAN, NAN]]], dtype=np.float32)
SAID = Transcript(np.array([4, 7, 9]), ASKED, VALUE)


@pytest.fixture(scope="module")
def meetings() -> Meetings:
    return Meetings(users=60)


def seen(meetings: Meetings, said: Transcript) -> TranscriptView:
    return TranscriptView.of(said, meetings.versions[-1], meetings.people.scale)


def test_of_several_answers_the_union_has_the_mean() -> None:
    found = union(SAID)
    assert found.item.tolist() == [4, 7]
    assert found.value.tolist() == [3.0, 5.0]
    assert found.user_offsets.tolist() == [0, 2]


def test_delays_and_drifts_are_those_of_the_answers() -> None:
    assert delay(SAID).tolist() == [[0, 1, 0]]
    assert drift(SAID).tolist() == [[1.0, 0.0, 0.0]]


def test_an_items_history_is_what_became_of_the_question(meetings: Meetings) -> None:
    said = Transcript(meetings.items[:3], ASKED, VALUE)
    view = seen(meetings, said)
    centre = view.profiles.centre[said.items]
    rows = item_history(view).toarray().reshape(6, 3)
    assert rows[0].tolist() == [1, 1, 0]  # answered
    assert rows[1].tolist() == [0, 0, 1]  # asked in vain
    assert rows[2].tolist() == [0, 1, 0]  # waited
    assert rows[3].tolist() == [3, 1, 0]  # answers
    assert rows[4] == pytest.approx([3 - centre[0], 5 - centre[1], 0], abs=1e-5)
    assert rows[5].tolist() == [1, 0, 0]  # moved


def test_a_persons_history_counts_her_rounds(meetings: Meetings) -> None:
    view = seen(meetings, Transcript(meetings.items[:3], ASKED, VALUE))
    D = view.profiles.dimension
    row = person_history(view)[0]
    assert len(row) == 5 * 3 + 4 * D + 5
    assert row[:12].tolist() == [2, 3, 2, 1, 2, 1, 0, 1, 0, 0, 1, 1]
    assert row[-5:-1].tolist() == [1, 1, 1, 1]  # waited, who waited, moved, how far


def test_final_decisions_never_change_and_others_do(meetings: Meetings) -> None:
    def changes(device: DeviceKind) -> float:
        table = person_history(seen(meetings, meetings.hold(device)))
        return float(table[:, 3 * ROUNDS : 4 * ROUNDS].sum())

    assert changes(DeviceKind.FINAL) == 0
    assert changes(DeviceKind.TOSSING) > changes(DeviceKind.FORGETFUL) > 0


def test_people_are_pooled_one_part_after_the_other(meetings: Meetings) -> None:
    one, two = (seen(meetings, meetings.hold(coins=k)) for k in (1, 2))
    last = meetings.versions[-1]
    both = TranscriptView.pooled([one, two], last.profiles, last.disclosure)
    assert both.n_users == one.n_users + two.n_users
    for form in (item_history, person_history):
        assert _dense(form(both)) == pytest.approx(np.vstack([_dense(form(v)) for v in (one, two)]))


def test_a_single_report_has_no_history() -> None:
    people = Seen()
    with pytest.raises(MidpointError, match="reads transcripts"):
        item_history(people.view(people.tried, "dmpss"))


def _dense(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
