"""Attackers without training: they compute from the model, the scheme and the disclosure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import CategoryEstimates
from midpoint.audit.attackers.attacker import Float, Labels, NestedScores
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.attackers.features import by_part, estimates_of
from midpoint.audit.attackers.joint import joint_fit
from midpoint.audit.attackers.learned import SURE, evenly
from midpoint.audit.attackers.view import View
from midpoint.errors import MidpointError
from midpoint.protocol.obfuscation import obfuscate_ratings
from midpoint.user import PURPOSES, Adjustment, Parameters, reveal_probability
from midpoint.user.parameters import PositionModel
from midpoint.wire import GRAIN, ONE, ValueMap, to_fixed

LEAST = 1e-6
"""Probability of what a category never does, as far as is known."""
COINS = 64
"""Coins that stand for all coins when a scheme's outcomes are worked out."""


@dataclass
class ByCategory:
    """Weighs the evidence for the category that it is asked about against that for the others.

    score = e_c - log sum_{k != c} exp(e_k),  which is e_1 - e_0 for a binary feature
    """

    name: str
    """What it is called in reports."""
    adaptive: bool
    """Whether it is fitted on obfuscated views, or on clean ratings."""
    evidence: Callable[[View], Float]
    """Log-likelihood of what each person reported under each category. Shape (N, K)."""
    control: str = "no"
    """The scheme that it must succeed on."""
    wanted: int = field(default=1, init=False)
    """The category that people labelled 1 have."""
    sign: float = field(default=1.0, init=False)
    """-1 if training people are surely distinguished by the flipped sign."""

    def ask(self, category: int) -> None:
        """Say which category the ones have: a guess from what a good scheme leaves is noise."""
        self.wanted = category

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:  # noqa: ARG002
        """Flip the sign where that is no chance; nothing else is to be learned."""
        area = auc(_contrast(self.evidence(views[0]), self.wanted), category)
        shown = all(one.shows_sign for one in views[0].nested_folds)
        flipped = shown and area < 0.5 - SURE * chance_deviation(category)
        self.sign = -1.0 if flipped else 1.0

    def nested(self, views: Sequence[View], category: Labels, *, seed: int) -> NestedScores:  # noqa: ARG002
        """Score those who are judged in nested folds, or all by what was learned without them."""
        folds = [(one.judged, one.judge) for one in views[0].nested_folds] or views[0].apart
        everyone = [(np.arange(len(category), dtype=np.intp), views[0])]
        scored = [(who, self.score(view)) for who, view in folds or everyone]
        return NestedScores.of([(who[evenly(len(who))], s[evenly(len(s))]) for who, s in scored])

    def score(self, view: View) -> Float:
        """Return the log-odds of the wanted category."""
        return self.sign * _contrast(self.evidence(view), self.wanted)


def joint_errors(view: View) -> Float:
    """Fit profile and category jointly (LSE, Eq. 6), under the prior of profiles. Shape (N, K).

    e_k = -min_x [sum_j (y_j - centre_j - offset_jk - <x, v_j>)^2 / sigma^2
                  + (x - m)' C^-1 (x - m)] / 2
    """
    return -joint_fit(view.profiles, view.reports).loss / 2


def fractions(view: View) -> Float:
    """Count how many values are whole ratings less each category's offset. Shape (N, K).

    A rating is a level, so y = r - offset_k tells which offset it was, unless it was rounded.
    """
    return by_part(view, _whole_ratings)


def likelihoods(view: View) -> Float:
    """Return log P(report | category), items taken as independent. Shape (N, K).

    e_k = sum_{j revealed} log [q_jk / sum_i q_ik  P_k(y_j)]: which items, given how many, with
    q = p_k reveal_k, and what was said of them, by the scheme's own outcomes.
    """
    return by_part(view, _likelihood)


def _whole_ratings(view: View) -> Float:
    parameters, item = (
        Parameters.of(view.disclosure),
        view.profiles.message_index[view.reports.item],
    )
    if parameters.offset is None or parameters.points is None:
        return np.zeros((view.n_users, parameters.n_cells))
    before = to_fixed(view.reports.value)[:, None] + parameters.offset[item]
    return _added(view, np.isin(before, parameters.points))


