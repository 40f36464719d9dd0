"""What a service hides in a browser's cache does not survive *Forget me*."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.page.service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
PLAIN = "(url) => fetch(url).then((answer) => answer.text()).then(() => true)"


@contextmanager
def tagging(service: Service) -> Iterator[tuple[str, list[str]]]:
    """Serve the same, but let caches keep it, under a tag that is made for each visitor."""
    came_back: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            held = self.headers.get("If-None-Match")
            if held is not None:
                came_back.append(held)
            length = int(self.headers.get("Content-Length") or 0)
            kept = {n: v for n, v in self.headers.items() if n in ("Authorization", "Content-Type")}
            url, body = f"{service.url}{self.path}", self.rfile.read(length)
            found = httpx.request(self.command, url, headers=kept, content=body, timeout=30)
            self.send_response(found.status_code)
            for name in ("content-type", "content-security-policy"):
                if name in found.headers:
                    self.send_header(name, found.headers[name])
            self.send_header("ETag", f'"{secrets.token_hex(8)}"')
            self.send_header("Cache-Control", "private, max-age=0")
            self.send_header("Content-Length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", came_back
        server.shutdown()


def test_no_tag_of_hers_comes_back_after_she_was_forgotten(visit: Visit, service: Service) -> None:
    with tagging(service) as (url, came_back):
        she = visit(url=url)
        she.open()
        she.choose("Female")
        she.rate_first((5, 3, 4, 2))
        she.send()
        she.wait_for_recommendations()
        she.go("Ledger")
        she.page.get_by_role("button", name="Forget me").click()
        she.page.get_by_role("dialog").get_by_role("button", name="Forget me").click()
        expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
        came_back.clear()
        she.page.get_by_role("radio", name="Female", exact=True).check()
        she.page.get_by_role("button", name="Start rating").click()
        she.rows.first.wait_for()
        assert came_back == []
        for _ in range(2):  # the control: a page that lets the browser keep it is recognized
            she.page.evaluate(PLAIN, "/v1/chain")
        assert len(came_back) == 1
