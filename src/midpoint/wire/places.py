"""Where people lie, by category: what a device needs to find its counterparts.

A place is z = (t, x): t, habits and tastes, says what a person rates, x, tastes, how. In
category k places are N(mean_k, precision_k^-1), and who lies at z there lies, among the people of
category m, at her counterpart mean_m + map_km (z - mean_k).
"""

from midpoint.wire.message import Integer, Part, fault
from midpoint.wire.refusal import Refusal

Row = tuple[Integer, ...]
Square = tuple[Row, ...]
STEPS = 8
"""Newton steps from the mean of her category to the mode of a person's place."""
LONGEST_STEP = 2.0
"""The most by which such a step changes a coordinate: longer ones overshoot, and some never end."""
MOST_LOGIT = 32
"""Log odds of rating an item, and what one habit adds to them, are at most this."""
FARTHEST_PLACE = 64
"""Most that a coordinate of a place, or an entry of a map between categories, can be."""
MOST_DIMENSIONS = 64
"""Most habits and tastes together."""
MOST_NUMBERS = 2**20
"""Most numbers of all maps together: sixteen categories with sixty-four dimensions."""


class Law(Part):
    """The law of places of K categories in D dimensions, in fixed point (2^16 is one)."""

    mean: tuple[Row, ...]
    """Mean place of each category. Shape (K, D)."""
    precision: tuple[Square, ...]
    """Inverse of the covariance of its places. Shape (K, D, D)."""
    map: tuple[tuple[Square, ...], ...]
    """How the places of one category are carried to another's. Shape (K, K, D, D)."""
    noise: Integer
    """Variance of a rating around base + <taste, x>."""

    def require_shape(self, cells: int, dimensions: int) -> None:
        """Refuse a law of other than K categories and D dimensions."""
        fitting = 1 <= dimensions <= MOST_DIMENSIONS
        if not fitting or (cells * dimensions) ** 2 > MOST_NUMBERS:
            raise fault(Refusal.WRONG_SHAPE, "there are no dimensions of places, or too many")
        squares = [self.precision, *self.map]
        right = (
            len(self.mean) == len(self.map) == cells
            and all(len(square) == cells for square in squares)
            and {len(row) for row in self.mean} == {dimensions}
            and all(_is_square(matrix, dimensions) for square in squares for matrix in square)
        )
        if not right:
            raise fault(Refusal.WRONG_SHAPE, "the law of places has not the shape of the columns")


def _is_square(matrix: Square, size: int) -> bool:
    return len(matrix) == size and {len(row) for row in matrix} == {size}
