"""The session of `midpoint answer`, key by key, against a running service."""

import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console

from midpoint.cli.answer.session import Session
from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError
from midpoint.user.agent import Agent, Channel, Patience
from midpoint.wire import ONE, Report
from tests.support.models.small_model import trained

pytestmark = pytest.mark.slow


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


def test_somebody_in_none_of_the_categories_sees_the_best_for_everyone(agent: Agent) -> None:
    text = " ".join(Script(agent, "0e").run().split())
    assert "none of these, or you do not want to say" in text
    assert "A category picked at random would protect nobody" in text
    assert "For everyone" in text
    assert "Nothing was sent" in text
    assert agent.home.ledger.rounds == ()
    assert agent.home.category is None


def test_somebody_in_none_of_the_categories_may_send_in_the_clear(agent: Agent) -> None:
    """Control: without her yes, nothing leaves."""
    Script(agent, "0cn").run()
    assert agent.home.ledger.decided == frozenset()
    text = " ".join(Script(agent, "0cy" + "4521d" + "s" + "q").run().split())
    assert "In the clear: your answers leave as they are" in text
    (answered,) = agent.home.ledger.rounds
    assert dict(Report.parse(answered.report.encode()).answers) == agent.home.ratings
    assert len(agent.home.ratings) == 4
    assert "For you" in text


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
    assert agent.home.directory is not None
    assert not agent.home.directory.exists()


def test_forget_while_the_service_is_away_says_what_is_left(tmp_path: Path) -> None:
    patience = Patience(tries=1)
    with Agent.open("http://127.0.0.1:9", tmp_path, None, Channel(patience)) as agent:
        with pytest.raises(MidpointError, match="not forgotten yet"):
            Script(agent, "").session.forget(sure=True)
        assert agent.home.directory is not None
        assert (agent.home.directory / "secret").exists()
