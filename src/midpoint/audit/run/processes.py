"""Several processes that work on one thing, how far they have come, and how they end."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from midpoint.analyst.kernels.compilation import use_cores
from midpoint.errors import MidpointError
from midpoint.progress import shown


@dataclass(frozen=True)
class Progress:
    """How far an audit has come."""

    done: int
    """Results that are there."""
    total: int
    """Results that will be there."""
    seconds_left: float | None
    """How long the rest will take by what was seen so far; None before anything was."""


@contextmanager
def reported(
    progress: Callable[[Progress], None] | bool | None,  # noqa: FBT001 - passed on
) -> Iterator[Callable[[Progress], None]]:
    """Yield what is called after each result: the caller's own, or what moves a bar."""
    if callable(progress):
        yield progress
        return
    with shown("Auditing", progress) as report:
        yield lambda state: report(state.done, state.total)


@contextmanager
def workers(jobs: int, thing: Any) -> Iterator[ProcessPoolExecutor]:
    """Start processes of one thread that each have a copy of a thing to work on (`worked_on`)."""
    spawn = multiprocessing.get_context("spawn")  # compiled kernels and fork do not mix
    pool = ProcessPoolExecutor(jobs, spawn, initializer=_start, initargs=(thing,))
    try:
        yield pool
    except BrokenProcessPool as error:
        raise MidpointError(
            "a process of the audit was ended from outside, often for want of memory; run it"
            " again, with fewer jobs, to go on where it was"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def worked_on() -> Any:
    """Return, in a process that `workers` started, what it works on."""
    return _thing[0]


_thing: list[Any] = []


def _start(thing: Any) -> None:
    use_cores(1)
    _thing[:] = [thing]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Do not outlive a killed audit: nobody would give this process work, or end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
