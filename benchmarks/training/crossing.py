"""What figures of engines at several sizes say: their pace, their memory, and where they cross."""

from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

Points = list[dict[str, Any]]


class Pace(NamedTuple):
    """Seconds that a fit takes: start + each * ratings."""

    start: float
    """Seconds before the first rating: imports, a JVM, compiling."""
    each: float
    """Seconds that a rating adds."""


def times(points: Points, engine: str) -> dict[int, float]:
    """Return an engine's seconds alone by the number of ratings, where it came to an end."""
    own = [p for p in points if p["engine"] == engine and "alone_seconds" in p]
    return {p["ratings"]: p["alone_seconds"] for p in own}


def crossing(points: Points, slow: str, fast: str) -> float | None:
    """Return the ratings from which on `fast` takes no longer than `slow`, as measured.

    Infinite if that is so at none of the sizes, or not at the last; None if they were not compared.
    """
    of_slow, of_fast = times(points, slow), times(points, fast)
    gap = [(n, np.log(of_fast[n] / of_slow[n])) for n in sorted(of_slow.keys() & of_fast.keys())]
    if not gap:
        return None
    slower = [k for k, (_, difference) in enumerate(gap) if difference > 0]
    if not slower:
        return float(gap[0][0])
    if slower[-1] == len(gap) - 1:
        return inf
    (n, above), (m, below) = gap[slower[-1] : slower[-1] + 2]
    return float(np.exp(np.interp(0, [below, above], np.log([m, n]))))


def pace(points: Points, engine: str) -> Pace | None:
    """Fit start and slope to an engine's times by least squares of relative errors."""
    measured = times(points, engine)
    if len(measured) < 2:
        return None
    ratings, seconds = (np.array(part, np.float64) for part in zip(*measured.items(), strict=True))
    design = np.column_stack([np.ones_like(ratings), ratings]) / seconds[:, None]
    (start, each), *_ = np.linalg.lstsq(design, np.ones_like(seconds), rcond=None)
    return Pace(float(start), float(each))


def machines_to_keep_pace(local: Pace, cluster: Pace) -> int:
    """Return how many such machines take as long for a rating as one does in memory.

    It supposes that a cluster's pace grows with its machines, which is the best it can do.
    """
    return max(1, ceil(cluster.each / local.each))


def crossing_on(machines: int, local: Pace, cluster: Pace) -> float:
    """Return the ratings from which on so many machines are faster than one, extrapolated.

        start_c + each_c n / machines = start_l + each_l n

    Infinite where more ratings never make up for the start.
    """
    gain = local.each - cluster.each / machines
    return max(0.0, (cluster.start - local.start) / gain) if gain > 0 else inf


def bytes_a_rating(points: Points, engine: str) -> float | None:
    """Return what the last doubling or more of ratings added to an engine's memory, for each."""
    own = [p for p in points if p["engine"] == engine and "peak_own_megabytes" in p]
    if len(own) < 2:
        return None
    a, b = sorted(own, key=lambda point: int(point["ratings"]))[-2:]
    return float(
        (b["peak_own_megabytes"] - a["peak_own_megabytes"]) * 2**20 / (b["ratings"] - a["ratings"])
    )
