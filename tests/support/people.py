"""People, and how agents for them are made."""

from collections.abc import Callable, Mapping
from pathlib import Path

from midpoint.user import PrivateCategory
from midpoint.user.agent import Agent, Patience
from midpoint.wire import ONE, Report

WOMAN = PrivateCategory({"gender": "F"})
MAN = PrivateCategory({"gender": "M"})
QUICK = Patience(attempt=10, total=30, tries=3, first_wait=0.02, pace=0)
"""Patient with a busy machine, and soon back when the answer was none."""

MakeAgent = Callable[..., Agent]


def stars(fixed: Mapping[str, int]) -> dict[str, float]:
    """Return ratings in fixed point as she enters them."""
    return {item: value / ONE for item, value in fixed.items()}


def decide_only(agent: Agent) -> Report:
    """Answer a round that is not sent yet."""
    agent.connect()
    asked = agent.solicit()
    return agent.answer(dict.fromkeys(asked.items, 4.0), WOMAN)


def directory_of(agent: Agent) -> Path:
    """Return the directory that an agent keeps its state in."""
    assert agent.home.directory is not None
    return agent.home.directory


def go_through_a_round(agent: Agent, share: int = 3) -> None:
    """Answer some items of a round, and send it."""
    agent.connect()
    asked = agent.solicit()
    agent.answer(dict.fromkeys(asked.items[:share], 4.0), WOMAN)
    assert agent.submit() is not None


def kept(agent: Agent) -> dict[str, bytes]:
    """Return all files of an agent but the proof, which grows by what is refused as well."""
    files = [path for path in directory_of(agent).iterdir() if path.name != "proof"]
    return {path.name: path.read_bytes() for path in files}
