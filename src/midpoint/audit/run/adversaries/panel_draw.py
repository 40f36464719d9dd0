"""Who of the people outside a fold volunteers for the panel, and who is a labelled outsider."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.run.plan import Plan
from midpoint.data import Ratings
from midpoint.errors import MidpointError

Mask = NDArray[np.bool_]
HEAVY: Final = "heavy"
"""People volunteer in proportion to how many ratings they gave."""
LIKELIER: Final = 5.0
"""How much likelier people of a named category volunteer than others."""


class Drawn(NamedTuple):
    """Panel and outsiders, of everyone outside a fold."""

    panel: Mask
    """Whom the disclosure is made of. Shape (people,)."""
    outsiders: Mask
    """Labelled people outside the panel. Shape (people,)."""


def sizes(plan: Plan, training: int) -> tuple[int, int]:
    """Return how many of so many training people are the panel, and how many are outsiders.

    Shares up to 1 are of the training people. The panel is all who are no outsiders if none is
    given, or if its share is 1.
    """

    def count(wanted: float) -> int:
        return round(wanted * training) if wanted <= 1 else round(wanted)

    outsiders = count(plan.outsiders)
    everyone = plan.panel is None or plan.panel == 1
    return training - outsiders if everyone else count(plan.panel or 1), outsiders


def draw_panel(people: Ratings, plan: Plan, fold: int) -> Drawn:
    """Draw panel and outsiders.

    Outsiders are like everyone. So is the panel, unless the plan says who volunteers: a person of
    weight w is then taken before one of weight v with probability w / (w + v).
    """
    category = people.feature(*plan.feature).codes
    rng = np.random.default_rng(plan.seed_of("outsiders", fold))
    order = _evenly(category, rng)
    panel, outsiders = sizes(plan, len(order))
    outside = order[len(order) - outsiders :]
    if plan.volunteers:
        race = rng.exponential(size=len(order)) / eagerness(people, plan.volunteers)
        race[outside] = np.inf
        order = np.argsort(race, kind="stable")
    chosen = np.zeros((2, len(order)), np.bool_)
    chosen[0, order[:panel]] = chosen[1, outside] = True
    return Drawn(*chosen)


def eagerness(people: Ratings, volunteers: str) -> NDArray[np.float64]:
    """Return how likely people are to volunteer, up to a factor. Shape (people,)."""
    if volunteers == HEAVY:
        return np.maximum(np.diff(people.user_offsets), 1).astype(np.float64)
    name, _, category = volunteers.partition("=")
    known = people.features.get(name)
    if known is None or category not in known.categories:
        have = [f"{n}={c}" for n, one in people.features.items() for c in one.categories]
        raise MidpointError(
            f"nobody can volunteer as {volunteers!r}; write {HEAVY}, or one of"
            f" {', '.join(have[:12])}"
        )
    return np.where(known.codes == known.categories.index(category), LIKELIER, 1.0)


def _evenly(category: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.intp]:
    """Put people in random order, each category spread evenly. Shape (people,)."""
    shuffled = rng.permutation(len(category))
    at = np.empty(len(category))
    for k in np.unique(category):
        own = shuffled[category[shuffled] == k]
        at[own] = (np.arange(len(own)) + 0.5) / len(own)
    return np.argsort(at, kind="stable")
