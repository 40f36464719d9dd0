"""People drawn from the model of positions itself, and what was learned from them."""

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from midpoint.analyst import Factorizer, ItemProfiles, PositionModel, disclose
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior
from midpoint.analyst.fit.positions import STEP
from midpoint.data import Feature, Ratings, Scale
from midpoint.protocol.positions import adjust_population
from midpoint.user.core.counterparts import Adjustment
from midpoint.user.parameters import Parameters
from midpoint.wire import to_fixed

Float = NDArray[np.float64]
QUICK = Factorizer(dimension=3, iterations=6)
"""Enough to know two taste factors and a level."""


class World(NamedTuple):
    """People drawn from the model itself."""

    ratings: Ratings
    model: Model
    prior: Prior


def nothing() -> None:
    """Is called after a round."""


def draw_people(model: Model, prior: Prior, category: NDArray[np.intp], seed: int = 0) -> Ratings:
    """Draw positions, then what is rated, then how, on a scale of one to nine."""
    draws = np.random.default_rng(seed)
    roots = np.linalg.cholesky(prior.covariance)
    d = model.selection.shape[1]
    z = prior.mean[category] + np.einsum(
        "nde,ne->nd", roots[category], draws.normal(size=(len(category), prior.mean.shape[1]))
    )
    p = expit(model.rate.T[category] + z[:, :d] @ model.selection.T)
    user, item = np.nonzero(draws.random(p.shape) < p)
    value = model.base[item, category[user]] + (z[user, d:] * model.taste[item]).sum(axis=1)
    value += draws.normal(size=len(value)) * np.sqrt(model.noise)
    return made_ratings(user, item, np.clip(np.rint(value), 1, 9), category, len(model.rate))


def made_ratings(
    user: NDArray[Any], item: NDArray[Any], value: Float, category: NDArray[Any], items: int
) -> Ratings:
    names = np.array([f"i{j:03}" for j in range(items)])
    kinds = tuple("abcdefgh"[: max(int(category.max()) + 1, 2)])
    return Ratings(
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=value.astype(np.float32),
        scale=Scale.stars(1, 9),
        user_ids=np.array([f"u{i:05}" for i in range(len(category))]),
        item_ids=names,
        item_names=names,
        features={"kind": Feature("kind", kinds, category.astype(np.int16))},
    )


def make_truth(items: int = 80, seed: int = 3) -> tuple[Model, Prior]:
    draws = np.random.default_rng(seed)
    selection = np.column_stack([np.ones(items), draws.normal(size=items)])
    plain = draws.normal(-1.2, 0.7, items)
    model = Model(
        rate=plain[:, None] + 0.25 * draws.normal(size=(items, 2)),
        selection=selection,
        base=5.2 + 0.5 * draws.normal(size=(items, 1)) + 0.1 * draws.normal(size=(items, 2)),
        taste=draws.normal(size=(items, 2)) * 0.6,
        noise=0.5,
    )
    mean = np.array([[0.3, -0.4, 0.4, 0.2], [-0.3, 0.4, -0.4, -0.2]])
    a = np.array([[1.2, 0.3, 0.0, 0.4], [0, 0.7, 0, 0], [0, 0, 1.2, -0.4], [0, 0, 0, 0.8]])
    b = np.array([[0.7, -0.2, 0.0, 0.0], [0, 1.2, 0.3, 0], [0, 0, 0.7, 0.2], [0, 0, 0, 1.1]])
    return model, Prior(mean, np.stack([a @ a.T, b @ b.T]))


def the_positions(profiles: ItemProfiles) -> PositionModel:
    assert profiles.positions is not None
    return profiles.positions


def require_equal(one: Any, other: Any) -> None:
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            assert a.tobytes() == b.tobytes(), field.name
        else:
            assert a == b, field.name


def require_sound(positions: PositionModel) -> None:
    for field in fields(positions):
        value = getattr(positions, field.name)
        if isinstance(value, np.ndarray):
            assert np.isfinite(value).all(), field.name
            assert not value.flags.writeable, field.name
    assert (np.linalg.eigvalsh(positions.covariance) > 0).all()
    assert np.isfinite(positions.maps()).all()
    for name in ("rate", "selection", "base", "taste"):
        value = getattr(positions, name)
        assert (value == np.rint(value / STEP) * STEP).all(), name


def as_devices_do(profiles: ItemProfiles, people: People) -> Adjustment:
    """Return what devices make of people's ratings by what was learned."""
    scheme = "cmpss" if the_positions(profiles).selection_factors else "cmp"
    parameters = Parameters.of(disclose(profiles, scheme))
    item, value = profiles.message_index[people.item], to_fixed(people.value)
    return adjust_population(parameters, people.offsets, item, value, people.category)
