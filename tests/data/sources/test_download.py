import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from midpoint.data.sources.download import fetch, fetch_text, md5_in
from midpoint.errors import MidpointError

BODY = bytes(range(256)) * 2000


class Server(http.server.BaseHTTPRequestHandler):
    """Serve one body, with the faults a test asks for."""

    body: ClassVar[bytes] = BODY
    ranges: ClassVar[bool] = True
    cut_after: ClassVar[list[int]] = []
    status: ClassVar[int | None] = None
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        cls = type(self)
        asked = self.headers.get("Range")
        cls.asked.append(asked)
        if cls.status is not None:
            self.send_error(cls.status)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start >= len(cls.body) and asked and cls.ranges:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(cls.body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = start if cls.ranges else 0
        rest = cls.body[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(cls.body) - 1}/{len(cls.body)}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: cls.cut_after.pop(0)] if cls.cut_after else rest)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Server.body, Server.ranges, Server.status = BODY, True, None
    Server.cut_after, Server.asked = [], []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/data.zip"
        server.shutdown()
        thread.join()


def part_of(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def test_a_file_arrives_whole_with_its_progress(tmp_path: Path, url: str) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "new" / "data.zip"
    checksum = hashlib.sha256(BODY).hexdigest()
    fetch(
        url,
        target,
        checksum=("sha256", checksum),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert target.read_bytes() == BODY
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert not part_of(target).exists()


def test_a_part_is_gone_on_from(tmp_path: Path, url: str) -> None:
    target = tmp_path / "data.zip"
    part_of(target).write_bytes(BODY[:1000])
    fetch(url, target, checksum=("md5", hashlib.md5(BODY, usedforsecurity=False).hexdigest()))
    assert Server.asked == ["bytes=1000-"]
    assert target.read_bytes() == BODY


def test_a_server_without_ranges_starts_over(tmp_path: Path, url: str) -> None:
    Server.ranges = False
    target = tmp_path / "data.zip"
    part_of(target).write_bytes(b"x" * 1000)
    fetch(url, target)
    assert target.read_bytes() == BODY


def test_a_whole_part_needs_no_more_bytes_and_a_longer_one_starts_over(
    tmp_path: Path, url: str
) -> None:
    target = tmp_path / "data.zip"
    for left in (BODY, BODY + b"more"):
        part_of(target).write_bytes(left)
        fetch(url, target)
        assert target.read_bytes() == BODY


def test_a_connection_that_dies_is_taken_up_again(tmp_path: Path, url: str) -> None:
    Server.cut_after = [1000, 5000]
    fetch(url, tmp_path / "data.zip")
    assert (tmp_path / "data.zip").read_bytes() == BODY
    assert Server.asked == [None, "bytes=1000-", "bytes=6000-"]


def test_a_server_that_stays_dead_leaves_the_part_for_later(tmp_path: Path, url: str) -> None:
    target = tmp_path / "data.zip"
    Server.cut_after = [1000, 0]
    with pytest.raises(MidpointError, match=r"go on from the 1000 bytes that are here"):
        fetch(url, target)
    assert not target.exists()
    assert part_of(target).read_bytes() == BODY[:1000]
    fetch(url, target)
    assert target.read_bytes() == BODY


def test_a_wrong_checksum_keeps_nothing_and_the_old_file(tmp_path: Path, url: str) -> None:
    target = tmp_path / "data.zip"
    target.write_bytes(b"old")
    with pytest.raises(MidpointError, match=r"the md5 of what arrived is .*run it again"):
        fetch(url, target, checksum=("md5", "0" * 32))
    assert target.read_bytes() == b"old"
    assert not part_of(target).exists()


@pytest.mark.parametrize("status", [404, 503])
def test_a_refusal_is_reported(tmp_path: Path, url: str, status: int) -> None:
    Server.status = status
    with pytest.raises(MidpointError, match=f"the server answers {status}"):
        fetch(url, tmp_path / "data.zip")
    assert fetch_text(url) is None


def test_nobody_there_is_reported(tmp_path: Path) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        port = server.server_port
    with pytest.raises(MidpointError, match="check the network"):
        fetch(f"http://127.0.0.1:{port}/x", tmp_path / "x")
    with pytest.raises(MidpointError, match="cannot be reached"):
        fetch_text(f"http://127.0.0.1:{port}/x")


def test_only_the_web_is_downloaded_from(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="no web address"):
        fetch((tmp_path / "x").as_uri(), tmp_path / "y")


def test_a_directory_that_cannot_be_written_is_reported(tmp_path: Path, url: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MidpointError, match="cannot be written"):
        fetch(url, tmp_path / "file" / "data.zip")


def test_checksum_files_of_either_kind_are_read() -> None:
    digits = "c4d9eecfca2ab87c1945afe126590906"
    assert md5_in(f"MD5 (ml-1m.zip) = {digits}\n") == ("md5", digits)
    assert md5_in(f"{digits.upper()}  ml-1m.zip\n") == ("md5", digits)
    assert md5_in("<html>not found</html>") is None


def test_text_is_fetched(url: str) -> None:
    Server.body = "hällo".encode()
    assert fetch_text(url) == "hällo"
