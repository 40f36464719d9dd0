"""Which ratings cannot be meant: slips of the pen, and codes for no answer among the levels."""

from collections.abc import Callable
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError

RARE = 0.01
"""Up to this share of the ratings, those between the levels of all others are mistakes."""
STEPS = (1.0, 0.5, 0.25, 0.2, 0.1)
"""Steps that levels are looked for in, the coarsest first."""
EXPECTED = log(100)
"""A level in which so many ratings are expected is empty by chance once in 100 tables."""
RUN = range(4, 21)
"""How many levels in a row are judged. Fewer show too little; on a finer scale people keep to round
numbers, and leave out others."""
CODES = 2
"""At most so many levels on a side are codes, such as 8 and 9. More are a scale with holes."""
FROM_ONE = (5, 7, 10)
"""Where scales of whole numbers from 1 usually end; beside those, 0 may be a code."""
FALL = 10
"""A rare 0 is a code where the next level has more than so many times its ratings."""


class Values(NamedTuple):
    """Ratings, and how many there are of each value."""

    rows: NDArray[Any]
    """The ratings as they stand in the table, blanks included."""
    seen: NDArray[np.float32]
    """The distinct values, ascending."""
    often: NDArray[np.int64]
    """How many ratings there are of each."""
    locate: Callable[[int], str]
    """Says for the index of a row which file and line it is from."""

    @property
    def total(self) -> int:
        """How many ratings there are."""
        return int(self.often.sum())

    def refuse(self, wrong: NDArray[np.bool_], what: str, scale: str) -> MidpointError:
        """Name the first row of wrong values, how many there are, and the option that decides."""
        row = int(np.argmax(np.isin(self.rows.astype(np.float32), self.seen[wrong])))
        count = int(self.often[wrong].sum())
        return MidpointError(
            f"{self.locate(row)}: rating {self.rows[row]:g} {what.format(count, self.total)};"
            f" correct or remove {'it' if count == 1 else 'them'}, or name the scale if it is"
            f" meant: {scale}"
        )


def require_plausible(values: Values) -> None:
    """Refuse ratings that are no part of the scale that all others are on."""
    _require_together(values)
    _require_common_step(values)
    _require_no_codes(values)


def step_of(seen: NDArray[np.float32]) -> float | None:
    """Return the coarsest step of which all values are multiples; None if there is none."""
    for step in STEPS:
        if np.all((np.round(seen.astype(np.float64) / step) * step).astype(np.float32) == seen):
            return step
    return None


def _require_together(values: Values) -> None:
    """Refuse ratings that lie apart: the widest gap is wider than the range of most ratings."""
    seen, often = values.seen, values.often
    gaps = np.diff(seen.astype(np.float64))
    widest = int(np.argmax(gaps))
    below = np.arange(len(seen)) <= widest
    usual = below if 2 * int(often[below].sum()) >= values.total else ~below
    low, high = float(seen[usual][0]), float(seen[usual][-1])
    if usual.sum() < 3 or gaps[widest] <= high - low:
        return
    raise values.refuse(
        ~usual,
        f"is far from the others, which go from {low:g} to {high:g}"
        " ({} of {} ratings lie so far off)",
        named(seen),
    )


def _require_common_step(values: Values) -> None:
    """Refuse a few ratings between the levels of all others, such as 3.7 among whole stars.

    Half steps pass: half stars may be rare. Where many ratings are off the whole numbers, they are
    taken as they come.
    """
    off = values.seen * 2 != np.round(values.seen * 2)
    levels = values.seen[~off]
    if not off.any() or values.often[off].sum() > RARE * values.total or len(levels) < 3:
        return
    raise values.refuse(
        off,
        "lies between the levels of the others ({} of {} ratings do)",
        f"--scale {levels[0]:g}:{levels[-1]:g}:0.1",
    )


def _require_no_codes(values: Values) -> None:
    """Refuse codes for no answer, such as -1 or 7 beside levels from 1 to 5.

    Scales are used without holes. Say e ratings are at the end of the longest row of levels, and a
    at the nearest level apart from it. Then about sqrt(e a) would be at a level between them: what
    many people use falls evenly from level to level, on a scale of logarithms. No rating is there
    with probability exp(-sqrt(e a)), if by chance. Below 1 %, the level apart is a code. So small
    tables, where levels are unused by chance, pass. So do fine scales, rows of few levels, and
    scales with holes: those with more than two levels on a side of the longest row.

    A 0 beside 1 to 5, 7 or 10 leaves no hole. It is a code if it is rare and the next level is not,
    or if most ratings are 0, as in a matrix that was filled up with it.
    """
    step = step_of(values.seen)
    if step is None:
        return
    number = np.round(values.seen.astype(np.float64) / step).astype(np.int64)
    runs = np.split(np.arange(len(number)), np.flatnonzero(np.diff(number) > 1) + 1)
    run = max(runs, key=len)
    first, last = int(run[0]), int(run[-1])
    if len(run) not in RUN or max(first, len(number) - 1 - last) > CODES:
        return
    wrong = np.zeros(len(number), np.bool_)
    sides = (first, np.arange(first)[::-1]), (last, np.arange(last + 1, len(number)))
    for end, apart in sides:
        if len(apart):
            between = sqrt(float(values.often[end]) * float(values.often[apart[0]]))
            wrong[apart] = between >= EXPECTED
    if _is_filled_up(values, first, last, step):
        wrong[first] = True
    if not wrong.any():
        return
    usual = values.seen[run[~wrong[run]]]
    raise values.refuse(
        wrong,
        f"stands apart from the levels {usual[0]:g} to {usual[-1]:g}, as a code for no answer does"
        " ({} of {} ratings do)",
        named(values.seen, step),
    )


def _is_filled_up(values: Values, first: int, last: int, step: float) -> bool:
    """Whether 0 stands for no answer before levels from 1; see `_require_no_codes`."""
    if step != 1 or values.seen[first] != 0 or values.seen[last] not in FROM_ONE:
        return False
    zeros, ones = int(values.often[first]), int(values.often[first + 1])
    rare = zeros <= RARE * values.total and FALL * zeros < ones
    return rare or 2 * zeros > values.total


def named(seen: NDArray[np.float32], step: float = 1.0) -> str:
    """Return the option, and what to write in Python, for a scale of all these values."""
    ends = [f"{seen[0]:g}", f"{seen[-1]:g}", *([] if step == 1 else [f"{step:g}"])]
    return f"--scale {':'.join(ends)}, in Python scale=Scale.stars({', '.join(ends)})"
