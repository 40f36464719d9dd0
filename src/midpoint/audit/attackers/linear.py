"""Linear models: logistic regression, naive Bayes, and directions learned from a panel."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from midpoint.audit.attackers.attacker import Float, targets
from midpoint.audit.attackers.features import by_part, mask, values_and_mask
from midpoint.audit.attackers.learned import Answer, Family, Rows, one_thread, stack_rows
from midpoint.audit.attackers.scaling import Scaling
from midpoint.audit.attackers.view import Panel, View

MOST_STEPS = 60
"""Steps of the optimizer; what more of them change does not reach the AUC's third digit."""


@dataclass(frozen=True)
class Logistic(Family):
    """Logistic regression with an L2 penalty; a setting is C.

    (w, b) = argmin  C mean_i log(1 + exp(-y_i (<w, z_i> + b))) + |w|^2 / 2,  y_i = -1 or 1

    A mean, so that a C that was chosen on some rows means the same on many more.
    """

    settings: Sequence[float]
    """C: how much the data count against the penalty, ascending."""
    standardized: bool = True
    """Whether columns are brought to the same deviation first."""

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[float], _seed: int, /
    ) -> Answer:
        """Fit by L-BFGS, each C starting from what the last one fitted."""
        scaled = Scaling.of(rows) if self.standardized else _single
        X, y = scaled(rows), np.where(ones, 1.0, -1.0)
        fitted = [_start(X, y)]
        for C in chosen:
            fitted.append(_logistic(X, y, C, fitted[-1]))
        weights = np.stack(fitted[1:])

        def answer(new: Rows) -> Float:
            return np.asarray((scaled(new) @ weights[:, 1:].T + weights[:, 0]).T, np.float64)

        return answer


@dataclass(frozen=True)
class NaiveBayes(Family):
    """Multinomial naive Bayes (Sec. 7.1), a rating counting as that many tokens of its item.

    score = log n_1 / n_0 + sum_j r_j log (theta_1j / theta_0j),
    theta_kj = (sum of class k's ratings of j + a) / (sum of that over all items)
    """

    settings: Sequence[float] = (0.01, 0.1, 1.0)
    """Smoothing a, as a share of the mean over items of their sums."""
    tuning_rows: int | None = None

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[float], _seed: int, /
    ) -> Answer:
        """Add up each class's ratings."""
        zeros_total, ones_total = (_totals(rows[members]) for members in (~ones, ones))
        weights = np.stack([_logs(ones_total, a) - _logs(zeros_total, a) for a in chosen])
        prior = np.log(ones.sum() / (~ones).sum())

        def answer(new: Rows) -> Float:
            return np.asarray((_tokens(new) @ weights.T).T + prior, np.float64)

        return answer


PANEL_FORMS = (mask, values_and_mask)
"""What directions of a panel are in: which items are revealed, and that with their values."""
PANEL_LOGISTIC = Logistic((0.5, 5.0))
"""A strong and a weak penalty: which is better shows outside the panel only."""


def panel_directions(view: View) -> Float:
    """Score people by what sets the panel's categories apart under its own disclosure.

    A disclosure takes out what its panel shows, chance included, and never quite. What is left of
    the panel's own categories is left, weakly, of everybody's. Its sign and its worth cannot be
    judged by the panel, where chance was taken out of both sides. So the directions are learned
    from the panel, and what they are worth from people who were not in it. The panel is that of
    each person's own disclosure; all is 0 where it is not known. Shape (N, 4 targets).
    """
    return by_part(view, _panel_scores)


def _panel_scores(view: View) -> Float:
    if view.panel is None:
        return np.zeros((view.n_users, len(PANEL_FORMS) * len(PANEL_LOGISTIC.settings)))
    rows = [form(view) for form in PANEL_FORMS]
    each = [answer(rows[which]) for which, answer in _directions(view.panel)]
    return np.concatenate(each).T


@lru_cache(maxsize=16)
def _directions(panel: Panel) -> list[tuple[int, Answer]]:
    """Learn the directions of a panel, each with the form that it is in."""
    views, learned = panel.draw(), list[tuple[int, Answer]]()
    for which, form in enumerate(PANEL_FORMS):
        rows = stack_rows([form(view) for view in views])
        for k in targets(int(panel.category.max()) + 1):
            ones = np.tile(panel.category == k, len(views))
            with one_thread():
                learned.append(
                    (which, PANEL_LOGISTIC.train(rows, ones, PANEL_LOGISTIC.settings, 0))
                )
    return learned


def _logistic(X: Rows, y: Float, C: float, start: Float) -> Float:
    """Minimize the penalized loss. Shape (1 + columns,), the intercept first."""
    turned = X.T  # once: of a sparse table it is an object to be made

    def loss(w: Float) -> tuple[float, Float]:
        margin = y * (X @ w[1:].astype(np.float32) + w[0])
        pull = -y * expit(-margin)
        slope = np.append(pull.mean(), turned @ pull.astype(np.float32) / len(y) + w[1:] / C)
        return float(np.logaddexp(0, -margin).mean() + w[1:] @ w[1:] / (2 * C)), slope

    options = {"maxiter": MOST_STEPS, "ftol": 1e-6, "gtol": 1e-5}
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)


def _start(X: Rows, y: Float) -> Float:
    """Begin with the log-odds of the classes and no weights."""
    return np.concatenate([[np.log((y > 0).sum() / (y < 0).sum())], np.zeros(X.shape[1])])


def _single(rows: Rows) -> Rows:
    return rows.astype(np.float32)


def _totals(rows: Rows) -> Float:
    return np.asarray(_tokens(rows).sum(axis=0), np.float64).reshape(-1)


def _logs(totals: Float, smoothing: float) -> Float:
    """Return log theta."""
    smooth = totals + smoothing * max(float(totals.mean()), 1e-9)
    return np.asarray(np.log(smooth / smooth.sum()))


def _tokens(rows: Rows) -> Rows:
    """Cut negative values: shifted ratings can be below zero, counts cannot."""
    return rows.maximum(0) if sparse.issparse(rows) else np.maximum(rows, 0)
