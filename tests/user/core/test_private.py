import copy
import dataclasses
import json
import pickle
import pprint
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, PrivateCategory
from midpoint.user.agent.home import Notes
from midpoint.user.core.ledger import Round
from midpoint.user.core.private import framed
from midpoint.wire import ONE
from tests.support.people.made_up import AGE, GENDER, disclosure

NAMES = {"gender": "F", "age": "old"}
KEY = bytes(range(100, 132))
HIDDEN = (PrivateCategory(NAMES), DeviceSecret(KEY))


@dataclasses.dataclass
class Case:
    held: Any


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: type(hidden).__name__)
@pytest.mark.parametrize("show", [repr, str, format, "{0!r:>40}".format, pprint.pformat, Case])
def test_secrets_do_not_print(hidden: object, show: Callable[[object], object]) -> None:
    shown = repr(show(hidden))
    assert "hidden" in shown
    assert not any(word in shown for word in ("gender", "old", KEY.hex(), repr(KEY), "defg"))


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: type(hidden).__name__)
@pytest.mark.parametrize(
    "leave",
    [
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        vars,
        lambda hidden: dataclasses.asdict(Case(hidden)),
    ],
)
def test_secrets_do_not_serialize(hidden: object, leave: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        leave(hidden)
    leave_something_public = {"a": 1} if leave is json.dumps else Case(1)
    leave(leave_something_public)


def test_secrets_are_not_compared() -> None:
    assert DeviceSecret(KEY) != DeviceSecret(KEY)
    assert PrivateCategory(NAMES) != PrivateCategory(NAMES)


def test_cells_are_row_major_and_follow_the_names_not_the_order() -> None:
    one, other = (disclosure("dmp", order) for order in ((GENDER, AGE), (AGE, GENDER)))
    category = PrivateCategory.of(one, NAMES)
    assert category.cell_in(one) == 0 * 3 + 2
    assert category.cell_in(other) == 2 * 2 + 0


@pytest.mark.parametrize("names", [{}, {"gender": "F"}, {"gender": "Q", "age": "old"}])
def test_a_category_must_be_known(names: dict[str, str]) -> None:
    with pytest.raises(MidpointError, match="needs one of") as caught:
        PrivateCategory.of(disclosure("dmp", (GENDER, AGE)), names)
    assert "Q" not in str(caught.value)


def test_a_feature_that_a_disclosure_dropped_is_not_left_unprotected() -> None:
    with pytest.raises(MidpointError, match="does not protect age"):
        PrivateCategory(NAMES).cell_in(disclosure("dmp", (GENDER,)))


def test_every_secret_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # secrets are no longer drawn by the name of the test
    assert len({DeviceSecret.generate().prf(b"x") for _ in range(20)}) == 20


def test_a_secret_survives_on_disk_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = DeviceSecret.generate()
    secret.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert DeviceSecret.load(path).prf(b"x") == secret.prf(b"x")
    with pytest.raises(MidpointError, match="exists"):
        secret.save(path)
    path.chmod(0o640)
    with pytest.raises(MidpointError, match="chmod 600"):
        DeviceSecret.load(path)


def test_a_damaged_secret_is_refused_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("fade" * 10)
    with pytest.raises(MidpointError, match="not a readable") as caught:
        DeviceSecret.load(path)
    assert "fade" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_framing_keeps_parts_apart() -> None:
    assert framed(b"ab", b"c") != framed(b"a", b"bc")
    assert framed(b"a") == b"\x00\x00\x00\x01a"


@pytest.mark.parametrize("show", [repr, str, format, pprint.pformat])
def test_what_the_device_keeps_of_her_does_not_print(show: Callable[[object], str]) -> None:
    notes = [Notes(ratings=(("Fargo", ONE),), category=(("gender", who),)) for who in ("F", "M")]
    rounds = [
        Round(round=0, solicitation="0" * 64, report="", numbers=(), withheld=(item,))
        for item in ("Fargo", "Heat")
    ]
    assert {show(kept) for kept in notes} == {"<Notes: hidden>"}
    assert {show(kept) for kept in rounds} == {"<Round 0: hidden>"}
