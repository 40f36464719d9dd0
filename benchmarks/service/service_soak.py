"""An hour of honest and hostile load on PostgreSQL, with kills; windows with and without hostility.

    python -m benchmarks.service.service_soak --minutes 60

First it measures how many honest visits, and how many costly requests, this machine answers in a
second. In each window of half a minute a share of those visits comes; in every second one, hostile
requests come beside them from a process of their own: a share of the costly ones, all of them
valid, and bad ones on 32 connections, as fast as they are answered. In the middle of a window one
worker is killed, or all, or the database, or nothing, the same in both kinds. In the second half of
the time one worker is always spared, and its memory is followed.

An honest request is timed from its first try to its success, over all kills. At the end every
acknowledged report is looked for in the database.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    forget_tables,
    show,
    warn_if_busy,
    write_results,
)
from benchmarks.service.loading import published
from benchmarks.service.service_faults import kill_database, postgresql, workers_of
from benchmarks.service.soak_load import BAD, Largest, Tally, come, most_visits, storm
from midpoint.analyst.storage import migrate
from tests.support.sites.crowd import Crowd
from tests.support.sites.serving import Process

WINDOW = 30.0
"""Seconds."""
CALIBRATION = 10.0
"""Seconds for which each kind of load is sent as fast as it is answered."""
HONEST, COSTLY = 0.2, 0.2
"""Shares of what the machine answers: of visits, and of costly requests beside them."""
WORKERS = 2
CYCLE = 8
"""Windows after which all kinds of kills were seen, with and without hostile requests."""
KINDS = ("alone", "beside hostile ones")
STRIKES = ("nothing", "one worker", "the database", "all workers")
BAR = 3.0
"""p99 of honest requests beside hostile ones, against that without, at most."""
FLAT = 1.1
"""Memory of the spared worker in the last quarter of its life, against the first, at most."""
FAILED, BUSY = 500, 503
Figures = dict[str, Any]


@dataclass
class Window:
    """What one window saw."""

    kind: str
    strike: str
    honest: Tally = field(default_factory=Tally)
    costly: Counter[str] = field(default_factory=Counter)
    bad: Counter[int] = field(default_factory=Counter)
    worker: int = 0
    """Process of the eldest worker at its end."""
    megabytes: tuple[float, float] = 0.0, 0.0
    """What that worker holds, and the whole service."""
    busy: float = 0.0
    """Share of the machine's processor time that was used, by anybody."""
    load: float = 0.0
    """Processes that wanted to run, over the last minute."""

    @property
    def failed(self) -> int:
        """Answers of 5xx but 503, to anybody."""
        costly = Counter[int]()
        for said, number in self.costly.items():
            costly[int(said.rpartition(" ")[2])] += number
        every = self.honest.statuses + self.bad + costly
        return sum(n for status, n in every.items() if status >= FAILED and status != BUSY)


def eldest_and_youngest(process: Process) -> tuple[psutil.Process, psutil.Process]:
    """Wait until all workers are there."""
    while len(workers := workers_of(process)) < WORKERS:
        time.sleep(0.1)
    workers.sort(key=psutil.Process.create_time)
    return workers[0], workers[-1]


