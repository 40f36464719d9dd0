"""What each candidate scheme leaks and costs, measured on the panel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import predict
from midpoint.analyst.fit.choice import RAW, STACK
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.audit.attackers.auc import Area, area, chance_deviation
from midpoint.audit.attackers.joint import infer, joint_fit
from midpoint.audit.attackers.learned import SURE, Rows
from midpoint.audit.attackers.view import View
from midpoint.audit.choose.attackers import (
    ATTACKERS,
    CLEAN,
    SET_ATTACKERS,
    QuickAttacker,
    stacked,
)
from midpoint.audit.choose.panel import PARTS, Panel, PanelViews
from midpoint.audit.stack import Stack
from midpoint.data import Scale
from midpoint.protocol import LearningProtocol, squared_errors
from midpoint.protocol.population import local_scores

Float = NDArray[np.float64]
Score = Callable[[Rows], Float]


@dataclass(frozen=True, eq=False)
class Leak:
    """The strongest attack on a candidate."""

    area: Area
    """Its AUC, and what each person contributes to the error of the AUC."""
    attack: str
    """The name of the attack."""
    category: int
    """The target: the category that it tells from all others."""
    deviation: float
    """Standard error of its AUC if nothing leaks."""
    tries: float = 1.0
    """The number of attacks that it is the strongest of; one whose sign is free counts twice."""

    @property
    def value(self) -> float:
        """The AUC."""
        return self.area.value

    @property
    def excess(self) -> float:
        """How far the AUC is above what the strongest of `tries` attacks usually reaches by luck.

        AUC - 0.5 - s z, where s is `deviation` and z the median of the greatest of n normal
        numbers: Phi(z)^n = 1/2. So many attackers, or small categories, do not look like a leak.
        """
        return self.value - 0.5 - self.deviation * NormalDist().inv_cdf(0.5 ** (1 / self.tries))

    def bound(self, errors: float) -> float:
        """Return an upper bound of the AUC: so many standard errors above what was measured."""
        return 0.5 + max(self.excess, 0.0) + errors * self.deviation

    def above(self, other: "Leak") -> tuple[float, float]:
        """Return by how much this leak exceeds another, and the standard error of the difference.

        Both were measured on the same people, so the error is DeLong's for correlated curves:
        sqrt(sum_i (a_i - b_i)^2), where a_i and b_i are what person i contributes to the error of
        either AUC. A leak within luck counts as none.
        """
        apart = np.square(self.area.influence - other.area.influence).sum()
        beyond = max(self.excess, 0.0) - max(other.excess, 0.0)
        return beyond, float(np.sqrt(apart))


@dataclass(frozen=True, eq=False)
class Measured:
    """What one candidate does to a panel."""

    leak: Leak
    """The strongest attack."""
    accuracy: Float
    """Each person's sum of squared prediction errors. For unary data the NDCG@10 of each person's
    list instead, 0 where nothing is held out. Shape (N,)."""


def measure(
    panel: Panel, protocol: LearningProtocol, raw: "RawAttackers | None" = None
) -> Measured:
    """Protect, attack and predict each part of a panel by models of the other parts.

    With `raw`, attackers that learned from raw ratings try as well.
    """
    shown = PanelViews(panel, protocol)
    wanted = panel.looked_for
    names = [attacker.name for attacker in ATTACKERS] + [CLEAN.name] * (raw is not None)
    scores = np.zeros((len(names), len(wanted), panel.draws, len(panel.category)))
    values = np.zeros(len(panel.category))
    for part, trial in enumerate(shown.trials()):
        draws = range(1, panel.draws)
        views = [trial.judge, *(shown.view(part, frozenset({part}), draw) for draw in draws)]
        whose = panel.members[part]
        values[whose] = _accuracy(shown, part, trial.judge)
        category = np.tile(_learner_categories(panel, part), panel.draws)
        read = cache(lambda form, trial=trial: stacked(form, trial.learn))
        new = cache(lambda form, views=views: [form(view) for view in views])
        for q, k in enumerate(wanted):
            fits: list[Score] = [
                attacker.fit(read(attacker.form), category == k) for attacker in ATTACKERS
            ]
            fits += [] if raw is None else [raw.score(part, k)]
            forms = [attacker.form for attacker in ATTACKERS] + [CLEAN.form]
            for r, (score, form) in enumerate(zip(fits, forms, strict=False)):
                for d, table in enumerate(new(form)):
                    scores[r, q, d, whose] = score(table)
    return Measured(_strongest(panel, names, wanted, scores), values)


class RawAttackers:
    """Attackers that learn from raw ratings, as the paper's do; all candidates share them."""

    def __init__(self, panel: Panel) -> None:
        self._shown = PanelViews(panel, LearningProtocol(RAW))
        self._fitted: dict[tuple[int, int], Score] = {}

    def score(self, part: int, category: int) -> Score:
        """Return what scores the people of a part by how likely they are of a category."""
        if (part, category) not in self._fitted:
            self._fitted[part, category] = self._fit(CLEAN, part, category)
        return self._fitted[part, category]

    def _fit(self, attacker: QuickAttacker, part: int, category: int) -> Score:
        """Learn to find a category among the people of the other parts."""
        others = [p for p in range(PARTS) if p != part]
        views = [self._shown.view(p, frozenset({part}), 0) for p in others]
        rows = stacked(attacker.form, views)
        return attacker.fit(rows, _learner_categories(self._shown.panel, part) == category)

    def sets_leak(self, level: float) -> float:
        """Return an upper bound of the AUC of the best attack on which items people rated.

        Raw sets are not protected, so an AUC below 0.5 is luck: the sign is never flipped here.

        Args:
            level: The one-sided confidence level of the bound.
        """
        panel = self._shown.panel
        bounds = list[float]()
        for category in panel.looked_for:
            ones = panel.category == category
            for attacker in SET_ATTACKERS:
                scores = np.zeros(len(ones))
                for part, whose in enumerate(panel.members):
                    seen = attacker.form(self._shown.view(part, frozenset({part}), 0))
                    scores[whose] = self._fit(attacker, part, category)(seen)
                found_by = area(scores, ones, panel.part)
                deviation = max(found_by.deviation, chance_deviation(ones))
                bounds.append(max(found_by.value, 0.5) + NormalDist().inv_cdf(level) * deviation)
        return min(max(bounds), 1.0)


