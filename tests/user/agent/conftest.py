"""An analyst, a door in front of it, and agents that do not wait long."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest

from midpoint.data import Simulation
from midpoint.user import DeviceSecret
from midpoint.user.agent import Agent, Channel, Patience, Terms
from tests.support.people.agents import QUICK, MakeAgent
from tests.support.sites.door import Door
from tests.support.sites.tiny_analyst import TinyAnalyst
from tests.support.sites.upstream import Upstream, running_service


@pytest.fixture
def tiny_analyst() -> Iterator[TinyAnalyst]:
    made = TinyAnalyst()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def service(tiny: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """The real service in a process of its own, on a site of one small model."""
    site = tmp_path_factory.mktemp("service") / "site"
    with running_service(site, tiny.ratings) as served:
        yield served


@pytest.fixture(params=["tiny", pytest.param("service", marks=pytest.mark.slow)])
def up(request: pytest.FixtureRequest) -> Upstream:
    """What is behind the door: the small analyst, and in the slow tests the real service."""
    if request.param == "service":
        served: Upstream = request.getfixturevalue("service")
        return served
    analyst: TinyAnalyst = request.getfixturevalue("tiny_analyst")
    return analyst.upstream


@pytest.fixture
def door(request: pytest.FixtureRequest) -> Iterator[Door]:
    """A door in front of what the test asks for, or of the small analyst."""
    asked = "up" if "up" in request.fixturenames else "tiny_analyst"
    made = Door(request.getfixturevalue(asked).port)
    yield made
    made.stop()


@pytest.fixture
def agent_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[MakeAgent]:
    """Open agents whose secret is known and close them.

    At the small analyst, new for each test, the coins fall both ways; the real service stays for
    all tests, so each test is somebody else there.
    """
    lasting = "service" in request.node.name
    secret = sha256(request.node.name.encode()).digest() if lasting else bytes(range(32))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(secret))
    opened: list[Agent] = []

    def open_at(
        address: str, root: str = "home", patience: Patience = QUICK, **terms: object
    ) -> Agent:
        demanded = Terms(**terms)  # type: ignore[arg-type]
        agent = Agent.open(address, tmp_path / root, demanded, Channel(patience))
        opened.append(agent)
        return agent

    yield open_at
    for agent in opened:
        agent.close()


@pytest.fixture
def same_coins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each device of a test a secret of its own, the same in every run."""
    number = count()

    def generate() -> DeviceSecret:
        return DeviceSecret(sha256(f"{request.node.name} {next(number)}".encode()).digest())

    monkeypatch.setattr(DeviceSecret, "generate", generate)
