"""`midpoint answer` against a running service: from a file, and in a real terminal."""

import json
import os
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midpoint.cli.app import app
from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret
from midpoint.wire import ONE
from tests.support.models.small_model import trained

pytestmark = pytest.mark.slow

if sys.platform != "win32":
    import fcntl
    import termios


def answer(*words: object) -> Any:
    return CliRunner().invoke(app, ["answer", *map(str, words)], env={"COLUMNS": "200"})


def rated(path: Path, count: int, column: str = "item", rating: str = "4") -> Path:
    rows = [f"{item},{rating}" for item in trained().disclosure.items[:count]]
    path.write_text("\n".join([f"{column},rating", *rows]) + "\n")
    return path


def test_a_file_is_shown_first_and_sent_only_with_yes(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home")
    file = rated(tmp_path / "ratings.csv", 12)
    words = ("--ratings", file, "--category", "gender=F")
    shown = answer(url, *here, *words)
    assert shown.exit_code == 0, shown.output
    assert "Nothing was sent" in shown.output
    assert shown.output.count("4 ★★★★") == 12
    answer(url, *here, "--export", tmp_path / "before.json")
    assert json.loads((tmp_path / "before.json").read_text())["service"]["reports"] == []

    sent = answer(url, *here, *words, "--yes", "--top", 3)
    assert sent.exit_code == 0, sent.output
    assert "Sent" in sent.output
    assert sent.output.count("±") == 3
    answer(url, *here, "--export", tmp_path / "after.json")
    kept = json.loads((tmp_path / "after.json").read_text())
    (report,) = kept["service"]["reports"]
    assert report["report"] == kept["device"]["rounds"][0]["report"]
    assert (tmp_path / "after.json").stat().st_mode & 0o777 == 0o600
    assert "category" not in kept["device"]["notes"]

    gone = answer(url, *here, "--forget", "--yes")
    assert "Forgotten" in gone.output
    assert list((tmp_path / "home").iterdir()) == []


def test_in_the_clear_is_sent_as_it_is_and_nothing_is_called_protected(
    url: str, tmp_path: Path
) -> None:
    """Control: the same file with a category, under which some answers are withheld or changed."""
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "ratings.csv", 12))
    refused = answer(url, *here, "--in-the-clear", "--category", "gender=F")
    assert refused.exit_code == 1
    shown = answer(url, *here, "--in-the-clear")
    assert shown.exit_code == 0, shown.output
    assert "nothing is protected" in shown.output
    assert "Nothing was sent" in shown.output
    assert shown.output.count("not protected") == 12
    for false in ("to protect you", "as it is\n", "withheld and unrated", "withheld for good"):
        assert false not in shown.output
    sent = answer(url, *here, "--in-the-clear", "--yes")
    assert sent.exit_code == 0, sent.output
    answer(url, "--home", tmp_path / "home", "--export", tmp_path / "all.json")
    (kept,) = json.loads((tmp_path / "all.json").read_text())["service"]["reports"]
    answers = json.loads(kept["report"])["answers"]
    assert [value for _, value in answers] == [4 * ONE] * 12
    other = ("--home", tmp_path / "other", "--ratings", tmp_path / "ratings.csv")
    assert "withheld and unrated" in answer(url, *other, "--category", "gender=F").output


def test_demands_hold_in_later_runs_until_others_are_made(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "ratings.csv", 3))
    words, key = (*here, "--category", "gender=F"), "1" * 64
    assert "You demand" not in answer(url, *words).output  # the control
    for run in ((*words, "--auditor", key, "--require-certificate"), words):
        refused = answer(url, *run)
        assert refused.exit_code == 1
        assert "no auditor you trust certified" in str(refused.exception)
    assert "--most-auc" in str(
        answer(url, *words, "--any-certificate", "--most-auc", "0.9").exception
    )
    assert answer(url, *words).exit_code == 1  # what was refused weakened nothing
    agreed = answer(url, *words, "--any-certificate")
    assert agreed.exit_code == 0, agreed.output
    assert answer(url, *words).exit_code == 0
    for more in (("--most-leak", "0.51"), ()):
        assert "leak" in str(answer(url, *words, *more).exception)
    assert "not both" in str(answer(url, *words, "--any-leak", "--most-leak", "1").exception)
    both = answer(url, *words, "--any-certificate", "--require-certificate")
    assert "not both" in str(both.exception)
    assert answer(url, *words, "--any-leak").exit_code == 0
    assert "go with --witness" in str(answer(url, *words, "--witness-hours", "2").exception)


def test_a_witness_that_cannot_be_asked_is_not_kept(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "ratings.csv", 3))
    words = (*here, "--category", "gender=F")
    for witness, why in ((url, "somebody else"), ("http://witness.example", "not encrypted")):
        assert why in str(answer(url, *words, "--witness", witness).exception)
    agreed = answer(url, *words)
    assert agreed.exit_code == 0, agreed.exception
    assert "You demand" not in agreed.output


