"""The soak's load: honest requests are timed over all their tries; costly ones are all valid."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.service import soak_load as module
from tests.support.models.small_model import trained
from tests.support.sites.crowd import Crowd
from tests.support.sites.serving import published, running, settings_of


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    return module


def test_a_request_is_timed_from_its_first_try_to_its_success(load: Any) -> None:
    statuses = iter([503, 0, 201, 200])
    tally, ticks = load.Tally(), count()
    crowd = Crowd({"a" * 64: b"{}"})

    def answer(_request: httpx.Request) -> httpx.Response:
        if (status := next(statuses)) == 0:
            raise httpx.ConnectError("away")
        next(ticks)  # each answer takes a while
        return httpx.Response(status, content=b"receipt")

    async def visit() -> None:
        transport = httpx.MockTransport(answer)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as way:
            await load.visit(way, crowd, "a" * 64, tally, clock=lambda: float(next(ticks)))

    asyncio.run(visit())
    assert tally.statuses == {503: 1, 0: 1, 201: 1, 200: 1}
    # Both answers to the report lie between its two looks at the clock.
    assert tally.seconds == [3.0, 2.0]
    assert crowd.receipts == {"a" * 64: {b"receipt"}}


@pytest.mark.slow
def test_costly_requests_are_what_the_service_allows(load: Any, tmp_path: Path) -> None:
    site = published(tmp_path / "site", trained().profiles)
    with running(settings_of(site, panel=True)) as client:
        costly: dict[str, int] = {}
        for seconds in (1.0, 10.0, 100.0):  # until somebody came to her end, on a slow machine too
            url, largest = str(client.base_url), load.Largest.of(site)
            costly |= load.storm(url, largest, seconds, 500, bad=False)[0]
            if any(said.startswith("erase") for said in costly):
                break
    kinds = {said.partition(" ")[0] for said in costly}
    every = {"question", "report", "scores", "top", "export", "join", "member", "leave", "erase"}
    assert kinds == every
    assert all(said.endswith((" 200", " 201", " 204")) for said in costly), costly


def test_a_pace_lets_no_more_go_than_it_says(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now, slept = 0.0, []

    async def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += max(0.0, seconds)

    monkeypatch.setattr(load.time, "monotonic", lambda: now)
    monkeypatch.setattr(load.asyncio, "sleep", sleep)

    def turns() -> Iterator[float]:
        nonlocal now
        pace = load.Pace(4)
        for at in (0.0, 0.0, 0.0, 10.0, 10.0):
            now = max(now, at)
            asyncio.run(pace.turn())
            yield now

    assert list(turns()) == [0.0, 0.25, 0.5, 10.0, 10.25]  # what was missed is not made up for
