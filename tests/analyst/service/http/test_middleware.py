"""Headers of every response, and when a declined request is answered."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http import middleware
from midpoint.analyst.service.http.middleware import DELAY, Middleware
from midpoint.analyst.service.metrics import Metrics
from tests.support.sites.serving import Person, running, settings_of


def test_every_response_is_confined_and_sets_no_cookie(client: httpx.Client, ann: Person) -> None:
    for response in (
        client.get("/v1/chain"),
        client.get("/"),
        client.get("/x"),
        ann.get("/v1/scores"),
    ):
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in response.headers
        assert "server" not in response.headers


def test_what_is_personal_is_never_cached_nor_read_by_other_sites(ann: Person) -> None:
    for response in (ann.get("/v1/scores"), ann.get("/v1/pseudonym"), ann.solicit("0" * 64)):
        assert response.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in response.headers
    shown = ann.client.get("/v1/chain/head")
    assert shown.headers["access-control-allow-origin"] == "*"


def seconds_of(call: Callable[[], httpx.Response]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def test_a_declined_request_waits_and_a_good_one_beside_it_does_not(
    site: Site, client: httpx.Client
) -> None:
    with running(settings_of(site, rate=120)) as limited:
        ann = Person(limited)
        good = seconds_of(lambda: ann.get("/v1/scores"))
        bad = seconds_of(lambda: ann.send(b"no report"))
        with ThreadPoolExecutor(16) as pool:
            start = perf_counter()
            held = [pool.submit(Person(limited).send, b"no report") for _ in range(16)]
            beside = seconds_of(lambda: ann.get("/v1/scores"))
            assert {answer.result().status_code for answer in held} == {400}
            together = perf_counter() - start
    assert good < DELAY <= bad
    assert beside < DELAY <= together < 8 * DELAY  # they wait at the same time
    assert seconds_of(lambda: Person(client).send(b"no report")) < DELAY  # without a limit: at once


def test_no_more_than_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "MOST_DELAYED", 2)
    answered: list[int] = []

    async def decline(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404})

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        answered.append(message["status"])

    async def ask_thrice() -> list[bool]:
        outer = Middleware(decline, Metrics(), [], None, delay=60.0)
        scope = {"type": "http", "method": "GET"}
        asked = [asyncio.ensure_future(outer(scope, receive, send)) for _ in range(3)]
        await asyncio.sleep(0.01)
        done = [task.done() for task in asked]
        for task in asked:
            task.cancel()
        return done

    assert asyncio.run(ask_thrice()) == [False, False, True]
    assert answered == [404]
