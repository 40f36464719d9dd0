"""Hostile requests: none is accepted, none breaks anything."""

import json
import socket
import warnings
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midpoint.analyst import Training
from midpoint.analyst.disclose.site import Site
from tests.support.sites.hostile import hostile
from tests.support.sites.serving import Person, published, running, settings_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, trained_stars: Training) -> Site:
    return published(tmp_path_factory.mktemp("site"), trained_stars.items)


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with running(settings_of(site)) as opened:
        yield opened


def test_hostile_requests_are_declined_every_one(client: httpx.Client) -> None:
    ann = Person(client)
    good = ann.answer()
    for name, request in hostile(good, ann.token, count=100, seed=1):
        found = client.request(**request)
        assert 400 <= found.status_code < 500, (name, found.status_code)
        assert set(json.loads(found.content)) == {"code", "message", "version"}
    assert ann.send(good).status_code == 201  # the control: what they were made from is accepted


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_instead_of_a_report_is_malformed(client: httpx.Client, raw: bytes) -> None:
    assert Person(client).send(raw).status_code == 400


def raw_exchange(client: httpx.Client, sent: bytes) -> bytes:
    """Send bytes as they are, and read until the server closes or says no more."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as opened:
        opened.settimeout(2)
        opened.sendall(sent)
        opened.shutdown(socket.SHUT_WR)
        parts = []
        try:
            while part := opened.recv(65536):
                parts.append(part)
        except (TimeoutError, ConnectionResetError):
            pass
    return b"".join(parts)


@pytest.mark.parametrize(
    "sent",
    [b"\x00\x01\x02", b"GET / HTTP/9.9\r\n\r\n",
     b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
     b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
)  # fmt: skip
def test_broken_http_is_answered_or_closed_and_the_next_one_is_served(
    client: httpx.Client, sent: bytes
) -> None:
    answer = raw_exchange(client, sent)
    assert not answer or answer.split()[1][:1] == b"4"
    assert client.get("/health/live").status_code == 200


@pytest.mark.slow
def test_the_described_interface_never_answers_with_a_5xx(client: httpx.Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis  # noqa: PLC0415 - heavy
        from schemathesis.core.result import Err  # noqa: PLC0415

        schema = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")
    token = Person(client).token
    seen = set[int]()
    for operation in schema.get_all_operations():
        if isinstance(operation, Err):
            pytest.fail(str(operation.err()))

        @given(case=operation.ok().as_strategy(), valid=st.booleans())
        @settings(
            max_examples=60,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: schemathesis.Case[Any], valid: bool) -> None:
            headers = {"Authorization": f"Bearer {token}"} if valid else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = case.call(headers=headers)
            seen.add(found.status_code)
            assert found.status_code < 500, found.text

        check()
    assert {200, 204, 400, 404} <= seen
