"""Do the tasks of an audit, in this process or in several, and say how far it has come."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from midpoint.audit.run.processes import Progress, worked_on, workers
from midpoint.audit.run.tasks.auditor import Auditor
from midpoint.audit.run.tasks.units import Task, Unit
from midpoint.errors import MidpointError

POLL = 0.5
"""Seconds between two looks at what other processes have stored."""


def run_all(auditor: Auditor, jobs: int, progress: Callable[[Progress], None] | None) -> None:
    """Do all that is missing, in this process or in several others."""
    if jobs < 1:
        raise MidpointError(f"jobs must be at least 1: got {jobs}")
    meter = Meter(auditor, jobs, progress)
    meter.look()
    if jobs == 1:
        for fold in range(auditor.plan.folds):
            for unit in auditor.tasks.every(fold):
                for _ in auditor.run(unit):
                    meter.look()
    elif meter.missing:
        _spread(auditor, jobs, meter)


class Meter:
    """Looks at what is stored, and reports how far the audit has come."""

    def __init__(
        self, auditor: Auditor, jobs: int, progress: Callable[[Progress], None] | None
    ) -> None:
        folds = range(auditor.plan.folds)
        units = [unit for fold in folds for unit in auditor.tasks.every(fold)]
        every = [task for unit in units for task in auditor.tasks.of(unit)]
        self._store, self._jobs, self._progress = auditor.store, jobs, progress
        self._total = len(every)
        self._seconds: dict[str, list[float]] = {}
        self.missing: list[Task] = every

    def look(self) -> None:
        """Count what is new, and report."""
        new = [task for task in self.missing if self._store.has(task.fold, *task.names)]
        for task in new:
            stored = self._store.load(task.fold, *task.names)
            took = float(stored["wall_seconds"]) + float(stored["shared_wall_seconds"])
            self._seconds.setdefault(task.kind, []).append(took)
        there = set(new)
        self.missing = [task for task in self.missing if task not in there]
        if self._progress:
            done = self._total - len(self.missing)
            self._progress(Progress(done, self._total, self._left()))

    def _left(self) -> float | None:
        """Expect of each task what others of its kind took, or all others."""
        if not self._seconds:
            return None
        means = {kind: sum(took) / len(took) for kind, took in self._seconds.items()}
        overall = sum(means.values()) / len(means)
        return sum(means.get(task.kind, overall) for task in self.missing) / self._jobs


def _work(unit: Unit) -> Unit:
    auditor: Auditor = worked_on()
    for _ in auditor.run(unit):
        pass
    return unit


def _spread(auditor: Auditor, jobs: int, meter: Meter) -> None:
    """Share units among processes; a fold's units wait for the profiles that they need."""
    first = [unit for fold in range(auditor.plan.folds) for unit in auditor.tasks.first(fold)]
    with workers(jobs, auditor) as pool:
        waiting: set[Future[Unit]] = {pool.submit(_work, unit) for unit in first}
        while waiting:
            done, waiting = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
            for unit in _results(done):
                if unit.kind == "learn":
                    waiting |= {
                        pool.submit(_work, later)
                        for later in auditor.tasks.after(unit)
                        if auditor.missing(later)
                    }
            meter.look()


def _results(done: Iterable[Future[Unit]]) -> Iterator[Unit]:
    for future in done:
        yield future.result()
