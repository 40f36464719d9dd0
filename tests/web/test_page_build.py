"""The built page: small, pinned by digests, confined, and the same from the same sources."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from midpoint.analyst.service.http.static import DIRECTORY
from tests.support.page.service import Service

SOURCES = Path(__file__).parents[2] / "web"
TAG = re.compile(r"<(?:script|link)\b[^>]*(?:src|href)=\"/(assets/[^\"]+)\"[^>]*>")


def test_every_script_and_style_is_pinned() -> None:
    page = _page()
    tags = list(TAG.finditer(page))
    assert {Path(tag[1]).suffix for tag in tags} == {".js", ".css"}
    for tag in tags:
        hashed = hashlib.sha384((DIRECTORY / tag[1]).read_bytes()).digest()
        assert f'integrity="sha384-{base64.b64encode(hashed).decode()}"' in tag[0]
    named = {Path(tag[1]).name for tag in tags}
    for name in named:
        if name.endswith(".js"):
            code = (DIRECTORY / "assets" / name).read_text(encoding="utf-8")
            assert set(re.findall(r"(?:from|^import)\s*[\"'`]\./([\w.-]+\.js)", code)) <= named


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = _page()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)
    addresses = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    assert all(one.startswith(("/assets/", "data:image/svg")) for one in addresses)


@pytest.mark.slow
def test_the_first_load_is_small_and_listed(service: Service) -> None:
    """Under 200 KB compressed are asked for; a third of that is held.

    What the page's HTML does not name is loaded when somebody asks for it, and is little.
    """
    first = {"index.html", *(tag[1] for tag in TAG.finditer(_page()))}
    sizes = {}
    with httpx.Client(base_url=service.url, headers={"Accept-Encoding": "gzip"}) as client:
        for name, digest in client.get("/assets.json").json()["files"].items():
            answer = client.get("/" if name == "index.html" else f"/{name}")
            assert hashlib.sha256(answer.content).hexdigest() == digest
            assert "set-cookie" not in answer.headers
            sizes[name] = int(answer.headers["content-length"])
    assert first < set(sizes)
    assert sum(sizes[name] for name in first) < 68_000
    assert sum(sizes.values()) < 85_000


@pytest.mark.slow
def test_the_same_sources_give_the_committed_bytes(tmp_path: Path) -> None:
    if shutil.which("npm") is None or not (SOURCES / "node_modules" / "vite").exists():
        pytest.skip("the page is built with Node; run npm ci in web/")
    built = tmp_path / "page"
    command = ["npm", "run", "build", "--", "--outDir", str(built), "--logLevel", "error"]
    subprocess.run(command, cwd=SOURCES, check=True, capture_output=True)
    assert _bytes_of(built) == _bytes_of(DIRECTORY)


def _page() -> str:
    return (DIRECTORY / "index.html").read_text(encoding="utf-8")


def _bytes_of(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_every_package_that_builds_the_page_is_held_to_its_bytes_on_every_system() -> None:
    packages = json.loads((SOURCES / "package-lock.json").read_text("utf-8"))["packages"]
    named = {name: package for name, package in packages.items() if name}
    assert [n for n, p in named.items() if not str(p.get("integrity")).startswith("sha512-")] == []
    for tool in ("@rolldown/binding", "@biomejs/cli"):  # and none is left out
        for system in ("darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "win32-x64"):
            assert any(name.startswith(f"node_modules/{tool}-{system}") for name in named)