def cost(accuracy: Float, raw: Float, scale: Scale) -> float:
    """Return how much larger the error is than that of raw ratings: sqrt(S / S_raw) - 1.

    For unary data, the share of NDCG@10 that is lost: 1 - N / N_raw.
    """
    ratio = float(accuracy.sum()) / max(float(raw.sum()), 1e-300)
    return 1 - ratio if scale.is_unary else sqrt(ratio) - 1


def cost_bound(accuracy: Float, raw: Float, scale: Scale, level: float) -> float:
    """Return an upper bound of a scheme's cost, at a one-sided confidence level.

    R = S / S_raw is a ratio of sums over people i. Its standard error is
    sqrt(sum_i (s_i - R s_i,raw)^2) / S_raw; that of sqrt(R) is half of it, divided by sqrt(R).
    """
    total = max(float(raw.sum()), 1e-300)
    ratio = float(accuracy.sum()) / total
    error = float(np.sqrt(np.square(accuracy - ratio * raw).sum())) / total
    slope = 1.0 if scale.is_unary else 1 / (2 * sqrt(max(ratio, 1e-12)))
    return cost(accuracy, raw, scale) + NormalDist().inv_cdf(level) * slope * error


def accuracy(panel: Panel, protocol: LearningProtocol) -> Float:
    """Return each person's accuracy under a protocol, without attacks. Shape (N,)."""
    shown, values = PanelViews(panel, protocol), np.zeros(len(panel.category))
    for part, whose in enumerate(panel.members):
        values[whose] = _accuracy(shown, part, shown.view(part, frozenset({part}), 0))
    return values


def _accuracy(shown: PanelViews, part: int, view: View) -> Float:
    """Return each person's accuracy in one part. Shape (people of the part,)."""
    return (_ndcg if shown.panel.ratings.scale.is_unary else _squares)(shown, part, view)


