"""The built extension: the same bytes from the same sources, one source for both browsers."""

import hashlib
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.page.extension import SOURCES, build, name_of

pytestmark = pytest.mark.slow
TARGETS = ("chromium", "firefox")


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("extension"))


def _manifest(extension: Path, target: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((extension / target / "manifest.json").read_text("utf-8"))
    return read


def test_the_same_sources_give_the_listed_bytes(
    extension: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built again elsewhere and under another clock, the archives are the same."""
    listed = dict(
        line.split()[::-1]
        for line in (SOURCES / "extension" / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    monkeypatch.setenv("TZ", "Pacific/Chatham")
    again = build(tmp_path / "again")
    assert sorted(listed) == [f"midpoint-{target}.zip" for target in TARGETS]
    for name, digest in listed.items():
        raw = (extension / name).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == digest, "run npm --prefix web run build:extension"
        assert (again / name).read_bytes() == raw


@pytest.mark.parametrize("target", TARGETS)
def test_an_archive_is_its_directory_in_order_and_without_a_time(
    extension: Path, target: str
) -> None:
    directory = extension / target
    files = {p.relative_to(directory).as_posix(): p.read_bytes() for p in directory.rglob("*.*")}
    with zipfile.ZipFile(extension / f"midpoint-{target}.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(files)
        assert {name: archive.read(name) for name in files} == files
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_both_browsers_get_the_same_code(extension: Path) -> None:
    names = [p.relative_to(extension / "chromium") for p in (extension / "chromium").rglob("*.*")]
    different = [
        name.as_posix()
        for name in names
        if (extension / "chromium" / name).read_bytes()
        != (extension / "firefox" / name).read_bytes()
    ]
    assert different == ["manifest.json"]


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_allowed_before_she_agrees_and_no_code_comes_from_elsewhere(
    extension: Path, target: str
) -> None:
    manifest = _manifest(extension, target)
    assert manifest["manifest_version"] == 3
    assert not manifest.keys() & {
        "host_permissions",
        "content_scripts",
        "web_accessible_resources",
        "externally_connectable",
    }
    assert manifest["permissions"] == [
        "activeTab",
        "declarativeNetRequestWithHostAccess",
        "unlimitedStorage",
    ]
    assert manifest["optional_host_permissions"] == [
        "https://*/*",
        "http://localhost/*",
        "http://127.0.0.1/*",
    ]
    policy = manifest["content_security_policy"]["extension_pages"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= {*policy}
    assert manifest["incognito"] == "not_allowed"
    for icon in manifest["icons"].values():
        assert (extension / target / icon).exists()
    page = (extension / target / "page.html").read_text("utf-8")
    addresses = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    assert all(re.fullmatch(r"/[\w/]+\.(js|css|png)", address) for address in addresses)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)


def test_each_browser_gets_what_only_it_knows(extension: Path) -> None:
    chromium, firefox = (_manifest(extension, target) for target in TARGETS)
    assert chromium["background"] == {"service_worker": "background.js", "type": "module"}
    assert firefox["background"] == {"scripts": ["background.js"], "type": "module"}
    assert re.fullmatch("[a-p]{32}", name_of(extension / "chromium"))
    gecko = firefox["browser_specific_settings"]["gecko"]
    assert re.fullmatch(r"[\w.-]+@[\w.-]+", gecko["id"])
    # The first version that knows optional_host_permissions.
    assert int(gecko["strict_min_version"].split(".")[0]) >= 128
    own = {"background", "key", "minimum_chrome_version", "browser_specific_settings"}
    assert {k: v for k, v in chromium.items() if k not in own} == {
        k: v for k, v in firefox.items() if k not in own
    }
