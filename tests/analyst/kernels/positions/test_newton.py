"""Newton steps of many people at once."""

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst.kernels.positions.newton import Curvature, Slope, newton_steps, scatter

Float = NDArray[np.float64]


def systems(n: int, d: int, r: int) -> tuple[Curvature, Slope, Float, Float]:
    """Draw some; return also the curvatures as matrices, and the slopes."""
    draws, D = np.random.default_rng(n), d + r
    roots = [draws.normal(size=(n, size, size + 2)) for size in (d, r)]
    chosen, rated = (root @ root.transpose(0, 2, 1) for root in roots)
    root = draws.normal(size=(D, D + 2))
    precision = root @ root.T + np.eye(D)
    packed = (m[:, *np.tril_indices(m.shape[1])] for m in (chosen, rated))
    mean, pull, z = draws.normal(size=D), draws.normal(size=(n, D)), draws.normal(size=(n, D))
    whole = np.tile(precision, (n, 1, 1))
    whole[:, :d, :d] += chosen
    whole[:, d:, d:] += rated
    slope = pull + (mean - z) @ precision
    slope[:, d:] -= np.einsum("nde,ne->nd", rated, z[:, d:])
    return Curvature(precision, *packed), Slope(mean, pull, z), whole, slope


@pytest.mark.parametrize(("n", "d", "r"), [(1, 1, 2), (4, 0, 3), (5, 3, 5), (9, 4, 4), (6, 24, 20)])
def test_steps_doubts_and_draws_are_those_of_the_inverse(n: int, d: int, r: int) -> None:
    curvature, given, whole, slope = systems(n, d, r)
    noise = np.random.default_rng(1).normal(size=slope.shape)
    found, inverse = newton_steps(curvature, given, noise), np.linalg.inv(whole)
    np.testing.assert_allclose(found.step, np.einsum("nde,ne->nd", inverse, slope), atol=1e-10)
    np.testing.assert_allclose(found.doubt, inverse.sum(axis=0), atol=1e-10)
    roots = np.linalg.cholesky(inverse)
    np.testing.assert_allclose(found.away, np.einsum("nde,ne->nd", roots, noise), atol=1e-10)
    plain = newton_steps(curvature, given, doubt=False)
    assert np.array_equal(plain.step, found.step)
    assert plain.doubt.shape == (0, 0)
    assert plain.away.shape == (0, d + r)


def test_people_do_not_touch_each_other() -> None:
    (precision, chosen, rated), (mean, pull, z), *_ = systems(7, 3, 2)
    together = newton_steps(Curvature(precision, chosen, rated), Slope(mean, pull, z)).step
    for i in range(7):
        alone = Curvature(precision, chosen[i : i + 1], rated[i : i + 1])
        hers = Slope(mean, pull[i : i + 1], z[i : i + 1])
        assert np.array_equal(newton_steps(alone, hers).step[0], together[i])


def test_scatter_is_the_sum_of_squares() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 5))
    np.testing.assert_allclose(scatter(rows), rows.T @ rows, atol=1e-12)