def test_a_change_is_refused_until_she_accepts_it(url: str, tmp_path: Path) -> None:
    """Here the pin says that the service had another scheme; the rest is as it was."""
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "ratings.csv", 3))
    words = (*here, "--category", "gender=F")
    assert answer(url, *words).exit_code == 0
    (pin,) = (tmp_path / "home").glob("*/pin")
    before = pin.read_bytes()
    pin.write_bytes(before.replace(b'"dmpss"', b'"ssfa"'))
    refused = answer(url, *words)
    assert refused.exit_code == 1
    assert "--accept-changes" in str(refused.exception)
    assert b"ssfa" in pin.read_bytes()
    accepted = answer(url, *words, "--accept-changes")
    assert accepted.exit_code == 0, accepted.output
    assert pin.read_bytes() == before
    assert answer(url, *words).exit_code == 0


def test_a_remembered_category_need_not_be_named_again(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "ratings.csv", 3))
    nameless = answer(url, *here)
    assert nameless.exit_code == 1
    assert "name your category" in str(nameless.exception)
    assert answer(url, *here, "--category", "gender=M", "--remember").exit_code == 0
    assert "asked this device to remember" in answer(url, *here).output


@pytest.mark.parametrize("wrong", ["gender", "=F", "gender=", "gender=X", "age=F"])
def test_a_wrong_category_is_refused_without_repeating_it(
    wrong: str, url: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "ratings.csv", 3)
    said = answer(url, "--in-memory", "--ratings", file, "--category", wrong, "--yes")
    assert isinstance(said.exception, MidpointError)
    assert "X" not in str(said.exception)


def test_in_memory_leaves_nothing_anywhere(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control: a person with a directory is still known to the service."""
    secret = bytes(range(50, 82))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(secret))
    file = rated(tmp_path / "ratings.csv", 3)
    words = ("--ratings", file, "--category", "gender=F", "--yes")
    said = answer(url, "--in-memory", *words)
    assert "erased you; nothing was kept" in said.output

    def kept_there(name: str) -> Any:
        answer(url, "--home", tmp_path / "home", "--export", tmp_path / name)
        return json.loads((tmp_path / name).read_text())["service"]

    assert kept_there("none.json") is None
    answer(url, "--home", tmp_path / "home", *words)
    assert len(kept_there("some.json")["reports"]) == 1


def test_in_memory_is_nobody_new_where_a_device_is_known(url: str, tmp_path: Path) -> None:
    """Other coins would decide the same ratings again. Control: with another home it goes."""
    words = ("--ratings", rated(tmp_path / "ratings.csv", 3), "--category", "gender=F", "--yes")
    assert answer(url, "--home", tmp_path / "home", *words).exit_code == 0
    refused = answer(url, "--home", tmp_path / "home", "--in-memory", *words)
    assert "would be decided again" in str(refused.exception)
    assert "Sent" not in refused.output
    other = answer(url, "--home", tmp_path / "other", "--in-memory", *words)
    assert other.exit_code == 0, other.exception
    assert not (tmp_path / "other").exists()


def test_without_a_terminal_it_asks_nothing(url: str) -> None:
    said = answer(url, "--in-memory")
    assert "this is no terminal" in str(said.exception)


class Screen:
    """What a program writes on a pseudo-terminal, without the codes for colours."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._unread = ""

    def until(self, text: str) -> None:
        """Read up to this text."""
        while text not in self._unread:
            ready, _, _ = select.select([self._terminal], [], [], 30)
            assert ready, self._unread
            written = os.read(self._terminal, 65536).decode(errors="replace")
            self._unread += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
        self._unread = self._unread.partition(text)[2]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_in_a_real_terminal(url: str, tmp_path: Path) -> None:
    """A program on a pseudo-terminal, and a person who types."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    start = [sys.executable, "-c", "from midpoint.cli import main; main()", "answer", url]
    program = subprocess.Popen(
        [*start, "--home", str(tmp_path)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        screen = Screen(ours)
        for awaited, typed in (
            ("2 M", "1"),
            ("Remember it", "n"),
            ("1/6", "4"),
            ("2/6", "s"),
            ("3/6", "5"),
            ("4/6", "d"),
            ("not now", "s"),
            ("For you", ""),
            ("quit", "f"),
            ("Forget me?", "y"),
        ):
            screen.until(awaited)
            time.sleep(0.2)  # until the program waits for a key
            os.write(ours, typed.encode())
        screen.until("nothing is left here")
        assert program.wait(30) == 0
    finally:
        program.kill()
        program.wait()
        os.close(ours)
    assert list(tmp_path.iterdir()) == []
