"""What every attacker is to the audit."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.view import View

Float = NDArray[np.float64]
Labels = NDArray[np.integer]


class Attacker(Protocol):
    """Guesses a private category from what the analyst sees.

    To add one, write a class with these members and pass it to the audit. All that it chooses, its
    sign included, it chooses in `fit`; equal seeds give equal scores.
    """

    name: str
    """What it is called in reports."""
    adaptive: bool
    """Whether it is fitted on obfuscated views, or, as in the paper, on clean ratings."""
    control: str
    """The scheme that it must be able to read, or its failing elsewhere proves nothing."""

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:
        """Learn from people whose category is known.

        Args:
            views: Views of the same people, one for each draw of the coins.
            category: 1 for those to be found, 0 for the others. Shape (people,).
            seed: Decides everything that is left to chance.
        """

    def score(self, view: View) -> Float:
        """Score people whose category is not known; more is likelier 1. Shape (people,)."""
