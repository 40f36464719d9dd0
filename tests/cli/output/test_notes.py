"""Notes of the library go to standard error, once each, and warnings are called so."""

import logging

import pytest

from midpoint.cli.output.notes import Notes, show_notes


def test_notes_and_warnings_are_shown_once_however_often_they_are_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("midpoint")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logger.level)
    show_notes()
    show_notes()
    assert [type(handler) for handler in logger.handlers] == [Notes]
    logging.getLogger("midpoint.data").info("3 users have no category")
    logging.getLogger("midpoint.data").warning("a column is blank")
    logging.getLogger("elsewhere").warning("not ours")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "note: 3 users have no category",
        "warning: a column is blank",
    ]
