"""A bar is shown where somebody can see it, and nowhere else."""

import io
import sys
import warnings

import pytest

from midpoint.progress import shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, show: bool | None, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with shown("Fitting item profiles", show) as report:
        report(1, 2)
        report(2, 2, "Fitting positions")
    return stream.getvalue()


def test_a_terminal_shows_a_bar_unless_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Fitting item profiles" in written(Terminal(), None, monkeypatch)
    assert written(Terminal(), False, monkeypatch) == ""


def test_a_notebook_that_cannot_move_a_bar_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich would print a warning into the notebook for every bar."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("midpoint.progress.find_spec", lambda _: None)
    with warnings.catch_warnings(record=True) as warned:
        assert written(Terminal(), None, monkeypatch) == ""
    assert not warned


def test_a_pipe_shows_nothing_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(io.StringIO(), None, monkeypatch) == ""
    assert "Fitting positions" in written(io.StringIO(), True, monkeypatch)
