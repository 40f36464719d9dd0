import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from midpoint.audit.attackers.auc import auc
from midpoint.audit.attackers.features import values
from midpoint.audit.attackers.kernels import QuadraticKernel, SupportVectors, _products, ridge
from midpoint.audit.attackers.learned import Family, Learned, _splits, _take
from midpoint.audit.attackers.linear import Logistic, NaiveBayes
from midpoint.audit.attackers.products import Products
from midpoint.audit.attackers.scaling import Scaling
from midpoint.audit.attackers.trees import Trees
from midpoint.audit.attackers.view import FEW
from midpoint.errors import MidpointError

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("n_people", "expected"), [(90, 4), (FEW, 1)])
def test_nobody_is_on_both_sides_of_a_split(n_people: int, expected: int) -> None:
    ones = np.arange(n_people) % 3 == 0
    splits = list(_splits(ones, np.random.default_rng(1)))
    assert len(splits) == expected
    for learn, judge in splits:
        assert np.array_equal(np.sort(np.concatenate([learn, judge])), np.arange(n_people))
        assert abs(ones[judge].mean() - ones.mean()) < 0.03


def test_all_draws_of_a_person_are_taken_together() -> None:
    drawn = [np.column_stack([[2, 5], [draw, draw]]) for draw in range(3)]
    rows, whose = _take(drawn, np.array([2, 5]), None, np.random.default_rng(0))
    assert np.array_equal(rows[:, 0], whose)
    assert sorted(map(tuple, rows.tolist())) == [(p, d) for p in (2, 5) for d in range(3)]


def test_fewer_rows_are_of_other_people_before_other_draws() -> None:
    drawn = [np.column_stack([np.arange(10) + 30, np.full(10, draw)]) for draw in range(3)]
    rows, whose = _take(drawn, np.arange(10) + 30, 15, np.random.default_rng(0))
    assert np.array_equal(rows[:, 0], whose)
    assert len(set(map(tuple, rows.tolist()))) == 15
    assert np.bincount(whose).max() == 2
    assert set(rows[:, 1].tolist()) == {0, 1, 2}


def test_an_attacker_needs_both_categories_and_a_fit() -> None:
    attacker = Learned("one", adaptive=False, form=values, family=NaiveBayes())
    with pytest.raises(MidpointError, match="fitted before"):
        attacker.score(None)  # type: ignore[arg-type]
    with pytest.raises(MidpointError, match="both categories"):
        attacker.fit([], np.ones(5, np.int64), seed=0)


def test_logistic_regression_is_where_its_loss_is_least() -> None:
    X = RNG.normal(size=(300, 4)).astype(np.float32)
    ones = RNG.random(300) < 1 / (1 + np.exp(-X[:, 0] + 0.5 * X[:, 1]))
    y = np.where(ones, 1.0, -1.0)
    answer = Logistic((150.0,), standardized=False).train(X, ones, (150.0,), 0)
    points = np.vstack([np.zeros(4), np.eye(4)])
    margins = answer(points)[0]
    b, w = margins[0], margins[1:] - margins[0]

    def loss(b: float, w: np.ndarray) -> float:
        return float(150 * np.logaddexp(0, -y * (X @ w + b)).mean() + w @ w / 2)

    for k in range(4):
        for step in (-0.05, 0.05):
            assert loss(b, w + step * np.eye(4)[k]) > loss(b, w)
    assert loss(b + 0.05, w) > loss(b, w) < loss(b - 0.05, w)


def test_logistic_regression_takes_sparse_rows_too() -> None:
    X = np.where(RNG.random((200, 6)) < 0.4, RNG.normal(size=(200, 6)), 0).astype(np.float32)
    ones = X[:, 0] + RNG.normal(size=200) * 0.3 > 0.1
    family = Logistic((2.0, 200.0), standardized=False)
    dense = family.train(X, ones, family.settings, 0)(X)
    sparse_rows = sparse.csr_matrix(X)
    assert family.train(sparse_rows, ones, family.settings, 0)(sparse_rows) == pytest.approx(
        dense, abs=1e-3
    )
    assert dense.shape == (2, 200)


