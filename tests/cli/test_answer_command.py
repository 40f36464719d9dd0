"""`midpoint answer` against a running service: from a file, and key by key."""

import io
import json
import os
import re
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from rich.console import Console
from typer.testing import CliRunner

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http.app import create_app
from midpoint.analyst.service.server import Address, configured, listening
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.cli.answer.script import read_ratings
from midpoint.cli.answer.session import Session, Terminal
from midpoint.cli.answer.tables import leaving_table, recommendation_table
from midpoint.cli.app import app
from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Recommendation
from midpoint.user.agent import Agent, Channel, Fate, Line, Patience
from midpoint.wire import ONE, RatingScale
from tests.support.small_model import trained

pytestmark = pytest.mark.slow

if sys.platform != "win32":
    import fcntl
    import termios

TOLD = trained().told
STARS = RatingScale(low=ONE, high=5 * ONE, levels=tuple(n * ONE for n in range(1, 6)))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service in a thread, on a port that the system chooses."""
    site = Site(tmp_path_factory.mktemp("site"))
    site.publish(trained().profiles, TOLD, time=1_700_000_000)
    database = sqlite_url(site.root / "midpoint.sqlite")
    migrate(database)
    settings = Settings(site=str(site.root), database=database, ask=6, rate=0, log=False)
    chosen = Address(port=0)
    server = uvicorn.Server(configured(create_app(settings), chosen))
    with listening(chosen) as (opened, address):
        thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield address
        server.should_exit = True
        thread.join()


def answer(*words: object) -> Any:
    return CliRunner().invoke(app, ["answer", *map(str, words)], env={"COLUMNS": "200"})


def rated(path: Path, count: int, column: str = "item", rating: str = "4") -> Path:
    rows = [f"{item},{rating}" for item in TOLD.items[:count]]
    path.write_text("\n".join([f"{column},rating", *rows]) + "\n")
    return path


def test_a_file_is_shown_first_and_sent_only_when_told(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home")
    file = rated(tmp_path / "mine.csv", 12)
    mine = ("--ratings", file, "--category", "gender=F")
    shown = answer(url, *here, *mine)
    assert shown.exit_code == 0, shown.output
    assert "Nothing was sent" in shown.output
    assert shown.output.count("4 ★★★★") == 12
    answer(url, *here, "--export", tmp_path / "before.json")
    assert json.loads((tmp_path / "before.json").read_text())["service"]["reports"] == []

    sent = answer(url, *here, *mine, "--yes", "--top", 3)
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


def test_a_change_is_refused_until_she_accepts_it(url: str, tmp_path: Path) -> None:
    """Here the device believes that the service had another scheme; the rest is as it was."""
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "mine.csv", 3))
    mine = (*here, "--category", "gender=F")
    assert answer(url, *mine).exit_code == 0
    (pin,) = (tmp_path / "home").glob("*/pin")
    before = pin.read_bytes()
    pin.write_bytes(before.replace(b'"dmpss"', b'"ssfa"'))
    refused = answer(url, *mine)
    assert refused.exit_code == 1
    assert "--accept-changes" in str(refused.exception)
    assert b"ssfa" in pin.read_bytes()
    accepted = answer(url, *mine, "--accept-changes")
    assert accepted.exit_code == 0, accepted.output
    assert pin.read_bytes() == before
    assert answer(url, *mine).exit_code == 0


def test_a_remembered_category_need_not_be_named_again(url: str, tmp_path: Path) -> None:
    here = ("--home", tmp_path / "home", "--ratings", rated(tmp_path / "mine.csv", 3))
    nameless = answer(url, *here)
    assert nameless.exit_code == 1
    assert "name your category" in str(nameless.exception)
    assert answer(url, *here, "--category", "gender=M", "--remember").exit_code == 0
    assert "asked this device to remember" in answer(url, *here).output


@pytest.mark.parametrize("wrong", ["gender", "=F", "gender=", "gender=X", "age=F"])
def test_a_wrong_category_is_told_without_repeating_it(
    wrong: str, url: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "mine.csv", 3)
    said = answer(url, "--in-memory", "--ratings", file, "--category", wrong, "--yes")
    assert isinstance(said.exception, MidpointError)
    assert "X" not in str(said.exception)


def test_in_memory_leaves_nothing_anywhere(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control: somebody with a folder is still known there."""
    secret = bytes(range(50, 82))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(secret))
    file = rated(tmp_path / "mine.csv", 3)
    words = ("--ratings", file, "--category", "gender=F", "--yes")
    said = answer(url, "--in-memory", *words)
    assert "erased you; nothing was kept" in said.output

    def kept_there(name: str) -> Any:
        answer(url, "--home", tmp_path / "home", "--export", tmp_path / name)
        return json.loads((tmp_path / name).read_text())["service"]

    assert kept_there("none.json") is None
    answer(url, "--home", tmp_path / "home", *words)
    assert len(kept_there("some.json")["reports"]) == 1


def test_without_a_terminal_it_asks_nothing(url: str) -> None:
    said = answer(url, "--in-memory")
    assert "this is no terminal" in str(said.exception)


