"""An hour of honest and hostile load on PostgreSQL, with kills; windows with and without hostility.

    python benchmarks/service_soak.py --minutes 60

Windows of half a minute alternate: honest people alone, and the same with hostile requests beside
them, twice as many as theirs. In each a worker or the database is killed at its middle, the same in
both kinds. Honest people report until they are acknowledged, then ask for scores. At the end every
acknowledged report is looked for in the database.
"""

import argparse
import asyncio
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np
import psutil  # type: ignore[import-untyped]
from rich.console import Console
from tests.support.sites.crowd import Crowd
from tests.support.sites.hostile import hostile
from tests.support.sites.serving import JSON, Process

from measure import conditions, show, warn_if_busy, write_results
from midpoint.analyst.storage import migrate
from midpoint.wire import Report
from service_faults import postgresql, published, workers_of

WINDOW = 30.0
"""Seconds."""
PEOPLE = 300
"""Honest people in a window."""
THREADS = 4
HOSTILE, HOSTILE_RATE = 4, 40.0
"""Connections of the hostile one, and its requests a second: twice as many as honest ones."""
BAR = 3.0
"""p99 of honest requests beside hostile ones, against that without, at most."""
FAILED = 500
BUSY = 503
Figures = dict[str, Any]


@dataclass
class Tally:
    """What one kind of window saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    hostile: Counter[int] = field(default_factory=Counter)


def visit(client: httpx.Client, url: str, crowd: Crowd, token: str, tally: Tally) -> None:
    """Report until it is acknowledged, then ask for scores; note how long each answer took."""
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    acknowledged = False
    while True:
        start = time.perf_counter()
        try:
            if acknowledged:
                answer = client.get(f"{url}/v1/scores", headers=headers)
            else:
                body = crowd.reports[token]
                answer = client.post(f"{url}/v1/reports", headers=headers, content=body)
        except httpx.TransportError:
            tally.statuses[0] += 1
            time.sleep(0.2)
            continue
        tally.statuses[answer.status_code] += 1
        if not answer.is_success:
            time.sleep(0.2)
            continue
        tally.seconds.append(time.perf_counter() - start)
        if acknowledged:
            return
        acknowledged = True
        crowd.receipts.setdefault(token, set()).add(answer.content)


async def storm(url: str, good: Report, token: str, end: float, tally: Tally, seed: int) -> None:
    """Send hostile requests until the window ends."""
    requests = hostile(good, token, count=10**9, seed=seed)

    async def work(client: httpx.AsyncClient) -> None:
        due = time.monotonic()
        while due < end:
            due = max(due, time.monotonic() - 1) + HOSTILE / HOSTILE_RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            _, request = next(requests)
            try:
                tally.hostile[(await client.request(**request)).status_code] += 1
            except httpx.TransportError:
                tally.hostile[0] += 1
                await asyncio.sleep(0.2)

    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        await asyncio.gather(*(work(client) for _ in range(HOSTILE)))


def window(process: Process, crowd: Crowd, tally: Tally, strike: Callable[[], None]) -> None:
    """Let the crowd come over half a minute, and strike in the middle."""
    tokens, start = list(crowd.reports), time.monotonic()
    gap = WINDOW / len(tokens)

    def come(first: int) -> None:
        with httpx.Client(timeout=30) as client:
            for n in range(first, len(tokens), THREADS):
                time.sleep(max(0.0, start + n * gap - time.monotonic()))
                visit(client, process.url, crowd, tokens[n], tally)

    people = [threading.Thread(target=come, args=(n,)) for n in range(THREADS)]
    for person in people:
        person.start()
    time.sleep(WINDOW / 2)
    strike()
    for person in people:
        person.join()


def memory(process: Process) -> float:
    """Return what the service and its workers hold, in megabytes."""
    service = psutil.Process(process.pid)
    total = 0
    for part in (service, *service.children(recursive=True)):
        try:
            total += part.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return float(total) / 2**20


def soak(directory: Path, minutes: float) -> Figures:
    """Go through all windows; return what was seen."""
    site = published(directory / "site")
    tallies = {"alone": Tally(), "beside hostile ones": Tally()}
    crowds, held, kills = [], [], Counter[str]()
    with postgresql(directory / "postgresql") as server:
        database = str(server.get_uri())
        migrate(database)
        ((token, raw),) = Crowd.gather(site, database, 1).reports.items()
        good = Report.parse(raw)

        def kill_database() -> None:
            master = psutil.Process(server.get_pid())
            everyone = [master, *master.children()]
            for process in everyone:
                process.kill()
            psutil.wait_procs(everyone, timeout=10)
            server.ensure_postgres_running()

        flags = ("--workers", "2", "--no-log", "--database", database)
        with Process(site.root, flags) as process:
            strikes = {
                "worker": lambda: random.choice(workers_of(process)).kill(),  # noqa: S311
                "database": kill_database,
            }
            for turn in range(max(4, round(minutes * 60 / WINDOW))):
                name = ("alone", "beside hostile ones")[turn % 2]
                victim = ("worker", "database")[turn // 2 % 2]
                crowds.append(Crowd.gather(site, database, PEOPLE))
                enemy = threading.Thread(
                    target=lambda turn=turn: asyncio.run(
                        storm(process.url, good, token, time.monotonic() + WINDOW,
                              tallies["beside hostile ones"], turn)
                    )
                )  # fmt: skip
                if turn % 2:
                    enemy.start()
                window(process, crowds[-1], tallies[name], strikes[victim])
                if turn % 2:
                    enemy.join()
                kills[victim] += 1
                held.append(memory(process))
        lost = sum(len(crowd.lost(database)) for crowd in crowds)
    acknowledged = sum(len(crowd.receipts) for crowd in crowds)
    twice = sum(len(r) > 1 for crowd in crowds for r in crowd.receipts.values())
    return {
        "minutes": minutes,
        "kills": dict(kills),
        "acknowledged": acknowledged,
        "lost": lost,
        "two_receipts": twice,
        "megabytes": [round(number, 1) for number in held],
        "by_window": {name: _figures(tally) for name, tally in tallies.items()},
    }


def _figures(tally: Tally) -> Figures:
    every = tally.statuses + tally.hostile
    return {
        "honest_requests": len(tally.seconds),
        "hostile_requests": tally.hostile.total(),
        "p50_ms": 1000 * float(np.quantile(tally.seconds, 0.5)),
        "p99_ms": 1000 * float(np.quantile(tally.seconds, 0.99)),
        "statuses": {str(status): number for status, number in sorted(every.items())},
        "failed": sum(n for status, n in every.items() if status >= FAILED and status != BUSY),
    }


def main() -> None:
    """Soak, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    chosen = parser.parse_args()
    console = Console(stderr=True)
    warn_if_busy(console)
    pace = f"hostile requests come at {HOSTILE_RATE:g} a second, not as fast as they can"
    kept: Figures = {"conditions": conditions(), "said": pace}
    with tempfile.TemporaryDirectory(prefix="midpoint-bench-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        kept |= soak(directory, chosen.minutes)
    alone, beside = kept["by_window"].values()
    held = kept["megabytes"]
    half = len(held) // 2
    kept["p99_ratio"] = beside["p99_ms"] / alone["p99_ms"]
    kept["memory_ratio"] = median(held[half:]) / median(held[:half])
    rows = [
        ["honest requests answered", *(f"{w['honest_requests']:,}" for w in (alone, beside))],
        ["hostile requests", *(f"{w['hostile_requests']:,}" for w in (alone, beside))],
        ["p50, ms", *(f"{w['p50_ms']:.1f}" for w in (alone, beside))],
        ["p99, ms", *(f"{w['p99_ms']:.1f}" for w in (alone, beside))],
        ["answers of 5xx but 503", *(f"{w['failed']:,}" for w in (alone, beside))],
    ]
    title = f"{chosen.minutes:g} minutes on PostgreSQL, with kills"
    show(title, ["", "alone", "beside hostile ones"], rows)
    print(
        f"\n{kept['acknowledged']:,} reports acknowledged over {sum(kept['kills'].values())} kills,"
        f" {kept['lost']} lost, {kept['two_receipts']} given two receipts; p99"
        f" {kept['p99_ratio']:.2f} times that without hostile requests (limit {BAR:g}); memory"
        f" of the second half {kept['memory_ratio']:.2f} times that of the first"
    )
    console.print(f"Figures are in {write_results('service_soak', kept)}")


if __name__ == "__main__":
    main()
