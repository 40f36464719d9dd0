"""`midpoint doctor`: a healthy site has no fault, and each thing that can break is named."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from midpoint.analyst import Training
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.doctor import examine
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.cli.app import app
from midpoint.wire import Chain, SigningKey
from tests.support.sites.serving import published

NAMES = ["key", "permissions", "database", "disk", "chain", "clock"]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory, trained_stars: Training) -> Site:
    site = published(tmp_path_factory.mktemp("sites") / "site", trained_stars.items)
    migrate(url(site))
    return site


@pytest.fixture
def site(healthy: Site, tmp_path: Path) -> Site:
    shutil.copytree(healthy.root, tmp_path / "site")
    return Site(tmp_path / "site")


def url(site: Site) -> str:
    return sqlite_url(site.root / "midpoint.sqlite")


def levels(site: Site, database: str | None = None, **options: Any) -> dict[str, str]:
    return {f.check: f.level for f in examine(site, database or url(site), **options)}


def state(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in files if not p.name.endswith(("-shm", "-wal"))}


def test_a_healthy_site_has_no_fault_and_is_not_changed(site: Site) -> None:
    before = state(site.root)
    assert levels(site) == dict.fromkeys(NAMES, "ok")
    assert state(site.root) == before


def loose_key(site: Site) -> None:
    (site.root / "key.pem").chmod(0o644)


def other_key(site: Site) -> None:
    (site.root / "key.pem").unlink()
    SigningKey.generate().save(site.root / "key.pem")


def open_site(site: Site) -> None:
    site.list.chmod(0o666)


def open_database(site: Site) -> None:
    (site.root / "midpoint.sqlite").chmod(0o644)


def damaged_database(site: Site) -> None:
    (site.root / "midpoint.sqlite").write_bytes(b"no database" * 1000)


def changed_disclosure(site: Site) -> None:
    file = next((site.root / "disclosures").iterdir())
    file.write_bytes(file.read_bytes().replace(b"1", b"2", 1))


def forged_entry(site: Site) -> None:
    chain = site.chain()
    assert chain is not None
    forged = chain.entries[0].model_copy(update={"signature": "0" * 128})
    site.list.write_bytes(Chain(entries=(forged,)).raw)


def model_gone(site: Site) -> None:
    shutil.rmtree(site.root / "models")


@pytest.mark.parametrize(
    ("harm", "named", "said"),
    [
        (loose_key, "key", "chmod 600"),
        (other_key, "key", "not the key of the list"),
        (open_site, "permissions", "chmod -R o-w"),
        (open_database, "permissions", "others may read"),
        (damaged_database, "database", "does not answer"),
        (changed_disclosure, "chain", "restore it"),
        (forged_entry, "chain", "not signed"),
        (model_gone, "chain", "models"),
    ],
)
def test_what_is_broken_is_named_and_nothing_else(
    site: Site, harm: Callable[[Site], None], named: str, said: str
) -> None:
    harm(site)
    faults = {f.check: f.sentence for f in examine(site, url(site)) if f.level == "fault"}
    assert list(faults) == [named]
    assert said in faults[named]


def test_a_machine_that_only_serves_and_a_database_to_come_are_notes(site: Site) -> None:
    (site.root / "key.pem").unlink()
    for file in site.root.glob("midpoint.sqlite*"):
        file.unlink()
    assert levels(site) == dict.fromkeys(NAMES, "ok") | {"key": "note", "database": "note"}
    assert not (site.root / "midpoint.sqlite").exists()


class Usage(NamedTuple):
    free: int


@pytest.mark.parametrize(("free", "level"), [(2**20, "fault"), (2**29, "note"), (2**40, "ok")])
def test_a_disk_that_is_full_or_nearly(
    site: Site, monkeypatch: pytest.MonkeyPatch, free: int, level: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(free))
    assert levels(site)["disk"] == level


def test_a_clock_before_the_newest_entry_is_a_fault(site: Site) -> None:
    assert levels(site, now=1_600_000_000)["clock"] == "fault"


def test_a_file_that_this_user_cannot_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != site.list and allowed(path, mode))
    assert levels(site)["permissions"] == "fault"
    monkeypatch.setattr(
        os, "access", lambda path, mode: path.name != "key.pem" and allowed(path, mode)
    )
    assert levels(site) == dict.fromkeys(NAMES, "ok") | {"key": "note"}


def test_the_command_prints_a_line_for_each_check_and_its_status_says_the_rest(site: Site) -> None:
    shown = CliRunner().invoke(app, ["doctor", str(site.root)])
    assert shown.exit_code == 0, shown.output
    assert [line.split()[1] for line in shown.output.splitlines()] == NAMES
    open_site(site)
    broken = CliRunner().invoke(app, ["doctor", str(site.root), "--json"])
    assert broken.exit_code == 1
    assert [f["level"] for f in json.loads(broken.output)].count("fault") == 1
    nowhere = CliRunner().invoke(app, ["doctor", str(site.root / "no")])
    assert nowhere.exit_code == 1
    assert "midpoint publish" in nowhere.output


@pytest.mark.slow
def test_postgresql_answers_or_is_away(site: Site, postgresql: Callable[[], str]) -> None:
    database = postgresql()
    assert levels(site, database)["database"] == "note"
    migrate(database)
    assert levels(site, database) == dict.fromkeys(NAMES, "ok")
    assert levels(site, database, now=int(time.time()) + 60)["clock"] == "fault"
    away = levels(site, "postgresql://nobody:secret@127.0.0.1:1/x")
    assert (away["database"], away["clock"]) == ("fault", "fault")
    said = " ".join(f.sentence for f in examine(site, "postgresql://a:secret@127.0.0.1:1/x"))
    assert "secret" not in said