HALF_STARS = RatingScale(low=ONE, high=5 * ONE, levels=tuple(k * ONE // 2 for k in range(2, 11)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "needs a first line"),
        ("item,rating\nnobody,4\n", "line 2: 'nobody' is unknown"),
        ("item,rating\na,4\na,5\n", "line 3: 'a' is rated twice"),
        ("item,rating\na,four\n", "line 2: the rating is not a number"),
        ("title,rating\nTwice,4\n", "title of several items"),
        ("item,rating\na\n", "not a number"),
        ("item,rating\na,9\n", "line 2: 9 is no rating on the scale from 1 to 5"),
        ("item,rating\na,2.6\n", "line 2: 2.6 is no rating"),
        ("item,rating\na,nan\n", "line 2: nan is no rating"),
    ],
)
def test_a_wrong_file_is_told_by_its_line(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(content)
    with pytest.raises(MidpointError, match=message):
        read_ratings(path, {"a": "Once", "b": "Twice", "c": "Twice"}, HALF_STARS)


def test_a_file_may_name_titles(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("\ufefftitle,rating,note\nOnce,4,x\nc,2.5,y\n")
    found = read_ratings(path, {"a": "Once", "b": "Twice", "c": "Twice"}, HALF_STARS)
    assert found == {"a": 4.0, "c": 2.5}


class Script:
    """Presses keys and types lines; the session ends with them."""

    def __init__(self, agent: Agent, keys: str, lines: Iterable[str] = ()) -> None:
        self.written = io.StringIO()
        console = Console(file=self.written, force_terminal=True, width=120, color_system=None)
        typed, texts = iter(keys), iter(lines)
        terminal = Terminal(console, lambda: next(typed, ""), lambda: next(texts))
        self.session = Session(agent, terminal, top=3)

    def run(self) -> str:
        self.session.run()
        return self.written.getvalue()


@pytest.fixture
def agent(url: str, tmp_path: Path) -> Iterator[Agent]:
    with Agent.open(url, tmp_path / "home") as opened:
        yield opened


def test_a_round_key_by_key(agent: Agent, tmp_path: Path) -> None:
    """F, not kept; 4, 5, skip, undo, 3, 1, done; send; ledger; export; do not forget; quit."""
    script = Script(agent, "1n" + "45su31d" + "s" + "lxfnq", [str(tmp_path / "all.json")])
    text = script.run()
    (answered,) = agent.home.ledger.rounds
    asked = json.loads(json.loads((tmp_path / "all.json").read_text())["service"]["rounds"][0]
                       ["solicitation"])["items"]  # fmt: skip
    assert agent.home.ratings == {
        item: stars * ONE for item, stars in zip(asked, (4, 5, 3, 1), strict=False)
    }
    assert answered.report in (tmp_path / "all.json").read_text().replace('\\"', '"')
    assert agent.home.category is None
    for part in ("What leaves this device", "Sent", "For you", "Decided for good", "Forget me?"):
        assert part in text


def test_not_now_sends_nothing_and_keeps_the_ratings(agent: Agent) -> None:
    text = Script(agent, "2y" + "44d" + "n" + "q").run()
    assert "Nothing was sent" in text
    assert agent.home.ledger.rounds == ()
    assert len(agent.home.ratings) == 2
    assert agent.home.category is not None
    # the next time she goes on where she was, and her category is known
    text = Script(agent, "2d" + "s" + "q").run()
    assert "asked this device to remember" in text
    assert len(agent.home.ratings) == 3
    assert agent.home.ledger.decided == agent.home.ratings.keys()


def test_another_title_is_found_by_its_name_and_rated(agent: Agent) -> None:
    titles = trained().profiles.item_names.tolist()
    Script(agent, "1n" + "/15" + "d" + "n" + "q", [titles[0].upper()]).run()
    (item,) = agent.home.ratings
    assert titles[0] in agent.standing.titles[item]
    assert agent.home.ratings[item] == 5 * ONE


def test_what_was_changed_before_sending_is_what_is_sent(agent: Agent) -> None:
    Script(agent, "1n" + "11d" + "e" + "uu55d" + "s" + "q").run()
    assert set(agent.home.ratings.values()) == {5 * ONE}


def test_stopping_at_any_key_loses_no_rating_and_sends_nothing(agent: Agent) -> None:
    for keys in ("", "1", "1n4", "1n44\x03"):
        assert "Stopped" in Script(agent, keys).run()
    assert agent.home.ledger.rounds == ()
    assert len(agent.home.ratings) == 3


def test_forgetting_ends_the_session(agent: Agent) -> None:
    text = Script(agent, "1n" + "4d" + "s" + "fy").run()
    assert "nothing is left here" in text
    assert agent.home.folder is not None
    assert not agent.home.folder.exists()


def test_forget_while_the_service_is_away_says_what_is_left(tmp_path: Path) -> None:
    patience = Patience(tries=1)
    with Agent.open("http://127.0.0.1:9", tmp_path, None, Channel(patience)) as agent:
        with pytest.raises(MidpointError, match="not forgotten yet"):
            Script(agent, "").session.forget(sure=True)
        assert agent.home.folder is not None
        assert (agent.home.folder / "secret").exists()


def test_a_title_is_never_read_as_markup() -> None:
    written = io.StringIO()
    console = Console(file=written, width=120)
    titles = {"a": "[red]Alert[/red] \u202e[link=x]"}  # as it is, it would turn the line around
    terminal = Terminal(console)
    terminal.say(leaving_table([Line("a", ONE, None, Fate.WITHHELD)], titles, STARS))
    terminal.say(recommendation_table([Recommendation("a", ONE, ONE, ONE)], titles))
    assert written.getvalue().count("[red]Alert[/red] [link=x]") == 2


def test_an_arrow_key_is_no_rating() -> None:
    keys = iter(["\x1b[5~", "\x1b[A", "x", "73"])
    terminal = Terminal(Console(file=io.StringIO()), lambda: next(keys))
    assert terminal.key("?", "12345") == "3"


class Screen:
    """What a program writes on a pseudo-terminal, without the signs for colours."""

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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_in_a_real_terminal(url: str, tmp_path: Path) -> None:
    """A program on a pseudo-terminal, and somebody who types."""
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
