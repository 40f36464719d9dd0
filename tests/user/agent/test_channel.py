"""Answers that are slow, cut, swollen, elsewhere or busy: bounded, never followed, same bytes."""

import asyncio
import contextlib
import datetime as dt
import gzip
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from midpoint.user.agent import AwayError, Channel, Patience, ServiceError, UnusableError
from midpoint.user.agent.channel import Request, until_pace
from midpoint.wire import Problem, Refusal, RefusedError
from tests.support.sites.door import Behave, Door, answering, bomb, dripping, packed, plain

pytestmark = pytest.mark.slow

BRIEF = Patience(attempt=0.3, total=1.0, tries=3, first_wait=0.01)
CONTENT = b'{"honest":true}'


@pytest.fixture
def server() -> Iterator[Door]:
    """A door with nothing behind it: every test says how it behaves."""
    made = Door(0)
    made.behave["*"] = answering(plain(CONTENT))
    yield made
    made.stop()


def ask(
    server: Door,
    patience: Patience = BRIEF,
    largest: int = 1000,
    body: bytes | None = None,
    token: str | None = None,
) -> bytes:
    request = Request("GET", f"{server.address}/x", largest, body, token)
    return asyncio.run(Channel(patience).ask(request))


def test_an_honest_answer_comes_whole_plain_or_packed(server: Door) -> None:
    assert ask(server) == CONTENT
    server.behave["*"] = answering(packed(CONTENT))
    assert ask(server) == CONTENT
    server.behave["*"] = dripping(plain(CONTENT), pause=0.0)
    assert ask(server) == CONTENT


CUT = {
    "no answer": b"",
    "half a header": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": plain(CONTENT)[:-4],
    "half a packed body": plain(gzip.compress(CONTENT)[:-9], 200, "Content-Encoding: gzip"),
    "no gzip at all": plain(CONTENT, 200, "Content-Encoding: gzip"),
    "half a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc",
    "not HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
}


@pytest.mark.parametrize("name", CUT)
def test_a_cut_answer_is_no_answer_and_is_asked_for_again(name: str, server: Door) -> None:
    server.behave["*"] = answering(CUT[name])
    with pytest.raises(AwayError, match="nothing is lost"):
        ask(server)
    assert len({one.raw for one in server.seen}) == 1
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    "slow", [plain(b" " * 200), plain(b"", 200, *["X: " + "y" * 100] * 10)], ids=["body", "header"]
)
def test_dripping_does_not_stretch_the_time(slow: bytes, server: Door) -> None:
    """Every byte comes in time; all of them together do not."""
    server.behave["*"] = dripping(slow)
    started = time.monotonic()
    with pytest.raises(AwayError, match="no whole answer"):
        ask(server, Patience(attempt=0.2, total=0.5, tries=2, first_wait=0.01))
    assert time.monotonic() - started < 5  # all of it would take ten and more


def test_an_endless_answer_is_dropped_at_its_limit(server: Door) -> None:
    sent: list[int] = []

    def endless(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            sent.append(connection.send(b"x" * 10_000))

    server.behave["*"] = endless
    with pytest.raises(RefusedError) as refused:
        ask(server, largest=100_000)
    assert refused.value.code is Refusal.TOO_LONG


def test_a_bomb_is_dropped_as_it_grows(server: Door) -> None:
    """64 KB that unpack to 64 MB; control: what fits is read."""
    server.behave["*"] = answering(plain(bomb(2**26), 200, "Content-Encoding: gzip"))
    tracemalloc.start()
    with pytest.raises(RefusedError) as refused:
        ask(server, Patience(attempt=10, tries=1), largest=2**20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.value.code is Refusal.TOO_LONG
    assert peak < 2**23
    assert len(server.seen) == 1
    server.behave["*"] = answering(plain(bomb(2**20), 200, "Content-Encoding: gzip"))
    assert len(ask(server, Patience(attempt=10), largest=2**20)) == 2**20


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "deflate", "zstd"])
def test_only_what_was_offered_is_unpacked(coding: str, server: Door) -> None:
    server.behave["*"] = answering(plain(CONTENT, 200, f"Content-Encoding: {coding}"))
    with pytest.raises(UnusableError, match="was not offered"):
        ask(server)
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int, server: Door) -> None:
    elsewhere = Door(0)
    elsewhere.behave["*"] = answering(plain(CONTENT))
    server.behave["*"] = answering(plain(b"", status, f"Location: {elsewhere.address}/x"))
    with pytest.raises(UnusableError, match="not followed"):
        ask(server, token="0" * 64)
    assert elsewhere.seen == []
    assert ask(elsewhere) == CONTENT
    elsewhere.stop()


