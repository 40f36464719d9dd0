from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles
from midpoint.audit.attackers.joint import MATCHED, JointFit, infer, penalty_of, regress
from midpoint.data import Ratings, Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import Reports
from tests.support.models.paper_model import PENALTY, model

D, TITLES = 5, 30
X = np.array([0.3, -0.2, 0.5, 0.1, 0.4])


@pytest.fixture(scope="module")
def profiles() -> ItemProfiles:
    """Let three women and three men rate thirty titles anyhow."""
    rng = np.random.default_rng(4)
    people = [f"p{k}" for k in range(6)]
    ratings = Ratings.from_columns(
        np.repeat(people, TITLES),
        [f"t{k:02d}" for k in range(TITLES)] * len(people),
        rng.integers(1, 6, TITLES * len(people)),
        scale=Scale.stars(1, 5),
        features={"gender": {name: "FM"[k % 2] for k, name in enumerate(people)}},
    )
    return model(ratings, rng.normal(size=(TITLES, D)))


def said(profiles: ItemProfiles, item: list[int], x: NDArray[np.float64], category: int) -> Reports:
    """Have one person rate exactly as the model says, and a second one nothing."""
    chosen = np.array(item, dtype=np.int32)
    level = profiles.centre[chosen] + profiles.offset[chosen, category]
    value = level + profiles.vectors[chosen] @ x
    return Reports(np.arange(len(item)), np.array([0, len(item), len(item)]), chosen, value)


def test_it_finds_profile_and_category_of_who_rates_by_the_model(profiles: ItemProfiles) -> None:
    for category in (0, 1):
        reports = said(profiles, list(range(TITLES)), X, category)
        fits = regress(profiles, reports, PENALTY)
        found = fits.minimum_norm
        assert found.profile[category, 0] == pytest.approx(X, abs=1e-4)
        assert found.loss[0, category] == pytest.approx(0, abs=1e-6)
        assert found.loss[0, 1 - category] > 0.1
        assert not found.profile[:, 1].any()  # of nothing, nothing is known
        guess, profile = infer(profiles, reports, found)
        assert guess[0] == category
        assert profile[0] == pytest.approx(X, abs=1e-4)
        assert not np.allclose(fits.blind[0], X)  # midway between the categories


def test_of_fewer_ratings_than_dimensions_it_takes_the_shortest_profile(
    profiles: ItemProfiles,
) -> None:
    item = [3, 7]
    found = regress(profiles, said(profiles, item, X, 0), PENALTY).minimum_norm.profile[0, 0]
    V = profiles.vectors[item].astype(np.float64)
    assert V @ found == pytest.approx(V @ X, abs=1e-6)  # both fit
    assert found @ found < X @ X
    left_open = np.linalg.svd(V)[2][2:]
    assert left_open @ found == pytest.approx(np.zeros(len(left_open)), abs=1e-6)


def test_the_penalty_is_that_of_gradient_descent(profiles: ItemProfiles) -> None:
    rng = np.random.default_rng(0)
    reports = said(profiles, list(range(12)), X, 1)
    reports = replace(reports, value=reports.value + rng.normal(size=12))
    fits = regress(profiles, reports, PENALTY)
    V, item = profiles.vectors[:12].astype(np.float64), reports.item
    for found, penalty in ((fits.penalized, PENALTY), (fits.matched, MATCHED)):
        for k in (0, 1):
            y = reports.value - profiles.centre[item] - profiles.offset[item, k]
            x = np.linalg.solve(V.T @ V + 12 * penalty * np.eye(D), V.T @ y)
            assert found.profile[k, 0] == pytest.approx(x, abs=1e-6)
            loss = np.square(y - V @ x).sum() + 12 * penalty * x @ x
            assert found.loss[0, k] == pytest.approx(loss, abs=1e-6)
    assert penalty_of(profiles) == PENALTY != MATCHED


def test_a_column_of_zeros_changes_nothing(profiles: ItemProfiles) -> None:
    """Factors alone have no level: the first entry of every vector is 0."""
    without = replace(profiles, vectors=profiles.vectors[:, 1:])
    zeros = np.zeros((profiles.n_items, 1), np.float32)
    level = replace(profiles, vectors=np.hstack([zeros, profiles.vectors[:, 1:]]))
    reports = said(profiles, list(range(12)), X, 1)
    short, long = (regress(model, reports, PENALTY) for model in (without, level))
    for fit, same in zip(short[:3], long[:3], strict=True):
        assert isinstance(fit, JointFit)
        assert isinstance(same, JointFit)
        assert fit.loss == pytest.approx(same.loss, abs=1e-6)
        assert not same.profile[:, :, 0].any()
        assert fit.profile == pytest.approx(same.profile[:, :, 1:], abs=1e-6)


def test_profiles_without_a_penalty_are_refused(tiny: Simulation) -> None:
    learned = Factorizer(dimension=2, iterations=1).fit(tiny.ratings, "gender")
    with pytest.raises(MidpointError, match="sgd"):
        penalty_of(learned)
