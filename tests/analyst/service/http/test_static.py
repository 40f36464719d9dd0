"""The page's files and the headers that confine them."""

import json
from pathlib import Path

from midpoint.analyst.service.http.static import Page, security_headers
from midpoint.wire import digest


def test_the_page_is_served_from_memory_with_its_digests(tmp_path: Path) -> None:
    assert Page(tmp_path).file("index.html") is None
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "assets" / "a-1.js").write_text("'x'")
    (tmp_path / ".hidden").write_text("secret")
    page = Page(tmp_path)
    index, script = page.file("index.html"), page.file("assets/a-1.js")
    assert index is not None
    assert script is not None
    assert (index.media, index.cache) == ("text/html", "no-store")
    assert (script.media, "immutable" in script.cache) == ("text/javascript", True)
    assert page.file("../index.html") is None
    assert json.loads(page.listed.raw)["files"] == {
        "index.html": digest(b"<!doctype html>"),
        "assets/a-1.js": digest(b"'x'"),
    }


def test_the_page_may_ask_its_witnesses_and_nobody_else() -> None:
    headers = dict(security_headers(("https://witness.example",)))
    policy = headers[b"content-security-policy"].decode()
    assert "connect-src 'self' https://witness.example;" in policy
    assert "connect-src 'self';" in dict(security_headers(()))[b"content-security-policy"].decode()
