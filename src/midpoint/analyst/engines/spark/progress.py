"""Progress of the running Spark job."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from pyspark import SparkContext, StatusTracker

EVERY = 1.0
"""Seconds between two looks."""


@contextmanager
def followed(
    context: SparkContext,
    tell: Callable[[float], None],
    *,
    least: int = 1,
    every: float = EVERY,
) -> Iterator[None]:
    """Tell, every so often, which share of its tasks the job at work has done.

    Args:
        context: Where jobs run.
        tell: Hears a number from 0 to 1, on a thread of its own; a new job begins at 0 again.
        least: Stages of a job that is worth telling of; smaller ones are passed over.
        every: Seconds between two looks.
    """
    over = Event()

    def look() -> None:
        tracker = context.statusTracker()
        while not over.wait(every):
            share = share_done(tracker, least)
            if share is not None:
                tell(share)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def share_done(tracker: StatusTracker, least: int = 1) -> float | None:
    """Return the share of its tasks that the newest job of so many stages has done, if any."""
    for job in reversed(tracker.getActiveJobsIds()):
        known = tracker.getJobInfo(job)
        stages = [tracker.getStageInfo(stage) for stage in (known.stageIds if known else ())]
        counts = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage]
        total = sum(tasks for _, tasks in counts)
        if total and len(stages) >= least:
            return sum(done for done, _ in counts) / total
    return None
