"""Obfuscation of whole populations: the one way in which many people's ratings are obfuscated."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.protocol.positions import adjust_population
from midpoint.user import Adjustment, Obfuscated, Parameters, obfuscate
from midpoint.wire import ValueMap

BLIND = (ValueMap.AS_IS, ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
"""Maps of values that do not ask for the category."""
BLOCK = 2**17
"""Ratings handled at a time, so that temporary arrays stay small."""


def obfuscate_population(
    starts: NDArray[np.integer],
    item: NDArray[np.intp],
    value: NDArray[np.int64],
    category: NDArray[np.integer],
    parameters: Parameters,
    uniform: NDArray[np.float64],
    alpha: float = 1.0,
    asked: Sequence[NDArray[np.intp]] | None = None,
    adjustment: Adjustment | None = None,
) -> Obfuscated:
    """Obfuscate everyone's ratings as their devices would.

    Args:
        starts: The ratings of person i are `starts[i]:starts[i + 1]`. Shape (N + 1,).
        item: The item of each rating, by index in the disclosure. Shape (n,).
        value: The ratings, in fixed point. Shape (n,).
        category: Category or joint cell of each person. Shape (N,).
        parameters: The disclosure, as arrays.
        uniform: Coins of each rating, in the order of `user.PURPOSES`. Shape (n, 4).
        alpha: Share of ratings to obfuscate.
        asked: The items that each person was asked about; all items unless given.
        adjustment: What `adjust_population` makes of these ratings, if it is known.
    """
    people = np.asarray(category, dtype=np.intp)
    cell = np.repeat(people, np.diff(starts))
    require_categories(cell, parameters)
    if adjustment is None:
        adjustment = adjust_population(parameters, starts, item, value, people, asked)
    return obfuscate_ratings(item, value, cell, parameters, uniform, adjustment, alpha)


def obfuscate_ratings(
    item: NDArray[np.intp],
    value: NDArray[np.int64],
    cell: NDArray[np.intp],
    parameters: Parameters,
    uniform: NDArray[np.float64],
    adjustment: Adjustment,
    alpha: float = 1.0,
) -> Obfuscated:
    """Do what `user.obfuscate` does to any number of ratings, some at a time."""
    keep = np.ones(len(item), dtype=np.bool_)
    reported = np.array(value, dtype=np.int64)
    for start in range(0, max(len(item), 1), BLOCK):  # once at least: it checks
        some = slice(start, start + BLOCK)
        rated = item[some], value[some], cell[some]
        done = obfuscate(*rated, parameters, uniform[some], adjustment.of(some), alpha)
        keep[some], reported[some] = done.keep, done.value
    return Obfuscated(keep, reported)


def require_categories(cell: NDArray[np.intp], parameters: Parameters) -> None:
    """Refuse people of unknown category: an index of -1 would make them the last one's."""
    if parameters.scheme.value_map in BLIND and not parameters.scheme.sub_samples:
        return
    wrong = (cell < 0) | (cell >= parameters.n_cells)
    if wrong.any():
        raise MidpointError(
            f"{int(wrong.sum())} ratings are of people whose category is not known;"
            " leave those people out"
        )
