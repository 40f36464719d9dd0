"""The agent in the hands of other programs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import monotonic, sleep

import pytest

from midpoint.errors import MidpointError
from midpoint.user import (
    AsyncAgent,
)
from midpoint.user.agent import Agent, Channel
from tests.support.people.agents import QUICK, WOMAN, MakeAgent
from tests.support.sites.door import Door
from tests.support.sites.tiny_analyst import TinyAnalyst

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("wrong", [0.0, 2.5, 6.0, float("nan"), float("inf")])
def test_a_rating_off_the_scale_decides_nothing(
    wrong: float, door: Door, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    asked = agent.solicit()
    for step in (agent.preview, agent.answer):
        with pytest.raises(MidpointError, match="correct it first"):
            step(dict.fromkeys(asked.items, 3.0) | {asked.items[0]: wrong}, WOMAN)
    assert agent.home.unsent == ()
    assert agent.answer(dict.fromkeys(asked.items, 3.0), WOMAN).round == 0


def test_a_proxy_is_used_and_a_wrong_one_is_reported(door: Door, tiny_analyst: TinyAnalyst) -> None:
    """The door takes the whole address that a proxy is given, and forwards to the analyst."""
    for wrong in ("nowhere", "ftp://x"):
        with pytest.raises(MidpointError, match="is no proxy"):
            Channel(proxy=wrong)
    agent = Agent.in_memory(tiny_analyst.address, None, Channel(QUICK, proxy=door.address))
    with suppress(MidpointError):
        agent.connect()
    assert door.lines[0].startswith(f"GET {tiny_analyst.address}/v1/chain ")


def test_steps_out_of_order_are_reported(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    with pytest.raises(MidpointError, match="connect first"):
        agent.solicit()
    agent.connect()
    with pytest.raises(MidpointError, match="solicit first"):
        agent.answer({}, WOMAN)


@pytest.mark.parametrize("computing", [0.0, 0.3])
def test_when_a_report_leaves_does_not_show_how_long_the_device_computed(
    door: Door, agent_at: MakeAgent, computing: float
) -> None:
    """It leaves a whole second after the question came; control: without a pace, at once."""

    def seconds(root: str, pace: float) -> float:
        came: dict[str, float] = {}

        def noting(path: str) -> Callable[[bytes], bytes]:
            def change(body: bytes) -> bytes:
                came[path] = monotonic()
                return body

            return change

        for path in ("/v1/solicitation", "/v1/reports"):
            door.change[path] = noting(path)
        agent = agent_at(door.address, root, replace(QUICK, pace=pace))
        agent.connect()
        asked = agent.solicit()
        sleep(computing)
        agent.answer(dict.fromkeys(asked.items, 4.0), WOMAN)
        assert agent.submit() is not None
        agent.close()
        return came["/v1/reports"] - came["/v1/solicitation"]

    assert seconds("paced", 1.0) >= 1.0
    assert computing <= seconds("at once", 0) < 0.9


def test_another_program_may_await_it(door: Door) -> None:
    """The same walk inside a running loop, awaited and waited for."""

    async def walk() -> tuple[int, int]:
        async with AsyncAgent.in_memory(door.address, None, Channel(QUICK)) as agent:
            await agent.connect()
            asked = await agent.solicit()
            agent.answer(dict.fromkeys(asked.items, 5.0), WOMAN)
            await agent.submit()
            best = await agent.recommend(2, WOMAN)
            waiting = Agent.in_memory(door.address)
            return len(best), len(waiting.connect().titles)

    assert asyncio.run(walk()) == (2, 12)
