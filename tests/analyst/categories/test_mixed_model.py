"""The mixed model in contrasts is the one that is written down, with all its cells."""

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst.categories.mixed_model import Fit, Table, _contrasts
from midpoint.analyst.categories.shrinkage import centred

Float = NDArray[np.float64]
ITEMS, TASTES = 12, 3


def best_predictions(
    y: Float, precision: Float, crossed: tuple[tuple[int, ...], ...], W: Float, t: Float, g: Float
) -> tuple[Float, Float]:
    """Return Z (a + G w_j + u_j) and its covariance, by the equations of the whole model.

    Unknowns are c, then a, G and u of all categories of each feature (Henderson 1975).
    """
    Z = np.hstack([np.eye(max(cells) + 1)[list(cells)] for cells in crossed])
    feature = np.repeat(np.arange(len(crossed)), [max(cells) + 1 for cells in crossed])
    (M, K), (R, D) = y.shape, (Z.shape[1], W.shape[1])
    per_item = np.zeros((M, K, M + R * D + M * R))
    for j in range(M):
        per_item[j, :, j] = 1
        per_item[j, :, M : M + R * D] = np.kron(Z, W[j])
        per_item[j, :, M + R * D + j * R : M + R * D + (j + 1) * R] = Z
    design, weight = per_item.reshape(M * K, -1), precision.reshape(-1)
    known = np.concatenate([[0.0], np.ones(D - 1)])
    prior = np.concatenate(
        [np.zeros(M), np.kron(1 / g[feature], known), np.tile(1 / t[feature], M)]
    )
    equations = (design.T * weight) @ design + np.diag(prior)
    covariance = np.linalg.pinv(equations, rcond=1e-12, hermitian=True)
    found = covariance @ (design.T @ (weight * y.reshape(-1)))
    per_item[:, :, :M] = 0
    return per_item @ found, per_item @ covariance @ per_item.swapaxes(1, 2)


@pytest.mark.parametrize(
    ("crossed", "empty"),
    [
        (((0, 1),), None),
        (((0, 1, 2),), None),
        (((0, 1, 2),), 2),
        (((0, 0, 0, 1, 1, 1), (0, 1, 2, 0, 1, 2)), None),
    ],
)
def test_predictions_and_their_covariance_are_those_of_the_whole_model(
    crossed: tuple[tuple[int, ...], ...], empty: int | None
) -> None:
    rng, K = np.random.default_rng(0), len(crossed[0])
    y, precision = rng.normal(size=(ITEMS, K)), rng.uniform(0.5, 4, (ITEMS, K))
    precision[rng.random((ITEMS, K)) < 0.1] = 0
    if empty is not None:
        precision[:, empty] = 0
    W = np.column_stack([np.ones(ITEMS), rng.normal(size=(ITEMS, TASTES))])
    t, g = rng.uniform(0.1, 1, len(crossed)), rng.uniform(0.05, 0.5, len(crossed))
    X, feature = _contrasts(crossed)
    fit = Fit.of(Table.of(y, precision, X), W, t[feature], g[feature])
    expected, covariance = best_predictions(y, precision, crossed, W, t, g)
    found = fit.effects @ X.T
    cells = [k for k in range(K) if k != empty]  # of the others, differences can be estimated
    seen = centred(found[:, cells]).effect
    assert seen == pytest.approx(centred(expected[:, cells]).effect, abs=1e-9)
    inside = X @ fit.covariance @ X.T
    apart = np.array([1.0, -1.0, *np.zeros(K - 2)])
    assert apart @ inside @ apart == pytest.approx(apart @ covariance @ apart, rel=1e-6)
    # The control: other variances predict otherwise.
    other = Fit.of(Table.of(y, precision, X), W, 4 * t[feature], g[feature])
    changed = other.effects @ X.T
    assert np.abs(centred(changed[:, cells]).effect - seen).max() > 0.01


def test_contrasts_of_a_feature_are_orthonormal_and_add_to_nothing() -> None:
    X, feature = _contrasts(((0, 1, 2, 3),))
    assert pytest.approx(np.eye(3)) == X.T @ X
    assert X.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert feature.tolist() == [0, 0, 0]
