"""`midpoint rank`: the device's second step by files."""

import json
from pathlib import Path
from typing import Any

import pytest

from midpoint.user.agent.device import Device
from midpoint.wire import Refusal, RefusedError, Scores
from tests.support.people.by_files import Desk, command, refused
from tests.support.sites.devices import EVERYTHING, LATER, SHOWN, published

pytestmark = pytest.mark.slow

SOME = dict(list(EVERYTHING.items())[::4])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Files of one person, who protected some ratings and received scores."""
    made = Desk(tmp_path)
    made.publish()
    made.rate(SOME)
    assert made.protect().exit_code == 0
    made.score()
    return made


def ranked(desk: Desk, *more: object) -> Any:
    result = desk.rank("--json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_ranking_is_that_of_a_device_in_python(desk: Desk) -> None:
    """The control is the other category, whose own part differs."""
    scores = Scores.parse(desk.score().read_bytes())
    rows = ranked(desk, "--top", 1000)
    with Device(published(), home=desk.home, gender="F") as device:
        hers = device.rank(scores)
    with Device(published(), home=desk.home, gender="M") as device:
        his = device.rank(scores)
    assert [(r["item"], r["title"], r["stars"], r["deviation"]) for r in rows] == [
        (r.item, r.title, r.stars, r.deviation) for r in hers
    ]
    assert [r.item for r in hers] != [r.item for r in his]
    assert not {r["title"] for r in rows} & SOME.keys()
    assert len(rows) == len(EVERYTHING) - len(SOME)


def test_titles_are_shown_in_a_table(desk: Desk) -> None:
    shown = desk.rank("--top", 3)
    assert shown.exit_code == 0
    assert shown.output.count("±") == 3
    assert ranked(desk)[0]["title"] in shown.output


def test_it_decides_and_keeps_nothing(desk: Desk) -> None:
    before = desk.kept()
    ranked(desk)
    assert desk.kept() == before


def test_a_remembered_category_is_used(desk: Desk) -> None:
    words = ("rank", "--scores", desk.score(), "--home", desk.home, "--json")
    assert "--category-file" in str(refused(command(*words)))
    rows = ranked(desk, "--remember")
    again = command(*words)
    assert json.loads(again.stdout) == rows
    assert "asked this device to remember" in again.stderr


def test_scores_of_another_disclosure_are_refused(desk: Desk) -> None:
    desk.score(LATER)
    error = refused(desk.rank())
    assert isinstance(error, RefusedError)
    assert error.code is Refusal.WRONG_DIGEST
    assert LATER.digest[:12] in str(error)
    desk.publish(published(SHOWN, LATER))
    assert desk.protect().exit_code == 0
    assert ranked(desk)  # the control: she accepted that one


def test_where_no_device_is_none_begins(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert "no device in" in str(refused(desk.rank("--home", elsewhere)))
    assert not elsewhere.exists()


def test_a_home_in_use_is_not_shared(desk: Desk) -> None:
    with Device(published(), home=desk.home, gender="F"):
        assert "in use" in str(refused(desk.rank()))
    assert ranked(desk)


def test_what_she_accepted_is_checked_again(desk: Desk) -> None:
    """Somebody put other titles, or an older list, into her home; the control is the honest one."""
    kept = desk.device / "published"
    honest = kept.read_bytes()
    kept.write_bytes(honest.replace(b"Title of", b"Name of"))
    error = refused(desk.rank())
    assert isinstance(error, RefusedError)
    assert error.code is Refusal.WRONG_TITLES
    kept.write_bytes(b"{}")
    assert "damaged" in str(refused(desk.rank()))
    kept.unlink()
    assert "nothing was accepted" in str(refused(desk.rank()))
    kept.write_bytes(honest)
    assert ranked(desk)


def test_a_file_that_holds_no_scores_is_named(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_bytes(SHOWN.raw)
    assert "scores.json" in str(refused(desk.rank()))