def _strongest(panel: Panel, names: Sequence[str], wanted: Sequence[int], scores: Float) -> Leak:
    """Find the attack that is farthest beyond chance: the stack, or a single attacker.

    The people that attackers learn from also took part in the disclosure of those attacked. What is
    special about them by chance is taken out of the others' reports, so an attack can be right with
    its sign flipped, and everyone who knows the protocol knows that. So a single attacker counts on
    either side of 0.5. The stack learned its signs on the other parts, and counts as it is.
    """
    leaks = list[Leak]()
    for q, k in enumerate(wanted):
        ones = panel.category == k
        deviation = chance_deviation(ones)
        stacked = Area.mean(_areas(panel, stack_scores(panel, scores[:, q], ones), ones))
        leaks.append(Leak(stacked, STACK, k, deviation, len(wanted)))
        for r, name in enumerate(names):
            mean = Area.mean(_areas(panel, scores[r, q], ones))
            folded = Area(0.5 + mean.distance, mean.sign * mean.influence)
            leaks.append(Leak(folded, name, k, deviation, 2 * len(wanted) * len(names)))
    return max(leaks, key=lambda leak: leak.excess)


def _areas(panel: Panel, scores: Float, ones: NDArray[np.bool_]) -> list[Area]:
    """Return the AUC for each draw of the coins; people are compared within their part."""
    return [area(drawn, ones, panel.part) for drawn in scores]


class Parted(Protocol):
    """People in parts."""

    @property
    def part(self) -> NDArray[np.int64]:
        """Part of each person. Shape (N,)."""

    @property
    def members(self) -> list[NDArray[np.intp]]:
        """The people of each part, by index."""


def stack_scores(panel: Parted, scores: Float, ones: NDArray[np.bool_]) -> Float:
    """Combine attackers' scores of each part by a stack that was fitted to the other parts.

    From shape (attackers, draws, N) to (draws, N). An attacker's sign is flipped if its AUC on the
    other parts is significantly below 0.5.
    """
    weighed = np.zeros(scores.shape[1:])
    for part, inside in enumerate(panel.members):
        others = np.flatnonzero(panel.part != part)
        known, group = scores[:, 0, others].T, panel.part[others]
        wrong = 0.5 - SURE * chance_deviation(ones[others])
        sign = np.array(
            [-1.0 if area(one, ones[others], group).value < wrong else 1.0 for one in known.T]
        )
        groups = np.repeat(group[:, None], len(sign), axis=1)
        stack = Stack.fit(known * sign, groups, ones[others])
        for draw in range(len(weighed)):
            weighed[draw, inside] = stack(scores[:, draw, inside].T * sign)
    return weighed


def _learner_categories(panel: Panel, part: int) -> NDArray[np.intp]:
    """Return the categories of the people that attackers of a part learn from."""
    others = [panel.members[p] for p in range(PARTS) if p != part]
    return panel.category[np.concatenate(others)]


def _ndcg(shown: PanelViews, part: int, view: View) -> Float:
    """Return the NDCG@10 of the lists that devices show. Shape (people of the part,)."""
    panel, protocol = shown.panel, shown.protocol
    given, hidden = (ratings.select_users(panel.part == part) for ratings in panel.split)
    people, category = panel.given[part], panel.category[panel.members[part]]
    x = protocol.estimate(view.profiles, view.reports, view.disclosure)
    move = protocol.moves(
        view.disclosure, view.profiles, people, shown.coins(part, 0), view.reports
    )
    score = local_scores(view.disclosure, view.profiles, x, category, move)
    sets = [Sets(ratings.user_offsets, ratings.item) for ratings in (given, hidden)]
    return np.nan_to_num(rank_people(score, sets[0], sets[1], view.profiles.n_items).ndcg)


def _squares(shown: PanelViews, part: int, view: View) -> Float:
    """Return the squared errors of predicted hidden ratings. Shape (people of the part,).

    Predictions are those that devices show. From raw ratings the category can be inferred together
    with the profile, so these count by the better of both predictions.
    """
    panel, protocol = shown.panel, shown.protocol
    hidden = panel.split.hidden.select_users(panel.part == part)
    profiles, rows = view.profiles, (hidden.user, hidden.item)
    x = protocol.estimate(profiles, view.reports, view.disclosure)
    given = panel.given[part], shown.coins(part, 0), view.reports
    shown_as = [protocol.predictions(view.disclosure, profiles, *given, x, *rows)]
    if protocol.name == RAW:
        cell, x = infer(profiles, view.reports, joint_fit(profiles, view.reports))
        added = profiles.offset[hidden.item, cell[hidden.user]]
        shown_as.append(predict(profiles, x, *rows, added))
    truth = hidden.value, hidden.user, hidden.n_users
    return min((squared_errors(values, *truth) for values in shown_as), key=np.sum)
