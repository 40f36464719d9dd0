"""A door in front of a service: it records every byte that comes in, and lies where a test says so.

Every connection carries one request, as the agent makes them. Recorded are the exact bytes, in the
order of arrival, so two recordings can be compared byte for byte.
"""

import contextlib
import gzip
import http.client
import socket
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

Change = Callable[[bytes], bytes]
Behave = Callable[[socket.socket, bytes], None]


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    raw: bytes

    @property
    def line(self) -> str:
        return self.raw.split(b"\r\n", 1)[0].decode()

    @property
    def method(self) -> str:
        return self.line.split(" ")[0]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.raw.split(b"\r\n\r\n", 1)[0].decode().split("\r\n")[1:]
        return [(name, value) for name, _, value in (one.partition(": ") for one in lines)]

    @property
    def body(self) -> bytes:
        return self.raw.split(b"\r\n\r\n", 1)[1]

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)


class Door:
    """Forwards to a port on this machine; `change` and `behave` are for chosen paths."""

    def __init__(self, port: int) -> None:
        self.upstream = port
        self.seen: list[Seen] = []
        self.change: dict[str, Change] = {}
        self.behave: dict[str, Behave] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[str]:
        return [one.line for one in self.seen]

    @property
    def secrets_sent(self) -> list[str]:
        """Requests that could carry something of hers: all but public reads."""
        return [one.line for one in self.seen if one.header("Authorization")]

    def honest(self) -> None:
        self.change.clear()
        self.behave.clear()

    def stop(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            seen = Seen(_whole_request(connection))
            if not seen.raw:
                return
            self.seen.append(seen)
            path = self._rule(seen.path)
            if path in self.behave:
                self.behave[path](connection, seen.raw)
            elif path in self.change:
                status, body = self._ask(seen)
                connection.sendall(plain(self.change[path](body), status))
            else:
                connection.sendall(self._pass_on(seen.raw))

    def _rule(self, path: str) -> str:
        """Find the rule for a path: itself, or the longest rule that it begins with and a star."""
        rules = {*self.behave, *self.change}
        if path in rules:
            return path
        stars = [rule for rule in rules if rule.endswith("*") and path.startswith(rule[:-1])]
        return max(stars, key=len, default="")

    def _ask(self, seen: Seen) -> tuple[int, bytes]:
        upstream = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=20)
        kept = {name: value for name, value in seen.headers if name != "Accept-Encoding"}
        upstream.request(seen.method, seen.path, seen.body or None, kept)
        answer = upstream.getresponse()
        body = answer.read()
        upstream.close()
        return answer.status, body

    def _pass_on(self, raw: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.upstream), timeout=20) as upstream:
            upstream.sendall(raw)
            return b"".join(iter(lambda: upstream.recv(65536), b""))


def plain(body: bytes, status: int = 200, *headers: str) -> bytes:
    """Return a whole answer that closes the connection."""
    lines = [
        f"HTTP/1.1 {status} X",
        "Content-Type: application/json",
        "Connection: close",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def packed(body: bytes) -> bytes:
    """Return a whole answer, packed."""
    return plain(gzip.compress(body), 200, "Content-Encoding: gzip")


def answering(raw: bytes) -> Behave:
    """Answer with these bytes, whatever is asked."""
    return lambda connection, _: connection.sendall(raw)


def dripping(raw: bytes, pause: float = 0.05) -> Behave:
    """Answer byte by byte."""

    def behave(connection: socket.socket, _: bytes) -> None:
        with contextlib.suppress(OSError):
            for byte in raw:
                connection.sendall(bytes([byte]))
                time.sleep(pause)

    return behave


def bomb(size: int) -> bytes:
    """Return a few bytes that unpack to many."""
    pack = zlib.compressobj(9, wbits=31)
    block = b" " * 2**20
    return b"".join(pack.compress(block) for _ in range(size >> 20)) + pack.flush()


def _whole_request(connection: socket.socket) -> bytes:
    connection.settimeout(10)
    raw = b""
    while b"\r\n\r\n" not in raw:
        more = connection.recv(65536)
        if not more:
            return b""
        raw += more
    length = int(Seen(raw).header("Content-Length") or 0)
    while len(Seen(raw).body) < length:
        raw += connection.recv(65536)
    return raw