def _likelihood(view: View) -> Float:
    estimates = estimates_of(view.profiles)
    if estimates is None:
        return np.zeros((view.n_users, 0))
    parameters, index = Parameters.of(view.disclosure), view.profiles.message_index
    rate = np.maximum(estimates.probability, LEAST)
    if parameters.reveal is not None:
        rate = rate * parameters.reveal[index]
    elif parameters.positions is not None:
        rate = rate * typical_reveal(parameters.positions)[index]
    if parameters.keep is not None:
        rate = np.maximum(rate * parameters.keep[index, None], LEAST)
    which = np.log(rate / rate.sum(axis=0))[view.reports.item]
    return _added(view, which + _log_values(view, estimates, parameters, index))


def _log_values(
    view: View, estimates: CategoryEstimates, parameters: Parameters, index: NDArray[np.intp]
) -> Float:
    """Return log P_k(y_j) of each reported value; 0 where the scheme's map says nothing. (n, K)."""
    item, value = view.reports.item, to_fixed(view.reports.value)
    kind, points = parameters.scheme.value_map, parameters.reported
    averaged = kind in (ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
    if estimates.levels is None or points is None or averaged:
        return np.zeros((len(item), estimates.probability.shape[1]))
    K, outcome, given = estimates.levels.shape[1], value[:, None], estimates.levels
    if kind is ValueMap.SHIFTED and parameters.offset is not None:
        outcome = outcome + parameters.offset[index[item]]
    elif kind is not ValueMap.AS_IS:
        given = _outcomes(given, parameters, index)
    level = np.minimum(np.searchsorted(points, outcome), len(points) - 1)
    likely = given[item[:, None], np.arange(K), np.broadcast_to(level, (len(item), K))]
    return np.log(np.maximum(np.where(points[level] == outcome, likely, 0.0), LEAST))


def _outcomes(given: Float, parameters: Parameters, index: NDArray[np.intp]) -> Float:
    """Return each category's distribution over the reported levels. Shape (M, K, L).

    Every rating of every category is obfuscated with coins that fill the square evenly.
    """
    points, reported = parameters.points, parameters.reported
    if points is None or reported is None:
        raise MidpointError("outcomes are worked out for ratings in levels")
    M, K, L = given.shape
    item, cell, level = (part.reshape(-1) for part in np.indices((M, K, L)))
    outcomes = np.zeros((M, K, len(reported)))
    still = np.zeros(len(item), dtype=np.int64)  # how far values move differs by person
    adjustment = Adjustment(np.full(len(item), ONE), still, np.zeros(0, dtype=np.int64))
    coins = np.zeros((len(item), len(PURPOSES)))
    for turn in range(COINS):
        even = (turn + 0.5) / COINS
        for column, purpose in enumerate(PURPOSES):
            coins[:, column] = {"value": even, "split": turn * 0.6180339887 % 1}.get(purpose, 0.0)
        rated = index[item], points[level], cell
        sent = obfuscate_ratings(*rated, parameters, coins, adjustment).value
        np.add.at(
            outcomes, (item, cell, np.searchsorted(reported, sent)), given.reshape(-1) / COINS
        )
    return outcomes


def typical_reveal(positions: PositionModel) -> NDArray[np.int64]:
    """Return how likely the mean person of each category reveals each item. Shape (M, K).

    That is the mean over the strata, each with a mean person of its own.
    """
    selection_factors = np.rint(
        positions.mean[:, :, : positions.selection.shape[1]] * GRAIN
    ).astype(np.int64)
    items, (G, K) = np.arange(len(positions.base)), positions.least.shape
    each = [
        [reveal_probability(positions, k, items, selection_factors[g]) for k in range(K)]
        for g in range(G)
    ]
    return np.asarray(np.mean(each, axis=0).T, dtype=np.int64)


def _contrast(evidence: Float, wanted: int) -> Float:
    """Set the evidence for one category against the others'. Shape (N,)."""
    if evidence.shape[1] < 2:  # the feature was never seen, so that nothing can be said of it
        return np.zeros(len(evidence))
    others = np.delete(evidence, wanted, axis=1)
    return np.asarray(evidence[:, wanted] - np.logaddexp.reduce(others, axis=1), np.float64)


def _added(view: View, entries: NDArray[np.generic]) -> Float:
    """Add entries (n, K) of reported ratings up by person. Shape (N, K)."""
    columns = [np.bincount(view.user, column, view.n_users) for column in entries.T]
    return np.stack(columns, axis=1).astype(np.float64)
