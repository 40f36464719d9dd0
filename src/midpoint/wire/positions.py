"""The prior of positions, by category: what a device needs to find its counterparts.

A position is z = (t, x): the selection factors t say what a person rates, the taste factors x how.
Strata of activity hold light and heavy raters, each about the same share of every category. In a
stratum the positions of category k are N(mean_k, precision_k^-1). The counterpart in category m of
a person of category k at z is at mean_m + map_km (z - mean_k).
"""

from midpoint.wire.message import Integer, Part, fault
from midpoint.wire.refusal import Refusal

Row = tuple[Integer, ...]
Square = tuple[Row, ...]
STEPS = 8
"""Newton steps from the mean of her category to the mode of a person's position."""
MOST_CHANGE = 5.0
"""The most by which such a step changes the log odds of an item: longer ones overshoot, and some
never end. Cut coordinate by coordinate instead, heavy raters did not arrive."""
DAMPING = 8
"""Added to items rated and to items expected: a handful of items does not show an activity."""
SUREST = 30.0
"""Log odds are cut to this size before they become probabilities."""
MOST_LOGIT = 32
"""Log odds of rating an item, and what one selection factor adds to them, are at most this."""
FARTHEST_POSITION = 64
"""Most that a coordinate of a position, or an entry of a map between categories, can be."""
LEAST_PRECISION, MOST_PRECISION = 2**-6, 2**14
"""Least precision of positions in any direction, and the greatest entry."""
MOST_ACTIVITY = 2**40
"""The least activity of a stratum is at most this, in 1/256."""
QUIETEST = 64
"""The noise of a rating deviates by at least the scale's range over this, or steps fail."""
MOST_DIMENSIONS = 64
"""Most selection and taste factors together."""
MOST_STRATA = 2
"""Most strata of activity: honest ones are two, and each more would let a false prior show more."""
MOST_LOG_SPREAD = 1 / 4
"""Categories' log spreads are at most this far apart, and so far a person's changes at most."""
FARTHEST_RESIDUAL = 2**36
"""Residuals are cut to this size, in fixed point, so that products stay exact."""
FARTHEST_LOG_SPREAD = 4
"""The most that a category's mean of log spreads can be."""
SPREAD_STEPS = 16
"""Newton steps from the mean of her category to the mode of a person's log spread."""
LONGEST_SPREAD_STEP = 2.0
"""The most by which such a step changes it."""
LEAST_DEVIATION, MOST_DEVIATION = 2**-6, 2.0
"""Standard deviations of log spreads in a category: the least and the greatest."""
MOST_WEIGHT = 8
"""Most that a person's own probability of an item counts in its score, of sets."""
MOST_NUMBERS = 2**20
"""Most numbers of all maps together: one stratum, sixteen categories, sixty-four dimensions."""


class Prior(Part):
    """The prior of positions: G strata, K categories, D dimensions; fixed point.

    Activity = (items rated + DAMPING) / (items expected + DAMPING), both of those asked about;
    expected is what her category rates of them at selection factors of 0.
    """

    least: tuple[Row, ...]
    """Least activity of each stratum, by category, in 1/256; ascending from 0. Shape (G, K)."""
    mean: tuple[tuple[Row, ...], ...]
    """Mean position of each category. Shape (G, K, D)."""
    precision: tuple[tuple[Square, ...], ...]
    """Inverse of the covariance of its positions. Shape (G, K, D, D)."""
    map: tuple[tuple[tuple[Square, ...], ...], ...]
    """How positions of one category are mapped to those of another. Shape (G, K, K, D, D)."""
    noise: Integer
    """Variance of a rating around base + <taste, x>."""
    spread: tuple[tuple[Row, ...], ...] | None = None
    """Mean and deviation of log spreads, where devices carry these over, too. Shape (G, K, 2).

    The spread of a person's residuals is exp(w) times the usual one, w normal in her category.
    """
    weight: Integer | None = None
    """On a unary scale: how much her own probability of an item counts beside its score."""

    def require_shape(self, cells: int, dimensions: int) -> None:
        """Refuse a prior of other than K categories and D dimensions."""
        strata = len(self.least)
        fitting = 1 <= dimensions <= MOST_DIMENSIONS and 1 <= strata <= MOST_STRATA
        if not fitting or strata * (cells * dimensions) ** 2 > MOST_NUMBERS:
            raise fault(Refusal.WRONG_SHAPE, "a prior has no dimensions or strata, or too many")
        rows = [row for rows in self.mean for row in rows]
        squares = [*self.precision, *(square for maps in self.map for square in maps)]
        right = (
            len(self.mean) == len(self.precision) == len(self.map) == strata
            and all(len(part) == cells for part in (*self.least, *self.mean, *self.map, *squares))
            and {len(row) for row in rows} == {dimensions}
            and all(_is_square(matrix, dimensions) for square in squares for matrix in square)
            and (self.spread is None or _is_table(self.spread, strata, cells))
        )
        if not right:
            raise fault(
                Refusal.WRONG_SHAPE, "the prior of positions has not the shape of the columns"
            )


def _is_square(matrix: Square, size: int) -> bool:
    return len(matrix) == size and {len(row) for row in matrix} == {size}


def _is_table(spread: tuple[tuple[Row, ...], ...], strata: int, cells: int) -> bool:
    """Tell whether there are a mean and a deviation for each stratum and category."""
    rows = [row for rows in spread for row in rows]
    sizes = len(spread) == strata and all(len(rows) == cells for rows in spread)
    return sizes and all(len(row) == 2 for row in rows)
