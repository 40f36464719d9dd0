"""Choosing a scheme: candidates are tried on the panel, and one of them is taken."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst import Factorizer
from midpoint.analyst.disclose.scheme_choice import itemwise_scheme
from midpoint.analyst.fit.choice import ALLOWED, RAW, Allowance, Choice
from midpoint.audit.choose.candidates import candidates, protocol_of, thinned, variants
from midpoint.audit.choose.measurement import RawAttackers, accuracy, cost, cost_bound, measure
from midpoint.audit.choose.panel import FEWEST, Panel, measurable
from midpoint.audit.choose.rule import (
    SURE,
    Trial,
    alike_but_for_levels,
    cheap_enough,
    decide,
    excess,
    simplest,
)
from midpoint.data import Feature, Ratings, with_known
from midpoint.errors import MidpointError

NDCG_PER_RMSE = 8 / 3
"""A scheme may cost so many times more NDCG@10 than RMSE: 4 % where 1.5 % are allowed. Lists lose
more than predictions do: withholding a quarter of the answers at random costs that much."""
NAMED = 3
"""How many categories a warning names."""
UNSEEN = (
    "Nothing was measured: merge categories, or share the feature of more people. What leaks is not"
    " known."
)
UNROUNDED = (
    "The scale is continuous: if people's ratings come in steps, however small, the digits of what"
    " is sent give the category away, and these attacks do not look for that. Devices on which"
    " people rate in steps refuse such a scale; --levels rounds ratings."
)


def choose(
    ratings: Ratings,
    features: Sequence[str],
    *,
    factorizer: Factorizer | None = None,
    allow: Allowance = ALLOWED,
    names: Sequence[str] | None = None,
    positions: bool = True,
    assigned: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Choose the scheme for a panel, by attacks on the panel itself.

    The people are cut into three parts, and each part is attacked in turn. It is protected by a
    model of the other two. Attackers learn from the other two, each protected by a model without
    itself and without the part under attack.

    The choice is the simplest candidate that costs no more than allowed, is shown to hold the leak,
    and leaks no more than the best by a one-sided paired test. If there is none, it is the one that
    leaks least, of which devices then reveal the smallest share that the cost allows.

    Args:
        ratings: The panel; who did not share a category is left out.
        features: The private feature; several make a joint one.
        factorizer: How item profiles are learned.
        allow: What protection may cost; for unary data `NDCG_PER_RMSE` times that share of NDCG@10.
        names: The candidates, the simplest first. Unless given, those for the scale, and if the
            best of them is not at chance, variants of it.
        positions: Whether positions can be learned, which counterparts need.
        assigned: Whether people did not choose what they rate: then nothing is withheld.
        seed: Decides who is in which part, and every coin.
        progress: Is called with the candidates done and to do.
    """
    people = with_known(ratings, *features)
    per_rmse = NDCG_PER_RMSE if people.scale.is_unary else 1.0
    most_cost = allow.cost * per_rmse
    feature = people.feature(*features)
    every = candidates(people.scale, positions=positions, assigned=assigned)
    wanted = every if names is None else tuple(names)
    obstacle = _obstacle(feature)
    if obstacle is not None:
        simple = itemwise_scheme(people.scale, assigned=assigned)
        return Choice(simple, obstacle, panel=people.n_users, most_cost=most_cost, warning=UNSEEN)
    panel = Panel.of(people, features, factorizer or Factorizer(), seed)
    with threadpool_limits(1):  # sums in another order are other sums
        tried = _Attempts(panel, progress, len(wanted))
        tried.attempt(wanted)
        if names is None and positions and tried.trials:
            _try_settings(tried, panel, most_cost, allow.share, assigned=assigned)
        tried.report_progress()
    if not tried.trials:
        raise MidpointError(f"no candidate could be tried: {'; '.join(tried.failed.values())}")
    choice = decide(tried.raw, tried.trials, feature.categories, most_cost, tried.failed, per_rmse)
    warnings = [choice.warning, _unmeasured(feature)]
    warnings += [] if people.scale.is_discrete else [UNROUNDED]
    measured = panel.ratings.n_users
    return replace(
        choice, people=measured, panel=people.n_users, warning=" ".join(filter(None, warnings))
    )


def sets_leak(ratings: Ratings, features: Sequence[str], seed: int = 0) -> float:
    """Return an upper bound of the AUC of the best attack on which items people rated.

    The attack learns from two thirds of the people and is tried on the others, each third in turn.
    With few people the bound is high, so they prove nothing.
    """
    people = with_known(ratings, *features)
    obstacle = _obstacle(people.feature(*features))
    if obstacle is not None:
        raise MidpointError(obstacle)
    with threadpool_limits(1):
        return RawAttackers(Panel.of(people, features, Factorizer(), seed)).sets_leak(SURE)


