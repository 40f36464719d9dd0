"""Headers of every response, and when a declined request is answered."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import httpx
from starlette.types import Message, Receive, Scope, Send

from midpoint.analyst.disclose.site import Site
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


def test_however_many_wait_none_is_answered_sooner() -> None:
    """The control: without a delay all are answered at once."""
    many = 3000

    async def decline(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404})

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def answered(delay: float) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        outer = Middleware(decline, Metrics(), [], None, delay=delay)
        scope = {"type": "http", "method": "GET"}
        asked = [asyncio.ensure_future(outer(scope, receive, send)) for _ in range(many)]
        await asyncio.sleep(0.1)
        for task in asked:
            task.cancel()
        return len(sent)

    assert asyncio.run(answered(60.0)) == 0
    assert asyncio.run(answered(0.0)) == many