def test_naive_bayes_by_hand() -> None:
    rows = sparse.csr_matrix(np.array([[2.0, 1.0], [0.0, 1.0], [1.0, 3.0]]))
    answer = NaiveBayes().train(rows, np.array([True, False, False]), (1.0,), 0)
    # Sums by class: ones (2, 1), zeros (1, 4); plus the mean of each, 1.5 and 2.5.
    weight = np.log([3.5 / 6, 2.5 / 6]) - np.log([3.5 / 10, 6.5 / 10])
    assert answer(rows)[0] == pytest.approx(rows.toarray() @ weight + np.log(1 / 2))
    below = sparse.csr_matrix(np.array([[-1.0, 0.0]]))
    assert answer(below)[0] == pytest.approx([np.log(1 / 2)])


def test_columns_are_scaled_by_their_deviation() -> None:
    dense = RNG.normal(2, [1.0, 5.0, 0.0], size=(500, 3))
    scaled = Scaling.of(dense)(dense)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-4)
    assert scaled.std(axis=0) == pytest.approx([1, 1, 0], abs=1e-4)


def test_a_rare_column_is_not_blown_up() -> None:
    X = np.zeros((1000, 2), np.float32)
    X[:1, 0], X[:500, 1] = 1, 1
    factor = Scaling.of(sparse.csr_matrix(X)).factor
    assert factor[1] == pytest.approx(2, rel=1e-3)
    assert factor[0] < 1 / X[:, 0].std() / 3