def held_by(processes: Iterable[psutil.Process]) -> float:
    """Return what these hold, in megabytes."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return float(total) / 2**20


async def _through(
    seen: Window, process: Process, crowd: Crowd, strike: Callable[[], None]
) -> None:
    """Let the crowd come, and strike in the middle."""

    async def struck() -> None:
        await asyncio.sleep(WINDOW / 2)
        await asyncio.to_thread(strike)

    await asyncio.gather(come(process.url, crowd, WINDOW, seen.honest), struck())


class Soak:
    """A running service with its database, and what is done to both."""

    def __init__(self, directory: Path, server: Any, rate: int) -> None:
        self.site = published(directory / "site")
        self.database = str(server.get_uri())
        migrate(self.database)
        self.largest = Largest.of(self.site)
        self.crowds: list[Crowd] = []
        self.windows: list[Window] = []
        flags = ("--workers", str(WORKERS), "--no-log", "--panel", "--rate", str(rate))
        self.process = Process(self.site.root, (*flags, "--database", self.database))
        self._server = server
        self._strikes: dict[str, Callable[[], None]] = {
            "nothing": lambda: None,
            "one worker": self._kill_worker,
            "the database": self._kill_database,
            "all workers": self._kill_workers,
        }

    def _kill_worker(self) -> None:
        eldest_and_youngest(self.process)[1].kill()

    def _kill_workers(self) -> None:
        for worker in eldest_and_youngest(self.process):
            worker.kill()

    def _kill_database(self) -> None:
        kill_database(self._server)

    def calibrate(self, enemy: ProcessPoolExecutor) -> tuple[float, float]:
        """Return how many visits, and how many costly requests, are answered in a second."""
        for _ in range(2):  # the first warms up
            crowd = Crowd.gather(self.site, self.database, 5000)
            visits = asyncio.run(most_visits(self.process.url, crowd, CALIBRATION))
            attack = enemy.submit(
                storm, self.process.url, self.largest, CALIBRATION, 10**6, bad=False
            )
            costly, _ = attack.result()
        return visits, sum(costly.values()) / CALIBRATION

    def window(
        self, enemy: ProcessPoolExecutor, kind: str, strike: str, rates: Mapping[str, float]
    ) -> None:
        """Go through one window."""
        seen = Window(kind, strike)
        crowd = Crowd.gather(self.site, self.database, round(rates["visits"] * WINDOW))
        before = psutil.cpu_times()
        attack = None
        if kind != KINDS[0]:
            seed = len(self.windows)
            attack = enemy.submit(
                storm, self.process.url, self.largest, WINDOW, rates["costly"], seed=seed
            )
        asyncio.run(_through(seen, self.process, crowd, self._strikes[strike]))
        if attack is not None:
            seen.costly, seen.bad = attack.result()
        seen.busy, seen.load = _busy(before, psutil.cpu_times()), os.getloadavg()[0]
        eldest, _ = eldest_and_youngest(self.process)
        seen.worker = eldest.pid
        main = psutil.Process(self.process.pid)
        whole = held_by((main, *main.children(recursive=True)))
        seen.megabytes = held_by([eldest]), whole
        self.crowds.append(crowd)
        self.windows.append(seen)


def _busy(before: Any, after: Any) -> float:
    spent = [b - a for a, b in zip(before, after, strict=True)]
    idle = (after.idle - before.idle) + (after.iowait - before.iowait)
    return float(1 - idle / sum(spent))


def soak(directory: Path, minutes: float, rate: int) -> Iterator[Figures]:
    """Go through all windows; yield what was seen so far after every cycle of them."""
    with postgresql(directory / "postgresql") as server:
        run = Soak(directory, server, rate)
        with ProcessPoolExecutor(1, get_context("spawn")) as enemy, run.process:
            visits, costly = run.calibrate(enemy)
            rates = {"visits": HONEST * visits, "costly": COSTLY * costly}
            begin = {"answered_a_second": {"visits": visits, "costly": costly}}
            begin |= {"sent_a_second": rates}
            start = time.monotonic()
            for turn in count():
                done = (time.monotonic() - start) / (60 * minutes)
                if turn % CYCLE == 0 and turn:
                    lost = sum(len(crowd.lost(run.database)) for crowd in run.crowds[-CYCLE:])
                    yield begin | _seen(run, done * minutes, lost)
                    if done >= 1:
                        break
                strike = STRIKES[turn // len(KINDS) % len(STRIKES)]
                if strike == "all workers" and done > 0.5:
                    strike = "one worker"  # so that the other one grows old
                run.window(enemy, KINDS[turn % len(KINDS)], strike, rates)
        lost = sum(len(crowd.lost(run.database)) for crowd in run.crowds)
        yield begin | _seen(run, done * minutes, lost)


def _seen(run: Soak, minutes: float, lost: int) -> Figures:
    receipts = [r for crowd in run.crowds for r in crowd.receipts.values()]
    return {
        "minutes": round(minutes),
        "kills": dict(Counter(w.strike for w in run.windows if w.strike != "nothing")),
        "acknowledged": len(receipts),
        "lost": lost,
        "two_receipts": sum(len(given) > 1 for given in receipts),
        "memory": memory(run.windows),
        "by_kind": {kind: _figures([w for w in run.windows if w.kind == kind]) for kind in KINDS},
    }


def memory(windows: list[Window]) -> Figures:
    """Follow the worker that was there at the end over its life."""
    last = [w.megabytes[0] for w in windows if w.worker == windows[-1].worker]
    quarter = max(1, len(last) // 4)
    return {
        "service_megabytes": [round(w.megabytes[1], 1) for w in windows],
        "spared_worker_megabytes": [round(number, 1) for number in last],
        "ratio": median(last[-quarter:]) / median(last[:quarter]),
    }


def _figures(windows: list[Window]) -> Figures:
    def quantile(share: float, chosen: Iterable[Window]) -> float:
        return 1000 * float(np.quantile([s for w in chosen for s in w.honest.seconds], share))

    strikes = {strike: [w for w in windows if w.strike == strike] for strike in STRIKES}
    statuses = sum((w.honest.statuses for w in windows), Counter[int]())
    return {
        "honest_requests": sum(len(w.honest.seconds) for w in windows),
        "honest_tries": {str(status): n for status, n in sorted(statuses.items())},
        "costly_requests": dict(sorted(sum((w.costly for w in windows), Counter[str]()).items())),
        "bad_requests": {
            str(s): n for s, n in sorted(sum((w.bad for w in windows), Counter[int]()).items())
        },
        "p50_ms": quantile(0.5, windows),
        "p99_ms": quantile(0.99, windows),
        "p99_ms_by_kill": {s: quantile(0.99, some) for s, some in strikes.items() if some},
        "failed": sum(w.failed for w in windows),
        "busy": median(w.busy for w in windows),
        "load": median(w.load for w in windows),
    }


def said(kept: Figures) -> str:
    """Say it in words."""
    alone, beside = kept["by_kind"].values()
    quiet = beside["p99_ms_by_kill"]["nothing"] / alone["p99_ms_by_kill"]["nothing"]
    held = kept["memory"]["spared_worker_megabytes"]
    answered = kept["answered_a_second"]
    return (
        f"the machine answers {answered['visits']:.0f} visits or {answered['costly']:.0f} costly"
        f" requests a second, and gets {HONEST:.0%} of each; bad requests come on {BAD} connections"
        " besides, as fast as they are answered; an honest request is timed from its first try to"
        f" its success, over all kills; p99 is {kept['p99_ratio']:.2f} times that without hostile"
        f" requests, and {quiet:.2f} times in windows without a kill (limit {BAR:g});"
        f" {kept['acknowledged']:,} reports were acknowledged over {sum(kept['kills'].values())}"
        f" kills and {kept['lost']} lost; a worker that was spared for {len(held)} windows held"
        f" {held[0]:.0f} MB at first and {held[-1]:.0f} MB at last (quarters of its life:"
        f" {kept['memory']['ratio']:.2f} times, limit {FLAT:g}); processor time in use, by anybody:"
        f" {alone['busy']:.0%} and {beside['busy']:.0%}"
    )


def main() -> None:
    """Soak, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--rate", type=int, default=120, help="of `midpoint serve`; 0: bad requests are not delayed"
    )
    chosen = parser.parse_args()
    console = Console(stderr=True)
    warn_if_busy(console)
    begin: Figures = {"conditions": conditions(), "rate": chosen.rate}
    with tempfile.TemporaryDirectory(prefix="midpoint-bench-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        for seen in soak(directory, chosen.minutes, chosen.rate):
            kept = begin | seen
            path = written(kept)
            console.print(f"{kept['minutes']} minutes: {kept['said']}")
    print(f"\n{kept['said']}")
    console.print(f"Figures are in {path}")


def written(kept: Figures) -> Path:
    """Keep what was seen so far: a run that ends early has seen it, too."""
    both = list(kept["by_kind"].values())
    kept["p99_ratio"] = both[1]["p99_ms"] / both[0]["p99_ms"]
    kept["said"] = said(kept)
    rows = [
        ["honest requests answered", *(f"{w['honest_requests']:,}" for w in both)],
        ["costly requests, all valid", *(f"{sum(w['costly_requests'].values()):,}" for w in both)],
        ["bad requests", *(f"{sum(w['bad_requests'].values()):,}" for w in both)],
        ["p50, ms", *(f"{w['p50_ms']:.1f}" for w in both)],
        ["p99, ms", *(f"{w['p99_ms']:.1f}" for w in both)],
        *(
            [f"p99, ms, killed: {s}", *(f"{w['p99_ms_by_kill'][s]:.1f}" for w in both)]
            for s in both[0]["p99_ms_by_kill"]
        ),
        ["answers of 5xx but 503", *(f"{w['failed']:,}" for w in both)],
    ]
    forget_tables()
    show(f"{kept['minutes']} minutes on PostgreSQL, with kills", ["", *KINDS], rows)
    return write_results("service_soak", kept)


if __name__ == "__main__":
    main()
