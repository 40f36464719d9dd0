"""People whose taste decides what they rate, more or less."""

import numpy as np

from midpoint.data import Ratings, Scale

PEOPLE, ITEMS, TASTES = 1500, 120, 3


def people_who_choose(strength: float, items: int = ITEMS, logit: float = -1.5) -> Ratings:
    """Draw ratings of items that people choose by taste, more or less; `logit` is how often."""
    draws = np.random.default_rng(5)
    x, v = draws.standard_normal((PEOPLE, TASTES)), draws.standard_normal((items, TASTES))
    wanted = logit + strength * (x @ v.T) / TASTES**0.5
    chosen = draws.random(wanted.shape) < 1 / (1 + np.exp(-wanted))
    user, item = np.nonzero(chosen)
    value = 3 + 0.6 * (x @ v.T)[user, item] + draws.standard_normal(len(user))
    names = [f"p{i:04}" for i in user], [f"i{j:03}" for j in item]
    return Ratings.from_columns(*names, np.rint(np.clip(value, 1, 5)), scale=Scale.stars(1, 5))
