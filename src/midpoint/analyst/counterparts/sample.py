"""The sample of people that items are learned from where there are too many, and its checkpoint."""

from hashlib import sha256
from typing import Any, Final

import numpy as np

from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.everyone import draw_items
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Drawn, Model
from midpoint.analyst.counterparts.rates import Counted
from midpoint.analyst.counterparts.strata import Strata
from midpoint.analyst.fit.positions import Float, rounded
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.errors import MidpointError

MOST_CELLS: Final = 40_000_000
"""People times items that items are learned from; of more people a sample is drawn."""
LEAST_SAMPLE, MOST_SAMPLE = 4_000, 100_000
"""A sample has at least so many people, however many items there are, and at most so many."""
LEAST_OF_CATEGORY: Final = 1_000
"""A sample has at least so many of each category, or all of it."""
SAMPLE: Final = "sample"
"""What a checkpoint calls that which was learned from a sample."""


def sample_shares(profiles: ItemProfiles) -> Float:
    """Return the share of each category that items are learned from. Shape (K,)."""
    statistics = profiles.statistics
    if statistics is None:
        raise MidpointError("the profiles do not say how many people there are; train them again")
    users = statistics.users
    if users.sum() * profiles.n_items <= MOST_CELLS or users.sum() <= LEAST_SAMPLE:
        return np.ones(len(users))
    most = min(max(MOST_CELLS // profiles.n_items, LEAST_SAMPLE), MOST_SAMPLE)
    least = LEAST_OF_CATEGORY / np.maximum(users, 1)
    return np.asarray(np.clip(np.maximum(most / users.sum(), least), 0.0, 1.0))


def counted_of_everyone(profiles: ItemProfiles, people: People, thin: People) -> Counted:
    """Return how often everyone rated each item, thinned or not, and in a sample or not.

    Rates from thinned ratings alone would leave a leak: the panel itself shows what the rest of its
    ratings say, and others' reports agree with that.
    """
    items, statistics = profiles.n_items, profiles.statistics
    of_all = people.counts(items) if statistics is None else statistics.count.astype(np.float64)
    kept = thin.counts(items).sum(axis=0)
    return Counted(of_all, of_all.sum(axis=0) / np.maximum(kept, 1))


def for_a_sample(model: Model, count: Float, weight: Float) -> Model:
    """Sum curvatures over a sample of the items; one that the sample did not rate is a plain one.

    Args:
        model: What the sample says.
        count: How often everyone rated each item. Shape (M,).
        weight: How often the sample did. Shape (M,).
    """
    selection = model.selection.copy()
    if selection.shape[1]:
        selection[(weight == 0) & (count > 0), 0] = np.median(selection[weight > 0, 0])
    return model._replace(selection=rounded(selection), drawn=draw_items(np.sqrt(count + 1)))


def purpose(profiles: ItemProfiles, selection_factors: int, taste_factors: int, seed: int) -> str:
    """Return a digest of all that a fit depends on."""
    total = sha256(repr((selection_factors, taste_factors, seed, MOST_CELLS)).encode())
    total.update(repr((profiles.features, profiles.scale, profiles.noise_variance)).encode())
    arrays = (profiles.vectors, profiles.centre, profiles.offset, profiles.profile_covariance)
    for array in (*arrays, *(() if profiles.statistics is None else (profiles.statistics.count,))):
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def keep_sample(kept: Checkpoint, model: Model, strata: Strata) -> None:
    """Save what was learned from a sample."""
    arrays: dict[str, Any] = model._asdict() | {"drawn": np.zeros(0), "drawn_weight": np.zeros(0)}
    if model.drawn is not None:
        arrays |= {"drawn": model.drawn.item, "drawn_weight": model.drawn.weight}
    kept.save(SAMPLE, **arrays, **strata._asdict())


def load_sample(kept: Checkpoint) -> tuple[Model, Strata] | None:
    """Return what was learned from a sample before, if it was."""
    arrays = kept.load(SAMPLE)
    if arrays is None:
        return None
    strata = Strata(*(arrays.pop(name) for name in Strata._fields))
    drawn = Drawn(arrays.pop("drawn"), arrays.pop("drawn_weight"))
    noise = float(arrays.pop("noise"))
    model = Model(**arrays, noise=noise, drawn=drawn if len(drawn.item) else None)
    return model, strata
