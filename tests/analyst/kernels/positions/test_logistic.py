"""The sums that Newton's method asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from midpoint.analyst.kernels.positions.logistic import CHUNK, ROWS, LogisticSums, logistic_counts
from midpoint.analyst.kernels.simd import WIDTH


@given(
    st.integers(1, 6),
    st.integers(1, 2 * WIDTH + 1),
    st.sampled_from([0, 1, 7, CHUNK, CHUNK + 1, 3 * CHUNK - 1]),
    st.integers(0, 9),
)
def test_logistic_sums_are_what_they_say(size: int, rows: int, width: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    columns, weights = draws.normal(size=(width, size)), draws.normal(size=(rows, size))
    bias = draws.normal(-3, 3, width)
    first, second = LogisticSums(columns)(weights, bias)
    p = expit(bias + weights @ columns.T)
    np.testing.assert_allclose(first, p @ columns, atol=1e-4)
    expected = np.einsum("rc,ce,cf->ref", p * (1 - p), columns, columns)
    np.testing.assert_allclose(second, expected, atol=1e-4)


def test_logistic_sums_bear_any_logit() -> None:
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    for logit in (-1e30, -1000.0, -50.0, -20.0, -1.0, 0.0, 1.0, 20.0, 50.0, 1000.0, 1e30):
        first, second = LogisticSums(one)(none, np.array([logit]))
        p = expit(logit)
        assert first[0, 0] == pytest.approx(p, rel=1e-5, abs=1e-30)
        assert second[0, 0, 0] == pytest.approx(p * expit(-logit), rel=1e-5, abs=1e-30)


@given(st.integers(1, 6), st.integers(1, 2 * ROWS + 1), st.sampled_from([0, 1, CHUNK + 1]))
def test_parts_of_the_sums_are_the_same_numbers(size: int, rows: int, width: int) -> None:
    draws = np.random.default_rng(size)
    columns, weights = draws.normal(size=(width, size)), draws.normal(size=(rows, size))
    bias, sums = draws.normal(-3, 3, width), LogisticSums(columns)
    first, second = sums(weights, bias)
    a, b = np.tril_indices(size)
    assert np.array_equal(sums.first(weights, bias), first)
    assert np.array_equal(sums.packed(weights, bias)[1], second[:, a, b])


@given(st.integers(1, 6), st.integers(1, 2 * ROWS + 1), st.sampled_from([0, 1, 3 * CHUNK - 1]))
def test_counts_are_the_sums_of_probabilities(size: int, rows: int, width: int) -> None:
    draws = np.random.default_rng(size)
    columns, weights = draws.normal(size=(width, size)), draws.normal(size=(rows, size))
    p = expit(weights @ columns.T)
    first, second = logistic_counts(columns, weights)
    np.testing.assert_allclose(first, p.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(second, (p * (1 - p)).sum(axis=1), rtol=1e-5)


def test_rows_do_not_touch_each_other() -> None:
    draws = np.random.default_rng(1)
    sums, weights = LogisticSums(draws.normal(size=(300, 3))), draws.normal(size=(40, 3))
    together, bias = sums.packed(weights, np.zeros(300))[1], np.zeros(300)
    for row in range(40):
        assert np.array_equal(sums.packed(weights[row : row + 1], bias)[1][0], together[row])
