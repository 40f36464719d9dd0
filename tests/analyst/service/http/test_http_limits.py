"""A head without end, or one that never comes, does not hold the service up."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from midpoint.analyst import Training
from midpoint.analyst.service.http import http_limits as heads
from tests.support.sites.serving import published, running, settings_of

pytestmark = pytest.mark.slow


@pytest.fixture
def client(
    tmp_path_factory: pytest.TempPathFactory, trained_stars: Training
) -> Iterator[httpx.Client]:
    site = published(tmp_path_factory.mktemp("site"), trained_stars.items)
    with running(settings_of(site)) as opened:
        yield opened


def connected(client: httpx.Client) -> socket.socket:
    opened = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    opened.settimeout(10)
    return opened


def is_closed(opened: socket.socket) -> bool:
    """Tell whether the other side hangs up, within the time limit."""
    try:
        return opened.recv(65536) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def taken(opened: socket.socket) -> int:
    """Count the bytes until the other side hangs up, or says no more."""
    opened.settimeout(1)
    size = 0
    try:
        while got := opened.recv(2**20):
            size += len(got)
    except (ConnectionError, TimeoutError):
        pass
    return size


def test_a_client_that_does_not_read_is_not_waited_for(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many large answers are asked for at once; who reads them, the control, gets them all."""
    monkeypatch.setattr(heads, "SLOWEST_READER", 0.3)
    many = 200
    request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * many
    found = []
    for pause in (0.0, 2.5):
        with connected(client) as opened:
            opened.sendall(request)
            time.sleep(pause)
            found.append(taken(opened))
    read, unread = found
    assert read >= many * len(client.get("/openapi.json").content)
    assert unread < read


@pytest.mark.parametrize("piece", [b"X-Long: " + b"a" * 500 + b"\r\n", b"a" * 500])
def test_a_head_without_end_is_cut_off(client: httpx.Client, piece: bytes) -> None:
    with connected(client) as opened:
        opened.sendall(b"GET /v1/chain HTTP/1.1\r\nHost: x\r\nX-Long: ")
        sent = 0
        try:
            while sent < 100 * heads.LARGEST_HEAD:
                sent += opened.send(piece)
        except ConnectionError:
            pass
        assert sent < 100 * heads.LARGEST_HEAD
    many = {f"x-{n}": "a" * 100 for n in range(300)}  # the control: a long head is taken
    assert client.get("/v1/chain", headers=many).status_code == 200


def test_a_head_that_does_not_come_is_not_waited_for(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "SLOWEST_HEAD", 0.3)
    whole = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    for begun in (b"", b"GET /v1/cha", whole + b"GET /v1"):
        with connected(client) as opened:
            opened.sendall(begun)
            if begun.startswith(whole):
                assert opened.recv(65536).startswith(b"HTTP/1.1 200")
            assert is_closed(opened)
    with connected(client) as opened:  # the control: a quiet client with a whole request is served
        for _ in range(2):
            opened.sendall(whole)
            assert opened.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(0.5)


def test_a_worker_holds_so_many_connections_and_no_more(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "MOST_CONNECTIONS", 3)
    whole = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    client.close()
    held = [connected(client) for _ in range(3)]
    for opened in held:  # the control: as many as may be are served
        opened.sendall(whole)
        assert opened.recv(65536).startswith(b"HTTP/1.1 200")
    with connected(client) as further:
        assert is_closed(further)
    held.pop().close()
    end = time.monotonic() + 60
    while True:  # it may take the worker a moment to see that one left
        with connected(client) as next_one:
            next_one.sendall(whole)
            if not is_closed(next_one):
                break
        assert time.monotonic() < end
    for opened in held:
        opened.close()
