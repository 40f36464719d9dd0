from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst import ItemProfiles, fit_positions
from midpoint.analyst.fit.positions import STEP, rounded, transports
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from tests.support.people.position_world import (
    QUICK,
    Float,
    draw_people,
    make_truth,
    require_equal,
    the_positions,
)


@pytest.fixture(scope="module")
def few() -> Ratings:
    """Return a moment's worth of people."""
    model, prior = make_truth()
    return draw_people(model, prior, np.random.default_rng(4).integers(0, 2, 150))


def covariances(count: int, size: int, seed: int) -> Float:
    root = np.random.default_rng(seed).normal(size=(count, size, size))
    return np.asarray(root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(size))


@given(st.integers(2, 4), st.integers(1, 6), st.integers(0, 99))
def test_transports_take_one_distribution_to_the_other(count: int, size: int, seed: int) -> None:
    S = covariances(count, size, seed)
    T = transports(S)
    near = 1e-6 * np.abs(T).max() ** 2 * np.abs(S).max()
    carried = T @ S[:, None] @ np.swapaxes(T, 2, 3)
    np.testing.assert_allclose(carried, np.broadcast_to(S, T.shape), atol=near)
    for k, m in product(range(count), repeat=2):  # one after the other, from any category
        np.testing.assert_allclose(T[m] @ T[k, m], T[k], atol=near)
    if count == 2:  # the optimal transport itself
        np.testing.assert_allclose(T, np.swapaxes(T, 2, 3), atol=near)
        assert (np.linalg.eigvalsh(T) > 0).all()
    for k in range(count):
        assert (T[k, k] == np.eye(size)).all()


def test_counterparts_are_distributed_as_people_of_the_other_category() -> None:
    _, prior = make_truth()
    draws = np.random.default_rng(0)
    z = draws.multivariate_normal(prior.mean[0], prior.covariance[0], 20_000)
    maps = transports(prior.covariance)
    found = prior.mean[1] + (z - prior.mean[0]) @ maps[0, 1].T
    np.testing.assert_allclose(found.mean(axis=0), prior.mean[1], atol=0.03)
    np.testing.assert_allclose(np.cov(found.T), prior.covariance[1], atol=0.05)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(np.cov(z.T), prior.covariance[1], atol=0.05)


def test_positions_are_saved_with_the_profiles(few: Ratings, tmp_path: Path) -> None:
    plain = QUICK.fit(few, "kind")
    full = fit_positions(plain, few, selection_factors=2, taste_factors=2)
    assert plain.positions is None
    full.save(tmp_path / "full")
    found = ItemProfiles.load(tmp_path / "full")
    require_equal(the_positions(found), the_positions(full))
    assert found.statistics is not None
    assert plain.statistics is not None
    assert found.statistics.count.tolist() == plain.statistics.count.tolist()
    with pytest.raises(ValueError, match="read-only"):
        the_positions(found).rate[0] = 0
    plain.save(tmp_path / "full")  # replaces it, and nothing of the positions is left
    assert ItemProfiles.load(tmp_path / "full").positions is None
    assert not list((tmp_path / "full").glob("positions*"))


def test_damaged_positions_are_refused(few: Ratings, tmp_path: Path) -> None:
    fit_positions(QUICK.fit(few, "kind"), few, selection_factors=0, taste_factors=1).save(
        tmp_path / "model"
    )
    ItemProfiles.load(tmp_path / "model")
    (tmp_path / "model" / "positions_taste.npy").write_bytes(b"")
    with pytest.raises(MidpointError, match=r"positions_taste\.npy is damaged"):
        ItemProfiles.load(tmp_path / "model")


def test_numbers_are_rounded_half_up() -> None:
    assert rounded(np.array([0.001, -0.003, 0.25])).tolist() == [0.0, -STEP, 0.25]
    assert rounded(np.array([-1.5, 0.5, 1.5]) * STEP).tolist() == [-STEP, STEP, 2 * STEP]
