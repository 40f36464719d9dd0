"""`midpoint panel`, and the key of a session, against a running service."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.storage.collection import kept_panel
from midpoint.cli.answer.panel import panel_menu
from midpoint.cli.answer.terminal import Terminal
from midpoint.cli.app import app
from midpoint.user.agent import Agent
from midpoint.wire import ONE, PanelRatings
from tests.support.models.small_model import trained
from tests.support.sites.serving import running, settings_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("site"))
    made.publish(trained().profiles, trained().disclosure, time=1_700_000_000)
    return made


@pytest.fixture(scope="module")
def service(site: Site) -> Iterator[httpx.Client]:
    with running(settings_of(site, panel=True)) as client:
        yield client


@pytest.fixture
def here(service: httpx.Client, tmp_path: Path) -> list[str]:
    """Address and home of somebody who answered five titles."""
    rows = [f"{item},4" for item in trained().disclosure.items[:5]]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,rating", *rows]) + "\n")
    here = [str(service.base_url).rstrip("/"), "--home", str(tmp_path / "home")]
    words = ("--ratings", tmp_path / "ratings.csv", "--category", "gender=F", "--yes")
    assert say("answer", *here, *words).exit_code == 0
    return here


def say(*words: object) -> Any:
    return CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})


def members(site: Site) -> list[PanelRatings]:
    return [shared for _, shared in kept_panel(settings_of(site).database)]


def test_joining_is_explained_and_nothing_is_sent_without_yes(site: Site, here: list[str]) -> None:
    asked = say("panel", "join", *here, "--category", "gender=F")
    assert asked.exit_code == 0, asked.output
    for part in ("gives up your protection", "your gender", "all 5 ratings", "Who sees it",
                 "stays public", "Nothing was sent; add --yes to join"):  # fmt: skip
        assert part in " ".join(asked.output.split())
    assert members(site) == []
    assert "You are not in the panel" in say("panel", "show", *here).output

    joined = say("panel", "join", *here, "--category", "gender=F", "--yes")
    assert "You are in the panel" in joined.output
    (shared,) = members(site)
    assert shared.category == (("gender", "F"),)
    assert dict(shared.ratings) == dict.fromkeys(trained().disclosure.items[:5], 4 * ONE)
    assert "You joined the panel on" in say("panel", "show", *here).output

    assert "erased all that you shared" in say("panel", "leave", *here).output
    assert members(site) == []


def test_forgetting_and_export_know_of_the_panel(
    site: Site, here: list[str], tmp_path: Path
) -> None:
    say("panel", "join", *here, "--category", "gender=F", "--yes")
    assert len(members(site)) == 1
    say("answer", *here, "--export", tmp_path / "all.json")
    assert "shared" in json.loads((tmp_path / "all.json").read_text())["panel"]
    assert "Forgotten" in say("answer", *here, "--forget", "--yes").output
    assert members(site) == []


def test_what_cannot_be_done_is_said(site: Site, here: list[str], tmp_path: Path) -> None:
    wrong = say("panel", "join", *here, "--category", "gender=X", "--yes")
    assert "needs one of" in str(wrong.exception)
    nameless = say("panel", "join", *here)
    assert "name your category" in str(nameless.exception)
    stranger = say("panel", "leave", here[0], "--home", tmp_path / "nobody")
    assert "rate some titles there first" in str(stranger.exception)
    assert not (tmp_path / "nobody").exists()
    with running(settings_of(site)) as closed:
        address = str(closed.base_url).rstrip("/")
        words = ("--ratings", tmp_path / "ratings.csv", "--category", "gender=F", "--yes")
        there = (address, "--home", tmp_path / "elsewhere")
        assert say("answer", *there, *words).exit_code == 0
        refused = say("panel", "join", *there, "--category", "gender=F", "--yes")
        assert "takes nobody into its panel now" in str(refused.exception)
    assert members(site) == []


def test_in_a_session_she_joins_and_leaves_by_keys(site: Site, here: list[str]) -> None:
    with Agent.open(here[0], Path(here[2])) as agent:
        agent.connect()

        def press(keys: str) -> str:
            typed, written = iter(keys), io.StringIO()
            console = Console(file=written, force_terminal=True, width=120, color_system=None)
            panel_menu(agent, Terminal(console, lambda: next(typed, "")))
            return " ".join(written.getvalue().split())

        assert "you are not in the panel" in press("1n")
        assert members(site) == []
        assert "You are in the panel" in press("1y")
        assert len(members(site)) == 1
        press("n")
        assert len(members(site)) == 1
        assert "erased all that you shared" in press("y")
    assert members(site) == []
