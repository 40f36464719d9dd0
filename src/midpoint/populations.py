"""A whole population at once, as a library call."""

from midpoint.analyst.analyst import Analyst
from midpoint.cli.protecting import protect
from midpoint.data import Ratings
from midpoint.wire import Disclosure


def obfuscate(
    ratings: Ratings,
    disclosure: Disclosure | Analyst,
    *,
    seed: int | None = None,
    alpha: float = 1.0,
) -> Ratings:
    """Return a copy of a data set as its people's devices would report it.

    Args:
        ratings: The ratings, with the private features of their people. Who has no known category
            is left out, and so are items that were not disclosed.
        disclosure: What to obfuscate by, or the analyst that disclosed it.
        seed: Decides every coin; the system's secure randomness unless given.
        alpha: Share of ratings that are obfuscated at all; below 1 for experiments only.
    """
    shown = disclosure.disclosure if isinstance(disclosure, Analyst) else disclosure
    copy, _ = protect(ratings, shown, alpha=alpha, seed=seed)
    return copy
