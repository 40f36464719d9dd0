"""A few strong attackers that take little time, to compare schemes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.audit.attackers.features import (
    level_columns,
    mask,
    profile_features,
    short_profile,
    values_and_mask,
)
from midpoint.audit.attackers.kernels import QuadraticKernel, SupportVectors, ridge
from midpoint.audit.attackers.learned import Answer, Family, Rows
from midpoint.audit.attackers.linear import Logistic
from midpoint.audit.attackers.products import Products
from midpoint.audit.attackers.scaling import Scaling
from midpoint.audit.attackers.trees import Trees
from midpoint.audit.attackers.view import View

Float = NDArray[np.float64]


@dataclass(frozen=True)
class QuickAttacker:
    """An attacker that chooses no setting: it averages the standardized scores of all of them."""

    name: str
    """The features that it uses."""
    form: Callable[[View], Rows]
    """Turns a view into rows of numbers."""
    family: Family
    """The models that learn from them."""

    def fit(self, rows: Rows, ones: NDArray[np.bool_]) -> Callable[[Rows], Float]:
        """Learn from rows; return a function that scores other rows. Shape (rows,)."""
        most = self.family.most_rows
        if most is not None and len(ones) > most:  # the last draws are of the same people
            some = np.random.default_rng(0).permutation(len(ones))[:most]
            rows, ones = rows[some], ones[some]
        answer = self.family.train(rows, ones, self.family.settings, 0)

        def score(new: Rows) -> Float:
            each = answer(new)
            spread = each.std(axis=1, keepdims=True)
            return np.asarray((each / np.maximum(spread, 1e-12)).mean(axis=0), np.float64)

        return score


def stacked(form: Callable[[View], Rows], views: Sequence[View]) -> Rows:
    """Turn several views into rows of numbers, one below the other."""
    tables = [form(view) for view in views]
    return sparse.vstack(tables, format="csr") if sparse.issparse(tables[0]) else np.vstack(tables)


def exact_levels(view: View) -> Rows:
    """One column for each item and level, and the share of each level. Shape (N, M L + L).

    Fine scales are not binned: which round numbers a person uses says something about her.
    """
    levels = view.scale.levels
    if levels is None:
        return level_columns(view)
    points = np.array(levels)
    level = np.searchsorted((points[1:] + points[:-1]) / 2, view.reports.value)
    width = view.profiles.n_items * len(points)
    column = view.reports.item.astype(np.int64) * len(points) + level
    share = 1 / np.maximum(view.counts, 1)[view.user]
    single = view.table(np.ones(len(column)), column, width)
    used = view.table(share, level, len(points))
    used.sum_duplicates()
    return sparse.hstack([single, used], format="csr")


@dataclass(frozen=True)
class GaussianRidge(Family):
    """Kernel ridge regression with a Gaussian kernel; a setting is (gamma, penalty).

    y ~ sum_i a_i exp(-gamma |z - z_i|^2 / mean of |a - b|^2), (K + penalty n I) a = y

    It finds what support vectors find, by solving one system of equations.
    """

    settings: Sequence[tuple[float, float]] = ((0.1, 1e-4), (0.7, 1e-3))
    """The kernel's inverse width, and the penalty per row."""
    most_rows: int | None = 2000

    def train(
        self,
        rows: Rows,
        ones: NDArray[np.bool_],
        chosen: Sequence[tuple[float, float]],
        _seed: int,
        /,
    ) -> Answer:
        """Solve for the weights."""
        scaled = Scaling.of(rows)
        known = scaled(rows)
        apart = _distances(known, known)
        unit = max(float(apart.mean()), 1e-12)
        y = ones - ones.mean()
        weights = [
            ridge(np.exp(-gamma / unit * apart), y, penalty * len(y)) for gamma, penalty in chosen
        ]

        def answer(new: Rows) -> Float:
            apart = _distances(scaled(new), known) / unit
            pairs = zip(chosen, weights, strict=True)
            return np.stack([np.exp(-gamma * apart) @ weight for (gamma, _), weight in pairs])

        return answer


def _distances(a: Rows, b: Rows) -> Float:
    """Return squared distances between rows. Shape (rows of a, rows of b)."""
    lengths = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1)
    return np.asarray(np.maximum(lengths - 2 * (a @ b.T), 0.0), np.float64)


SPARSE = Logistic((0.05, 1.0, 20.0))
SUPPORT = ((3_000.0, 0.7), (30_000.0, 0.1))
ATTACKERS: Sequence[QuickAttacker] = (
    QuickAttacker("sets", mask, SPARSE),
    QuickAttacker("sets and values", values_and_mask, SPARSE),
    QuickAttacker("levels", exact_levels, SPARSE),
    QuickAttacker("profile", profile_features, Logistic((1.0, 30.0, 1000.0))),
    QuickAttacker("profile, radial", profile_features, GaussianRidge()),
    QuickAttacker("profile, trees", profile_features, Trees((60, 150), most_rows=5000)),
    QuickAttacker(
        "items, support vectors", values_and_mask, SupportVectors(SUPPORT, most_rows=2000)
    ),
    QuickAttacker("pairs of levels", level_columns, QuadraticKernel((0.01, 0.1), most_rows=3000)),
    QuickAttacker("products", short_profile, Products((0.3, 3.0))),
)
"""Those that try every candidate."""
SET_ATTACKERS: Sequence[QuickAttacker] = (
    QuickAttacker("sets", mask, SPARSE),
    QuickAttacker("pairs of items", mask, QuadraticKernel((0.01, 0.1), most_rows=3000)),
)
"""Those that use nothing but which items people rated."""
CLEAN = QuickAttacker("raw ratings", values_and_mask, Logistic((0.05, 1.0)))
"""The attacker that learns from raw ratings."""