def test_a_cookie_is_not_kept(server: Door) -> None:
    server.behave["*"] = answering(plain(CONTENT, 200, "Set-Cookie: who=you; Max-Age=99999"))
    channel = Channel(BRIEF)
    for _ in range(2):
        asyncio.run(channel.ask(Request("GET", f"{server.address}/x", 1000)))
    assert server.seen[0].raw == server.seen[1].raw
    assert b"ookie" not in server.seen[1].raw


def test_every_request_says_the_same_of_the_device(
    server: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is read from the environment: no proxy, no password file."""
    ask(server)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    for name, value in {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
        "NETRC": str(tmp_path / ".netrc"),
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    ask(server)
    assert server.seen[0].raw == server.seen[1].raw
    assert [name for name, _ in server.seen[0].headers] == [
        "Host",
        "Accept",
        "Accept-Encoding",
        "Connection",
        "User-Agent",
    ]


def in_turn(*answers: bytes) -> Behave:
    left = list(answers)
    return lambda connection, _: connection.sendall(left.pop(0) if len(left) > 1 else left[0])


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_busy_means_the_same_again_later(status: int, server: Door) -> None:
    server.behave["*"] = in_turn(plain(b"busy", status), plain(b"", 503), plain(CONTENT))
    assert ask(server, body=b"report", token="1" * 64) == CONTENT
    assert len(server.seen) == 3
    assert len({one.raw for one in server.seen}) == 1


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note how long the agent would wait, instead of waiting; servers of other threads do wait."""
    noted: list[float] = []
    own, sleep = threading.current_thread(), asyncio.sleep

    async def note(seconds: float) -> None:
        if threading.current_thread() is not own:
            await sleep(seconds)
            return
        noted.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    return noted


def test_retry_after_is_honoured_up_to_the_deadline(server: Door, waits: list[float]) -> None:
    server.behave["*"] = in_turn(plain(b"", 503, "Retry-After: 7"), plain(CONTENT))
    assert ask(server, Patience(total=20, first_wait=0.01)) == CONTENT
    assert waits == [7]
    server.behave["*"] = answering(plain(b"", 503, "Retry-After: 3600"))
    server.seen.clear()
    with pytest.raises(AwayError, match="3600 seconds"):
        ask(server)
    assert len(server.seen) == 1


@pytest.mark.parametrize("text", ["-1", "1e9", "NaN", "99999999", "tomorrow", "\u0663"])
def test_a_strange_retry_after_is_ignored(text: str, server: Door) -> None:
    raw = plain(b"", 503, f"Retry-After: {text}")
    server.behave["*"] = in_turn(raw, plain(CONTENT))
    assert ask(server) == CONTENT


def test_a_reason_is_reported_with_its_code_and_not_asked_again(server: Door) -> None:
    said = Problem(code="round_unknown", message="nobody asked this")
    server.behave["*"] = answering(plain(said.raw, 409))
    with pytest.raises(ServiceError, match="nobody asked this") as no:
        ask(server)
    assert no.value.code == "round_unknown"
    server.behave["*"] = answering(plain(b"<html>\x1b[2J", 404))
    with pytest.raises(UnusableError, match="404 without a reason"):
        ask(server)
    assert len(server.seen) == 2


def test_a_closed_port_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(AwayError, match="does not answer"):
        asyncio.run(Channel(BRIEF).ask(Request("GET", f"http://127.0.0.1:{port}/", 10)))


@pytest.fixture
def self_signed(tmp_path: Path) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False
        )
        .sign(key, None)
    )
    paths = tmp_path / "certificate.pem", tmp_path / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