def crossed(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that differ between the classes in their correlation only."""
    rng = np.random.default_rng(seed)
    X, ones = rng.normal(size=(n, 6)), np.arange(n) % 2 == 0
    X[:, 1] = np.where(ones, 1, -1) * X[:, 0] + 0.5 * X[:, 1]
    return X, ones


@pytest.mark.parametrize("family", [Products(), SupportVectors([(600.0, 0.7)]), Trees()])
def test_joint_attackers_read_correlations(family: Family) -> None:
    (X, ones), (new, truth) = crossed(600, 1), crossed(400, 2)
    answer = family.train(X, ones, family.settings[:1], 0)
    assert auc(answer(new)[0], truth) > 0.75
    linear = Logistic((60.0,)).train(X, ones, (60.0,), 0)
    assert abs(auc(linear(new)[0], truth) - 0.5) < 0.1


def test_the_quadratic_kernel_reads_pairs_of_levels() -> None:
    def levels(n: int, seed: int) -> tuple[sparse.csr_matrix, np.ndarray]:
        rng = np.random.default_rng(seed)
        first, other, ones = rng.integers(0, 2, n), rng.integers(0, 2, n), np.arange(n) % 2 == 0
        second = np.where(rng.random(n) < 0.9, np.where(ones, first, 1 - first), other)
        return sparse.csr_matrix(np.hstack([np.eye(2)[first], np.eye(2)[second]])), ones

    (X, ones), (new, truth) = levels(400, 1), levels(400, 2)
    assert auc(QuadraticKernel().train(X, ones, (0.01,), 0)(new)[0], truth) > 0.85
    assert abs(auc(Logistic((40.0,)).train(X, ones, (40.0,), 0)(new)[0], truth) - 0.5) < 0.1


@pytest.mark.parametrize("filled", [0.02, 0.5])
def test_the_quadratic_kernel_by_hand(filled: float) -> None:
    """Rows that are mostly empty are compared entry by entry, others as dense ones."""
    X = np.where(RNG.random((80, 60)) < filled, RNG.normal(size=(80, 60)), 0).astype(np.float32)
    ones = RNG.random(80) < 0.4
    answer = QuadraticKernel().train(sparse.csr_matrix(X), ones, (0.01, 1.0), 0)
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-6)
    K = (1 + unit @ unit.T) ** 2
    expected = [K @ np.linalg.solve(K + p * 80 * np.eye(80), ones - ones.mean()) for p in (0.01, 1)]
    np.testing.assert_allclose(answer(sparse.csr_matrix(X)), expected, atol=1e-5)


@pytest.mark.parametrize(("precision", "close"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_ridge_regression_solves_its_equations(
    precision: type[np.floating[Any]], close: float
) -> None:
    rows = RNG.normal(size=(50, 30))
    K, y = (rows.T @ rows).astype(precision), RNG.normal(size=30).astype(precision)
    expected = np.linalg.solve(K.astype(np.float64) + 2.0 * np.eye(30), y)
    before = K.copy()
    np.testing.assert_allclose(ridge(K, y, 2.0), expected, atol=close)
    np.testing.assert_array_equal(K, before)  # other penalties come after it


def test_products_among_the_same_rows_are_those_with_a_copy() -> None:
    rows = sparse.random(70, 90, density=0.05, format="csr", dtype=np.float32, rng=3)
    among = _products(rows, rows)
    np.testing.assert_array_equal(among, _products(rows, rows.copy()))
    np.testing.assert_allclose(among, (rows @ rows.T).toarray(), rtol=1e-5, atol=1e-6)
    assert np.count_nonzero(np.triu(among, 1))


def test_support_vectors_are_those_of_the_radial_kernel() -> None:
    machines = pytest.importorskip("sklearn.svm")
    X = sparse.csr_matrix(np.where(RNG.random((150, 8)) < 0.5, RNG.normal(size=(150, 8)), 0))
    ones = np.asarray(X[:, 0].toarray()).reshape(-1) > 0
    dense = X.toarray()
    stock = machines.SVC(C=2.0, gamma=0.7 / (2 * dense.var(axis=0).sum())).fit(dense, ones)
    ours = SupportVectors([(300.0, 0.7)]).train(X, ones, [(300.0, 0.7)], 0)
    assert ours(X)[0] == pytest.approx(stock.decision_function(dense), abs=0.02)
    assert np.array_equal(ours(X)[0] > 0, stock.decision_function(dense) > 0)


def test_fewer_trees_are_the_first_of_more() -> None:
    X, ones = crossed(300, 3)
    family = Trees()
    several, few = family.train(X, ones, (5, 40), 0)(X), family.train(X, ones, (5,), 0)(X)
    assert np.array_equal(several[0], few[0])
    assert not np.array_equal(several[0], several[1])


def test_trees_without_openmp_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, where LightGBM is linked to a library that it does not bring."""
    (tmp_path / "lightgbm.py").write_text('raise OSError("Library not loaded: libomp.dylib")')
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    X, ones = crossed(20, 3)
    with pytest.raises(MidpointError, match="brew install libomp"):
        Trees().train(X, ones, (5,), 0)


@pytest.mark.parametrize(
    ("family", "setting"),
    [
        (Logistic((5.0,)), 5.0),
        (SupportVectors([(50.0, 0.5)]), (50.0, 0.5)),
        (QuadraticKernel(), 0.05),
        (Products(), 0.5),
    ],
)
def test_a_setting_means_the_same_on_twice_as_many_rows(family: Family, setting: object) -> None:
    """What is chosen on few rows is used on many: the same rows twice give the same answer."""
    X, ones = crossed(120, 5)
    twice, both = np.vstack([X, X]), np.concatenate([ones, ones])
    one = family.train(X, ones, [setting], 0)(X)[0]
    other = family.train(twice, both, [setting], 0)(X)[0]
    assert other == pytest.approx(one, abs=0.02 * np.ptp(one))


def test_people_are_compared_where_a_column_is_nearly_the_same_for_all_of_a_part() -> None:
    """What is learned of items alone is so where everyone rates everything (see FARTHEST)."""
    rng = np.random.default_rng(4)
    ones = rng.random(600) < 0.5
    rows = rng.normal(size=(600, 6)) + ones[:, None]
    part = np.arange(600) % 3
    settings = ((3_000.0, 0.1),)
    for step in (3e-6, 1e-3):  # hardly there, and far off
        within = np.column_stack([rows, 0.02 + step * part])
        within[400:, -1] = 0.02 + 150 * step  # of those who are attacked
        plain, beside = (
            SupportVectors(settings).train(table[:400], ones[:400], settings, 0)(table[400:])[0]
            for table in (rows, within)
        )
        assert auc(plain, ones[400:]) > 0.85
        assert auc(beside, ones[400:]) > auc(plain, ones[400:]) - 0.05