class _Attempts:
    """The candidates that were tried so far, and those that failed."""

    def __init__(
        self, panel: Panel, progress: Callable[[int, int], None] | None, wanted: int
    ) -> None:
        if progress:
            progress(0, 1 + wanted)
        self._panel, self._progress, self._attackers = panel, progress, RawAttackers(panel)
        self.wanted = 1
        """How many are to be tried, raw ratings included."""
        self.failed = dict[str, str]()
        """Why candidates could not be tried, by name."""
        self.raw = Trial(RAW, measure(panel, protocol_of(RAW), self._attackers), 0.0)
        """What was measured of raw ratings."""
        self.trials = list[Trial]()
        """What was measured of the candidates, the simplest first."""

    def attempt(
        self, schemes: Sequence[str], after: Trial | None = None, *, share: bool = False
    ) -> None:
        """Measure candidates, and list them behind `after`; note why one could not be learned.

        With `share` they reveal shares of `after`.
        """
        scale, raw = self._panel.ratings.scale, self.raw.measured.accuracy
        thins = after.scheme if after and share else None
        at = len(self.trials) if after is None else self.trials.index(after) + 1
        self.wanted += len(schemes)
        for scheme in schemes:
            self.report_progress()
            try:
                measured = measure(self._panel, protocol_of(scheme), self._attackers)
            except MidpointError as error:
                self.failed[scheme] = str(error)
                continue
            most = cost_bound(measured.accuracy, raw, scale, SURE) if share else None
            costs = cost(measured.accuracy, raw, scale)
            self.trials.insert(at, Trial(scheme, measured, costs, thins, most))
            at += 1

    def report_progress(self) -> None:
        """Report how many are done."""
        if self._progress:
            self._progress(1 + len(self.trials) + len(self.failed), self.wanted)


def _try_settings(
    tried: _Attempts, panel: Panel, most_cost: float, least_share: float, *, assigned: bool
) -> None:
    """Try variants of the candidate that leaks least, and shares of the one that would be taken.

    Variants are tried unless it is at chance, shares unless the leak is held. Shares are tried on
    each number of levels: with few levels there may be no cost left for revealing few answers.
    """
    scale = panel.ratings.scale
    positions = ("cmpss" if scale.is_unary else "cmp") not in tried.failed
    best = min(cheap_enough(tried.trials, most_cost), key=excess)
    if best.leak.excess > 0:
        more = variants(best.scheme, scale, positions=positions, assigned=assigned)
        tried.attempt(more, best)
    taken = simplest(tried.trials, most_cost)
    if taken.is_held:
        return
    for whole in [trial for trial in tried.trials if alike_but_for_levels(trial, taken)]:
        shares = thinned(whole.scheme, scale, least_share, positions=positions)
        try:
            fewest = _smallest_share(panel, shares, tried.raw, most_cost)
        except MidpointError as error:  # positions that cannot be learned, or disclosed
            tried.failed[shares[-1]] = str(error)
            continue
        tried.attempt(fewest, whole, share=True)


def _smallest_share(
    panel: Panel, shares: Sequence[str], raw: Trial, most_cost: float
) -> Sequence[str]:
    """Return the smallest share that the cost allows, as a sequence.

    Costs rise as shares fall, so a binary search measures a few of them, often only the smallest.
    If the cost allows none, the smallest of all is returned, so that its cost and leak are known.
    """
    scale = panel.ratings.scale

    def is_cheap(share: str) -> bool:
        values = accuracy(panel, protocol_of(share))
        return cost_bound(values, raw.measured.accuracy, scale, SURE) <= most_cost

    if not shares or is_cheap(shares[-1]):
        return shares[-1:]
    allowed = bisect_left(shares[:-1], 1, key=lambda share: not is_cheap(share))
    return shares[allowed - 1 : allowed] if allowed else shares[-1:]


def _obstacle(feature: Feature) -> str | None:
    """Say why nothing can be measured; None if something can."""
    if measurable(feature):
        return None
    rarest = int(feature.counts.argmin())
    return (
        f"{feature.name} {feature.categories[rarest]} has {feature.counts[rarest]} people, and"
        f" {FEWEST} of every category are needed to measure"
    )


def _unmeasured(feature: Feature) -> str:
    """Say of which categories nothing was measured; those that nobody has are left out."""
    rare = np.flatnonzero((feature.counts > 0) & (feature.counts < FEWEST))
    if not len(rare):
        return ""
    names = ", ".join(feature.categories[k] for k in rare[:NAMED])
    more = f" and {len(rare) - NAMED} more" if len(rare) > NAMED else ""
    return (
        f"How much shows that somebody is {names}{more} was not measured: fewer than {FEWEST}"
        " people of the panel are."
    )
