"""The time that tasks take."""

import time

import numpy as np
from numpy.typing import NDArray


class Clock:
    """Books time: what several tasks share apart from what each takes.

    Seconds of the processor say where the work is, however busy the machine was; those on the wall
    how long the rest will take.
    """

    def __init__(self) -> None:
        self._last = _now()
        self._shared = np.zeros(2)

    def prepared(self) -> None:
        """Book the time since the last result as shared."""
        now = _now()
        self._shared, self._last = self._shared + now - self._last, now

    def read(self) -> dict[str, float]:
        """Return the times since the last result, and start again."""
        now = _now()
        since, shared = now - self._last, self._shared
        self._last, self._shared = now, np.zeros(2)
        names = ("seconds", "wall_seconds", "shared_seconds", "shared_wall_seconds")
        return dict(zip(names, [*since.tolist(), *shared.tolist()], strict=True))


def _now() -> NDArray[np.float64]:
    return np.array([time.process_time(), time.perf_counter()])
