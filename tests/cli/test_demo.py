import re
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.server import Address
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.storage import Storage
from midpoint.cli import demo
from midpoint.cli.app import app
from midpoint.data import Ratings, Scale, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError

pytestmark = pytest.mark.slow

SMALL = SimulationConfig(
    name="invented",
    users=300,
    items=250,
    ratings=25_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.4),),
    scale=Scale.stars(1, 5),
    taste_sd=0.7,
    popularity_sd=0.7,
)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MidpointError("there is no network")

    monkeypatch.setattr("midpoint.data.sources.acquisition.get", fail)
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["demo", "--no-serve", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def figures(shown: str) -> tuple[list[float], list[int]]:
    """Read errors and shares of ratings from the last table."""
    table = shown[shown.index("What protection costs") :]
    return (
        [float(number) for number in re.findall(r"\d\.\d{4}", table)],
        [int(number) for number in re.findall(r"(\d+)%", table)],
    )


@pytest.mark.usefixtures("no_network")
def test_without_data_and_network_it_says_that_ratings_are_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def load(name: str) -> Ratings:
        asked.append(name)
        return simulate(SMALL, seed=1).ratings

    monkeypatch.setattr("midpoint.data.load", load, raising=False)
    shown = run("--top", "4")
    assert asked == [demo.FALLBACK]
    assert "movielens-100k cannot be loaded: there is no network" in shown
    assert f"The ratings below are simulated ({demo.FALLBACK})" in shown
    assert "The gender stays on the device." in shown
    ranked = shown[shown.index("the device ranks") : shown.index("What protection costs")]
    assert len(re.findall(r"Film \d+", ranked)) == 4
    attacked = shown[
        shown.index("What leaks to an attacker") : shown.index("What protection costs")
    ]
    before, after, blind = (int(n) for n in re.findall(r"(\d+) times in 100", attacked))
    assert before > after + 10
    assert blind == 50
    leaving = shown[: shown.index("the device ranks")]
    assert 0 < len(re.findall(r"│ withheld +│", leaving)) < demo.SHOWN
    assert 0 < leaving.count(" changed") < demo.SHOWN
    assert "The device still ranks by all" in leaving
    errors, shares = figures(shown)
    assert len(errors) == 2
    assert abs(errors[1] - errors[0]) < 0.1
    assert shares[0] == 100 > shares[1] > 10  # training lets devices reveal a share
    assert shown == run("--top", "4")
    assert shown != run("--top", "4", "--seed", "5")


@pytest.mark.usefixtures("no_network")
def test_it_ends_with_a_service_and_says_where_to_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[tuple[Settings, str]] = []

    def stand_in(settings: Settings, _address: Address, opened: socket.socket) -> None:
        served.append((settings, str(opened.getsockname()[1])))

    monkeypatch.setattr("midpoint.data.load", lambda _: simulate(SMALL, seed=1).ratings)
    monkeypatch.setattr("midpoint.analyst.service.server.run", stand_in)
    shown = CliRunner().invoke(app, ["demo", "--site", str(tmp_path)], catch_exceptions=False)
    ((settings, port),) = served
    assert f"midpoint answer http://127.0.0.1:{port}" in shown.output
    assert settings.site == str(tmp_path)
    chain = Site(tmp_path).chain()
    assert chain is not None
    assert len(chain.entries) == 1
    with Storage(settings.database) as storage:
        storage.check()


def test_the_command_at_the_end_works_as_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "my tools" / "midpoint"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert demo._command() == f"'{program}'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert demo._command() == "midpoint"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert demo._command() == "midpoint"
    monkeypatch.setattr("sys.argv", ["/somewhere/midpoint/__main__.py"])
    monkeypatch.setattr("sys.executable", "/my python")
    assert demo._command() == "'/my python' -m midpoint"


def test_a_sample_shows_every_fate() -> None:
    rated = {str(k): 3.0 for k in range(30)}
    withheld_most = {"28": 3.0, "29": 4.0}
    shown = demo._sample(rated, withheld_most)
    assert len(shown) == demo.SHOWN
    assert {"28", "29"} < dict(shown).keys()
    assert demo._sample({"1": 3.0}, {}) == [("1", 3.0)]


@pytest.mark.slow
@pytest.mark.usefixtures("no_network")
def test_the_real_fallback_runs() -> None:
    errors, shares = figures(run())
    assert errors[1] < errors[0] + 0.02
    assert shares[1] > 10
