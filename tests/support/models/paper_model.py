"""Six people whose ratings of one title can be worked out by hand, and a model of them.

Four women rate title `a` 4, 4, 2, 2 (mean 3, all of them); of four men two rate it 3 and 4 (mean
3.5, half of them). So v_a0 = 1/4 with x0 = +1 for men, rho_a = 1/2, and the average is 19/6.
Everybody rates title `b` 3.
"""

import numpy as np

from midpoint.analyst import ItemProfiles
from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.statistics import tally
from midpoint.analyst.fit.profiles import Provenance
from midpoint.data import Ratings, Scale

WOMAN, MAN = 0, 1
PENALTY = 0.05


def by_hand() -> Ratings:
    """Return the ratings."""
    women, men = ("w1", "w2", "w3", "w4"), ("m1", "m2", "m3", "m4")
    rated = dict(zip((*women, "m1", "m2"), (4, 4, 2, 2, 3, 4), strict=True))
    users = [*rated, *women, *men]
    items = ["a"] * len(rated) + ["b"] * 8
    gender = dict.fromkeys(women, "F") | dict.fromkeys(men, "M")
    return Ratings.from_columns(
        users,
        items,
        [*rated.values(), *[3] * 8],
        scale=Scale.stars(1, 5),
        features={"gender": gender},
    )


def model(ratings: Ratings, vectors: np.ndarray | None = None) -> ItemProfiles:
    """Return item profiles with plain biases, and vectors that no fit made."""
    statistics = tally(ratings, ratings.feature("gender"))
    effects = mean_effects(statistics, "plain")
    if vectors is None:
        vectors = np.ones((ratings.n_items, 1), np.float32)
    d = vectors.shape[1]
    return ItemProfiles(
        item_ids=ratings.item_ids,
        item_names=ratings.item_names,
        scale=ratings.scale,
        vectors=vectors.astype(np.float32),
        centre=effects.centre,
        offset=effects.effect,
        features=ratings.feature("gender").parts,
        statistics=statistics,
        noise_variance=1.0,
        profile_mean=np.zeros(d),
        profile_covariance=np.eye(d),
        provenance=Provenance("by hand", "0" * 64, {"regularization": PENALTY}, 0, {}),
    )
