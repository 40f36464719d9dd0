from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from midpoint.cli.answer import script
from midpoint.cli.answer.script import answer_from_file
from midpoint.wire import ONE


class Session:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.agent = SimpleNamespace(standing=None)
        self.terminal = SimpleNamespace(say=self.done.append)

    def category(self) -> str:
        return "F"

    def show_leaving(self, ratings: dict[str, float], category: str) -> None:
        self.done.append(("leaving", ratings, category))

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.done.append(name)


@pytest.mark.parametrize("yes", [True, False])
def test_only_a_yes_sends(yes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = SimpleNamespace(fixed={"heat": 4 * ONE})
    monkeypatch.setattr(script, "read_ratings", lambda *_: given)
    session = Session()
    answer_from_file(cast("Any", session), tmp_path / "mine.csv", yes=yes)
    assert session.done[:3] == ["connect", "ask_for_a_round", ("leaving", {"heat": 4.0}, "F")]
    refused = ["Nothing was sent; add --yes to send it."]
    assert session.done[3:] == (["send", "recommend"] if yes else refused)
