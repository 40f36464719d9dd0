"""Cross-validated attackers on pure noise: which band calls it a leak no more than it says."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.attackers.learned import one_thread
from midpoint.audit.measure.statistics import WIDER, null_band, permuted_areas

pytestmark = pytest.mark.slow

PEOPLE, COLUMNS, FOLDS, REPEATS = 900, 400, 10, 400
Float = NDArray[np.float64]


@cache
def readings() -> tuple[float, Float]:
    """Return half the width of the band, and AUCs of attackers trained again on noise each time.

    Ridge regression on columns that say nothing. Labels are dealt out within folds, and unlike
    the band's, each time before training. Scores are linear in labels, so that all repeats are
    one product of matrices.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(PEOPLE, COLUMNS))
    folds = np.arange(PEOPLE) % FOLDS
    labels = (np.arange(PEOPLE) // FOLDS % 3 == 0).astype(np.int64)
    dealt = np.empty((REPEATS, PEOPLE), np.int64)
    for fold in range(FOLDS):
        inside = np.flatnonzero(folds == fold)
        dealt[:, inside] = rng.permuted(np.tile(labels[inside], (REPEATS, 1)), axis=1)
    scores = np.empty((REPEATS, PEOPLE))
    for fold in range(FOLDS):
        inside, others = folds == fold, folds != fold
        A = X[others].T @ X[others] + 100 * np.eye(COLUMNS)
        y = (dealt[:, others] - labels[others].mean()).T
        scores[:, inside] = (X[inside] @ np.linalg.solve(A, X[others].T @ y)).T
    band = null_band(scores[:1], dealt[0], folds)
    return band.half_width, np.array(
        [_area(*one, folds) for one in zip(scores, dealt, strict=True)]
    )


def planted(leak: float, seed: int) -> tuple[float, float]:
    """Return the judged half-width of an attacker's band and its AUC where a column does tell.

    That column's mean is apart by `leak` of its deviations; the others say nothing.
    """
    rng = np.random.default_rng([7, seed])
    folds = np.arange(PEOPLE) % FOLDS
    labels = (np.arange(PEOPLE) // FOLDS % 3 == 0).astype(np.int64)
    X = rng.normal(size=(PEOPLE, COLUMNS))
    X[:, 0] += leak * labels
    scores = np.empty(PEOPLE)
    for fold in range(FOLDS):
        inside, others = folds == fold, folds != fold
        A = X[others].T @ X[others] + 100 * np.eye(COLUMNS)
        y = labels[others] - labels[others].mean()
        scores[inside] = X[inside] @ np.linalg.solve(A, X[others].T @ y)
    band = null_band(scores[None], labels, folds)
    return band.judged_half_width, _area(scores, labels, folds)


def _area(scores: Float, labels: NDArray[np.int64], folds: NDArray[np.int64]) -> float:
    """Compare within folds; all folds are alike."""
    found = []
    for fold in range(FOLDS):
        inside = folds == fold
        ones, zeros = (scores[inside & (labels == k)] for k in (1, 0))
        found.append((ones[:, None] > zeros).mean())
    return float(np.mean(found))


def test_permuted_labels_alone_call_noise_a_leak_too_often() -> None:
    half, found = readings()
    assert np.mean(np.abs(found - 0.5) > half) > 0.10  # it says 0.05


def test_the_wider_band_by_which_is_judged_does_not() -> None:
    half, found = readings()
    assert np.mean(np.abs(found - 0.5) > WIDER * half) < 0.075  # 0.05 and two standard errors


def test_on_fixed_scores_the_band_is_exact() -> None:
    """It is training again that widens chance, not the number of people."""
    rng = np.random.default_rng(6)
    folds, labels = np.arange(PEOPLE) % FOLDS, (np.arange(PEOPLE) // FOLDS % 3 == 0).astype(int)
    noise = rng.normal(size=(REPEATS, PEOPLE))
    half = null_band(noise[:1], labels, folds).half_width
    away = np.abs(permuted_areas(noise, labels, folds, 1)[0] - 0.5)
    assert 0.02 < np.mean(away > half) < 0.08


def test_a_planted_leak_is_called_one_and_noise_beside_it_is_not() -> None:
    """The band is not so wide that a modest leak is taken for chance."""
    with one_thread():
        half, leaky = np.array([planted(1.0, seed) for seed in range(10)]).T
        wide, noise = np.array([planted(0.0, seed) for seed in range(10)]).T
    assert np.all(np.abs(leaky - 0.5) > half)
    assert leaky.mean() < 0.65  # most of what tells is lost among the columns that do not
    assert np.sum(np.abs(noise - 0.5) > wide) <= 2
