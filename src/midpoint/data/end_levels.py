"""Whether the ends of a scale are levels: a code for no answer beside them leaves no hole."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.data.plausibility import CODES, RUN, Values, named

EXPECTED = 8.0
"""Judged is an end that, if it were a level, would stand out by so many standard errors."""
SHOWN = 3.0
"""One that stands out by fewer is a code. A level would, with probability exp(-12)."""
LEFT = 3
"""How many levels the scale has at least without a code."""
SHRUNKEN = 5.0
"""Ratings at the mean that are added to those of a person or an item."""
MOST = 2_000_000
"""Ratings that are looked at, at most."""


def require_ends_are_levels(
    user: NDArray[Any], item: NDArray[Any], value: NDArray[Any], locate: Callable[[int], str]
) -> None:
    """Refuse a code that continues the levels, such as 8 for no answer beside 1 to 7.

    Somebody who rates high otherwise gives the last level more often, and so does everybody to an
    item that is rated high otherwise. Where people differ in how much of the scale they use, the
    last level also comes from those who keep away from the middle. A code goes by none of this. Say
    x is how far the other ratings of the person and of the item are from the mean, together, or how
    far their squares are. Then z is how far the mean of x at the end is from that of the others, in
    standard errors; the larger z of both counts. For a level z is at least about d sqrt(n), with n
    ratings at the end and d the same difference, in standard deviations, of the level beside it.
    Where that is large and z is small, the end is a code. Small tables and ratings without any
    structure pass, and so does a code that goes by persons or items as a level would.

    Args:
        user: Index of the user of each rating. Shape (n,).
        item: Index of the item of each. Shape (n,).
        value: The ratings. Shape (n,).
        locate: Says for the index of a rating which file and line it is from.
    """
    seen, often = np.unique(value.astype(np.float32), return_counts=True)
    count = len(seen)
    if count not in RUN:
        return
    values = Values(value, seen, often, locate)
    part = slice(None, None, max(1, len(value) // MOST))
    number = np.searchsorted(seen, value[part].astype(np.float32)).astype(np.float64)
    people = user[part], item[part]
    for width in range(1, CODES + 1):
        if count - width < LEFT:
            return
        level = np.arange(count)
        for outward, wrong in ((1, level >= count - width), (-1, level < width)):
            if _is_code(outward * number, wrong[number.astype(np.intp)], people):
                usual = seen[~wrong]
                raise values.refuse(
                    wrong,
                    "may be a code for no answer: people and items that are otherwise"
                    f" {'high' if outward > 0 else 'low'} on {usual[0]:g} to {usual[-1]:g}, or far"
                    " from the middle, have it no more often than others ({} of {} ratings are"
                    " such)",
                    named(seen),
                )


def _is_code(
    number: NDArray[np.float64], end: NDArray[np.bool_], people: tuple[NDArray[Any], NDArray[Any]]
) -> bool:
    """Whether ratings at the upper end do not go by who rates what; see above."""
    some = int(end.sum())
    others = len(end) - some
    if not some or not others:
        return False
    inner = ~end
    user, item = people
    beside = number[inner] == number[inner].max()
    usual = _effect(number[inner], beside, (user[inner], item[inner]))
    root = sqrt(some * others / len(end))
    return usual * root >= EXPECTED and _effect(number, end, people) * root < SHOWN


def _effect(
    number: NDArray[np.float64], end: NDArray[np.bool_], people: tuple[NDArray[Any], NDArray[Any]]
) -> float:
    """Return how far x is at the end above x of the others, in standard deviations."""
    rest = ~end
    if not end.any() or not rest.any():
        return 0.0
    apart = number - number[rest].mean()
    square = np.square(apart)
    effects = list[float]()
    for each in (apart, square - square[rest].mean()):
        x = np.zeros(len(number))
        for index in people:
            total, known = np.bincount(index, each * rest), np.bincount(index, rest)
            x += (total[index] - each * rest) / (known[index] - rest + SHRUNKEN)
        spread = float(x.std())
        effects.append(float(x[end].mean() - x[rest].mean()) / spread if spread > 1e-9 else 0.0)
    return max(effects)
