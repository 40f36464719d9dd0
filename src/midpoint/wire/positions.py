"""Where people lie, by category: what a device needs to find its counterparts.

A place is z = (t, x): t, selection and taste factors, says what a person rates, x, tastes, how.
People are told apart by how much they rate, too, into strata, each of which holds about the same
share of every category. In a stratum places of category k are N(mean_k, precision_k^-1), and who
lies at z there lies, among the people of category m, at her counterpart mean_m + map_km (z -
mean_k).
"""

from midpoint.wire.message import Integer, Part, fault
from midpoint.wire.refusal import Refusal

Row = tuple[Integer, ...]
Square = tuple[Row, ...]
STEPS = 8
"""Newton steps from the mean of her category to the mode of a person's place."""
LONGEST_STEP = 2.0
"""The most by which such a step changes a coordinate: longer ones overshoot, and some never end."""
DAMPING = 8
"""Titles more that were rated, and were to be expected: by a handful nobody's activity is known."""
MOST_LOGIT = 32
"""Log odds of rating an item, and what one selection factor adds to them, are at most this."""
FARTHEST_POSITION = 64
"""Most that a coordinate of a place, or an entry of a map between categories, can be."""
LEAST_PRECISION, MOST_PRECISION = 2**-6, 2**14
"""Least precision of positions in any direction, and the greatest entry."""
MOST_ACTIVITY = 2**40
"""The least activity of a stratum is at most this, in 1/256."""
QUIETEST = 64
"""The noise of a rating deviates by at least the scale's range over this, or steps fail."""
MOST_DIMENSIONS = 64
"""Most selection and taste factors together."""
MOST_STRATA = 4
"""Most strata of activity."""
MOST_NUMBERS = 2**20
"""Most numbers of all maps together: one stratum, sixteen categories, sixty-four dimensions."""


class Prior(Part):
    """The prior of positions of G strata and K categories in D dimensions, in fixed point (2^16 is one).

    Activity is how many of the items asked about were rated, over how many her category rates of
    them at selection factors of 0, both plus `DAMPING`.
    """

    least: tuple[Row, ...]
    """Least activity of each stratum, by category, in 1/256; ascending from 0. Shape (G, K)."""
    mean: tuple[tuple[Row, ...], ...]
    """Mean place of each category. Shape (G, K, D)."""
    precision: tuple[tuple[Square, ...], ...]
    """Inverse of the covariance of its places. Shape (G, K, D, D)."""
    map: tuple[tuple[tuple[Square, ...], ...], ...]
    """How the places of one category are carried to another's. Shape (G, K, K, D, D)."""
    noise: Integer
    """Variance of a rating around base + <taste, x>."""

    def require_shape(self, cells: int, dimensions: int) -> None:
        """Refuse a law of other than K categories and D dimensions."""
        strata = len(self.least)
        fitting = 1 <= dimensions <= MOST_DIMENSIONS and 1 <= strata <= MOST_STRATA
        if not fitting or strata * (cells * dimensions) ** 2 > MOST_NUMBERS:
            raise fault(
                Refusal.WRONG_SHAPE, "there are no dimensions or strata of places, or too many"
            )
        rows = [row for rows in self.mean for row in rows]
        squares = [*self.precision, *(square for maps in self.map for square in maps)]
        right = (
            len(self.mean) == len(self.precision) == len(self.map) == strata
            and all(len(part) == cells for part in (*self.least, *self.mean, *self.map, *squares))
            and {len(row) for row in rows} == {dimensions}
            and all(_is_square(matrix, dimensions) for square in squares for matrix in square)
        )
        if not right:
            raise fault(
                Refusal.WRONG_SHAPE, "the prior of positions has not the shape of the columns"
            )


def _is_square(matrix: Square, size: int) -> bool:
    return len(matrix) == size and {len(row) for row in matrix} == {size}
