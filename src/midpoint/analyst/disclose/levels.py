"""Level tables: each category's distribution over the levels."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import CategoryEstimates, frequencies
from midpoint.analyst.categories.shrinkage import shrink_distributions
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.errors import MidpointError

Float = NDArray[np.float64]


def level_table(profiles: ItemProfiles, estimates: CategoryEstimates, *, spread: bool) -> Float:
    """Return each category's distribution over the levels. Shape (M, K, L).

    It is of all ratings as they are, moved or not (docs/decisions/0011); where spreads are carried
    over, of ratings whose residuals were scaled. Else the spread would be taken off twice.
    """
    statistics = estimates.statistics
    if estimates.levels is None or statistics.level_values is None:
        raise MidpointError("level distributions need a discrete scale; choose another scheme")
    if not spread:
        return estimates.levels
    count = None if profiles.positions is None else profiles.positions.level_count
    if count is None:
        raise MidpointError(
            "the model has no log spreads, which spread=on discloses; train it again with --spread"
            ' (midpoint.analyst.train, scheme="cmpss:spread=on")'
        )
    if estimates.method == "plain":
        return frequencies(count)
    return shrink_distributions(
        count, statistics.level_values, estimates.offset, statistics.crossed
    )
