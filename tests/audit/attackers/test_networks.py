"""Our networks are scikit-learn's, bit by bit, and read what no weighing of columns can."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

from midpoint.audit.attackers.auc import auc
from midpoint.audit.attackers.learned import one_thread
from midpoint.audit.attackers.linear import Logistic
from midpoint.audit.attackers.networks import Networks
from midpoint.audit.attackers.scaling import Scaling

EPOCHS = (2, 5)


def people(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = np.random.default_rng(n).standard_normal((n, 7)).astype(np.float32)
    return rows, rows[:, 0] * rows[:, 1] > 0


@pytest.mark.parametrize("n", [60, 500])  # less than a batch, and four with one that is shorter
def test_a_network_is_scikit_learns(n: int) -> None:
    rows, ones = people(n)
    family = Networks(EPOCHS, networks=1)
    with one_thread():
        ours = family.train(rows, ones, EPOCHS, 3)(rows)
        X = Scaling.of(rows)(rows)
        theirs = MLPClassifier(
            (family.hidden,), alpha=family.penalty, batch_size=min(n, family.batch), random_state=3
        )
        expected = []
        for epoch in range(1, max(EPOCHS) + 1):
            theirs.partial_fit(X, ones, classes=[False, True])
            if epoch in EPOCHS:
                likely = theirs.predict_proba(X)[:, 1].astype(np.float64)
                expected.append(np.log(likely / (1 - likely)))
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


def test_networks_read_products_that_a_line_does_not() -> None:
    rows, ones = people(3000)
    new, truth = people(2000)
    assert auc(Networks().train(rows, ones, [25], 0)(new)[0], truth) > 0.8
    assert auc(Logistic((50.0,)).train(rows, ones, [50.0], 0)(new)[0], truth) < 0.56


def test_equal_seeds_give_equal_networks_and_others_others() -> None:
    rows, ones = people(200)
    first, again, other = (Networks().train(rows, ones, [3], seed)(rows) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3
