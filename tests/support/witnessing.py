"""Witnesses for tests: one that runs, with a clock of its own, and statements without one."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from midpoint.analyst.disclose.witness import WitnessFiles
from midpoint.analyst.service.server import Address, configured, listening
from midpoint.analyst.service.witness import Witness
from midpoint.wire import Entry, Signed, SigningKey, WitnessStatement

HOUR = 3600
DAY = 24 * HOUR
OBSERVER = SigningKey(bytes(range(64, 96)))


def stated(entries: Sequence[Entry], *seen: int, time: int) -> WitnessStatement:
    """Return a witness's statement about the first entries of a list, seen at these times."""
    return WitnessStatement(
        entries=tuple(entry.digest for entry in entries[: len(seen)]),
        seen=seen,
        time=time,
        key=OBSERVER.public,
    )


def sealed_statement(statement: WitnessStatement, key: SigningKey = OBSERVER) -> Signed:
    """Sign it."""
    return Signed.seal(statement, key)


@dataclass
class Clock:
    """A clock that stands still until a test moves it."""

    now: float

    def __call__(self) -> float:
        return self.now


@dataclass
class RunningWitness:
    """A real witness in this process, whose looks and clock the test decides."""

    witness: Witness
    clock: Clock
    address: str = ""

    def look(self, after: float = 0) -> WitnessStatement:
        """Let so many seconds pass, then look at the list."""
        self.clock.now += after
        with ThreadPoolExecutor(max_workers=1) as thread:  # a browser's loop may run in this one
            return thread.submit(lambda: asyncio.run(self.witness.look())).result()


@contextmanager
def running_witness(service: str, root: Path) -> Iterator[RunningWitness]:
    """Serve a witness on a port that the system chooses; it looks when a test says so."""
    clock = Clock(time.time())
    witness = Witness(service, WitnessFiles(root), every=1e6, clock=clock)
    made = RunningWitness(witness, clock)
    made.look()
    server = uvicorn.Server(configured(witness.app(), Address(port=0)))
    with listening(Address(port=0)) as (opened, url):
        thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        made.address = url
        try:
            yield made
        finally:
            server.should_exit = True
            thread.join()
