"""Memory of a process and all its children, read from outside (Linux)."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

EVERY = 0.2
"""Seconds between two looks."""


class Watch:
    """Looks at the memory of a process and all its children every so often."""

    def __init__(self, pid: int) -> None:
        self.peak = self.peak_own = 0.0
        self._pid, self._over = pid, Event()
        self._thread = Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the last look."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(EVERY):
            peaks = [memory(pid) for pid in family(self._pid)]
            self.peak = max(self.peak, sum(total for total, _ in peaks))
            self.peak_own = max(self.peak_own, sum(own for _, own in peaks))


def family(pid: int) -> Iterator[int]:
    """Go through a process and its children, theirs included."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def memory(pid: int) -> tuple[float, float]:
    """Return megabytes that are resident, and those of them that are no file's pages."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0, 0.0
    sizes = {
        line.split(":")[0]: line.split()[1]
        for line in lines
        if line.startswith(("VmRSS", "RssAnon"))
    }
    return int(sizes.get("VmRSS", 0)) / 1024, int(sizes.get("RssAnon", 0)) / 1024
