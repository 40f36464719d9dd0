"""How long a process would have taken alone, estimated while others are at work (Linux).

Every so often it is asked of the process and its children how much of the cores they got, g, and
how much they waited for one, w, as far as others had it meanwhile: threads that wait for each other
wait alone, too. Alone they would have gone on g + w instead of g, so that a second counts

    g / (g + w),

and a second in which they neither ran nor waited counts whole. Slower memory is not seen by this.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

from benchmarks.measuring.memory import family

EVERY = 0.5
"""Seconds between two looks."""
TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds that the system counts processor time by."""
IDLE = 0.02
"""Cores that a process may use and still count as at rest."""


@dataclass(frozen=True)
class Look:
    """What there is to see at one moment, in seconds since something began."""

    clock: float
    """By the clock."""
    own: float
    """Of the cores, used by the process and its children."""
    busy: float
    """Of the cores, used by anyone."""
    waited: dict[int, float]
    """Waited for a core, by thread of the process and its children."""


def counted(before: Look, after: Look) -> float:
    """Return what the seconds between two looks would have been without others."""
    seconds = after.clock - before.clock
    own = max(0.0, after.own - before.own)
    others = max(0.0, after.busy - before.busy - own)
    waited = sum(
        max(0.0, at - before.waited.get(thread, 0.0)) for thread, at in after.waited.items()
    )
    lost = min(others, waited)
    if own <= IDLE * seconds and lost <= IDLE * seconds:
        return seconds
    return seconds * own / (own + lost)


def look(pid: int) -> Look:
    """Look at a process and its children now."""
    processes = list(family(pid))
    own = sum(_used(process) for process in processes)
    waited = {thread: at for process in processes for thread, at in _waited(process)}
    return Look(perf_counter(), own, _busy(), waited)


def _used(process: int) -> float:
    """Return the seconds a process used, those of children that have ended included."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return TICK * sum(int(word) for word in fields[11:15])


def _waited(process: int) -> list[tuple[int, float]]:
    waited = []
    for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            waited.append((int(task.parent.name), int(task.read_text().split()[1]) / 1e9))
        except OSError:
            continue  # it has just ended
    return waited


def _busy() -> float:
    """Return the seconds that all cores were used; idle and waiting for a disk are not."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    return TICK * sum(int(word) for k, word in enumerate(words) if k not in {3, 4})


@dataclass
class Company:
    """Follows a process, and counts its seconds as if it had been alone."""

    pid: int
    """Whom to follow."""
    alone: float = 0.0
    """Seconds so far, without what others cost."""
    seconds: float = 0.0
    """Seconds so far, by the clock."""
    used: float = 0.0
    """Seconds of cores that it used so far."""
    _over: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the last look."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        before, over = look(self.pid), False
        while not over:
            over = self._over.wait(EVERY)
            now = look(self.pid)
            self.alone += counted(before, now)
            self.seconds += now.clock - before.clock
            self.used += max(0.0, now.own - before.own)
            before = now
