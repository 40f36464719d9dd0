import numpy as np
import pytest

from midpoint.analyst.fit.information import a_criterion, symmetric_inverse


def test_the_loss_is_the_trace_of_the_inverse_and_infinite_without_one() -> None:
    V = np.random.default_rng(0).normal(size=(9, 4))
    A = V.T @ V
    assert a_criterion(A) == pytest.approx(np.trace(np.linalg.inv(A)))
    assert a_criterion(V[:3].T @ V[:3]) == float("inf")
    assert a_criterion(np.zeros((2, 2))) == float("inf")


def test_an_inverse_is_symmetric_to_the_last_bit() -> None:
    V = np.random.default_rng(1).normal(size=(20, 6)) * 10.0 ** np.arange(6)
    inverse = symmetric_inverse(V.T @ V)
    assert np.array_equal(inverse, inverse.T)
    assert inverse @ (V.T @ V) == pytest.approx(np.eye(6), abs=1e-4)