@contextlib.contextmanager
def behind_tls(paths: tuple[Path, Path]) -> Iterator[tuple[int, list[bytes], list[bool]]]:
    """Serve one answer over TLS again and again.

    Yields the port, what came in, and whether it came in a TLS session that was known before.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths)
    listening, heard = socket.create_server(("127.0.0.1", 0)), list[bytes]()
    resumed = list[bool]()

    def serve() -> None:
        while True:
            try:
                plain_socket, _ = listening.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), context.wrap_socket(plain_socket, True) as secure:
                heard.append(secure.recv(65536))
                resumed.append(bool(secure.session_reused))
                secure.sendall(plain(CONTENT))

    threading.Thread(target=serve, daemon=True).start()
    yield listening.getsockname()[1], heard, resumed
    listening.close()


def test_a_certificate_that_nobody_vouches_for_is_refused(
    self_signed: tuple[Path, Path],
) -> None:
    """Control: if it is to trust it, the same request goes through."""
    with behind_tls(self_signed) as (port, heard, _):
        request = Request("GET", f"https://127.0.0.1:{port}/", 1000, None, "2" * 64)
        with pytest.raises(AwayError, match="CERTIFICATE_VERIFY_FAILED"):
            asyncio.run(Channel(BRIEF).ask(request))
        assert heard == []
        trusting = ssl.create_default_context(cafile=str(self_signed[0]))
        assert asyncio.run(Channel(BRIEF, tls=trusting).ask(request)) == CONTENT


def test_no_request_goes_on_with_the_tls_session_of_another(
    self_signed: tuple[Path, Path],
) -> None:
    """A session that is resumed ties requests, also after *forget me*. Control: one that is."""
    trusting = ssl.create_default_context(cafile=str(self_signed[0]))
    with behind_tls(self_signed) as (port, _, resumed):
        channel = Channel(BRIEF, tls=trusting)
        for token in (None, "2" * 64, "3" * 64):
            request = Request("GET", f"https://127.0.0.1:{port}/", 1000, None, token)
            assert asyncio.run(channel.ask(request)) == CONTENT
        assert resumed == [False, False, False]
        session = None
        for _ in range(2):
            with (
                socket.create_connection(("127.0.0.1", port)) as plain_socket,
                trusting.wrap_socket(
                    plain_socket, server_hostname="127.0.0.1", session=session
                ) as secure,
            ):
                secure.sendall(b"x")
                secure.recv(65536)
                session = secure.session
        assert resumed[3:] == [False, True]


def test_waits_grow_with_jitter_and_do_not_repeat(server: Door, waits: list[float]) -> None:
    server.behave["*"] = answering(plain(b"", 503))
    for _ in range(2):
        with pytest.raises(AwayError):
            ask(server, Patience(attempt=5, total=60, tries=5, first_wait=0.5))
    first, second = waits[:4], waits[4:]
    for seconds in (first, second):
        for index, wait in enumerate(seconds):
            assert 0.25 * 2**index <= wait <= 0.5 * 2**index
    assert first != second


def test_a_report_leaves_at_a_whole_multiple_of_the_pace_whatever_was_computed() -> None:
    for elapsed in (0.0, 0.001, 0.3, 0.999, 1.0, 7.25):
        waited = elapsed + until_pace(elapsed, 1.0)
        assert waited == pytest.approx(round(waited))
        assert 0 <= until_pace(elapsed, 1.0) < 1
        assert until_pace(elapsed, 0) == 0
