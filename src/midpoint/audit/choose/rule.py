"""Which scheme protects a panel's ratings: the one rule, by what is measured on the panel."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from types import MappingProxyType
from typing import NamedTuple

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst import Factorizer
from midpoint.analyst.disclose.scheme_choice import MOST_COST, itemwise_scheme
from midpoint.analyst.fit.choice import RAW, Choice, Tried
from midpoint.audit.choose.candidates import candidates, protocol_of, variants
from midpoint.audit.choose.measurement import Leak, Measured, RawAttackers, cost, measure
from midpoint.audit.choose.panel import PARTS, Panel
from midpoint.data import Feature, Ratings, with_known
from midpoint.errors import MidpointError

SURE = 0.95
"""How sure a one-sided test is."""
ONE_SIDED = NormalDist().inv_cdf(SURE)
"""Standard errors above the least leak at which a candidate leaks more: one-sided, 5 %."""
LUCKY = 3.0
"""Standard errors of the strongest of all attacks by luck alone.

That is 2.1 at 95 % for one of ten that go together, and sqrt(2) of it, since the people of one
part are whom attackers of the others learned from (`audit.measure.statistics`).
"""
HELD = 0.55
"""AUC up to which a leak counts as held, whatever can be measured."""
NDCG_PER_RMSE = 4.0
"""How much more of NDCG@10 than of RMSE a scheme may cost: lists lose more than predictions do."""
FEWEST = 4
"""People of a category in every part, at least, for anything to be measured."""
DIGITS = 4
"""Decimals that a choice keeps."""
UNSEEN = (
    "Nothing was measured: merge categories, or share the feature of more people. What leaks is not"
    " known."
)


class Trial(NamedTuple):
    """A candidate, and what it did."""

    scheme: str
    """Its name."""
    measured: Measured
    """What it leaks, person by person."""
    cost: float
    """By what share predictions are worse than from raw ratings."""

    @property
    def leak(self) -> Leak:
        """The strongest attack on it."""
        return self.measured.leak

    def leaks_more(self, other: "Trial") -> bool:
        """Whether it leaks more than another by a one-sided test on the same people."""
        above, error = self.leak.above(other.leak)
        return above > ONE_SIDED * error


def choose(
    ratings: Ratings,
    features: Sequence[str],
    *,
    factorizer: Factorizer | None = None,
    most_cost: float = MOST_COST,
    names: Sequence[str] | None = None,
    positions: bool = True,
    assigned: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Choose the scheme for a panel, by attacks on the panel itself.

    The people are cut into three parts. Each part is protected by what was learned without it, and
    attacked by what was learned from the other two, protected likewise by what was learned without
    them and without the part that is attacked. The simplest candidate is taken whose leak is not
    above the least one by a one-sided paired test, of those that cost no more than is allowed.

    Args:
        ratings: The panel; who did not share a category is left out.
        features: The private feature; several make a joint one.
        factorizer: How item profiles are learned.
        most_cost: What a scheme may cost: a share of the error of predictions; of unary data
            `NDCG_PER_RMSE` times that share of NDCG@10.
        names: The candidates, the simplest first; unless given those of the scale, and where the
            one that leaks least is not at chance, settings of it.
        positions: Whether positions can be learned, which counterparts need.
        assigned: Whether people did not choose what they rate: then nothing is withheld.
        seed: Decides who is in which part, and every coin.
        progress: Is called with the candidates done and to do.
    """
    if most_cost < 0:
        raise MidpointError(f"the cost allowed is a share of the error, not {most_cost:g}")
    people = with_known(ratings, *features)
    most_cost *= NDCG_PER_RMSE if people.scale.is_unary else 1
    feature = people.feature(*features)
    every = candidates(people.scale, positions=positions, assigned=assigned)
    wanted = every if names is None else tuple(names)
    obstacle = _obstacle(feature)
    if obstacle is not None:
        simple = itemwise_scheme(people.scale, assigned=assigned)
        return Choice(simple, obstacle, panel=people.n_users, most_cost=most_cost, warning=UNSEEN)
    panel = Panel.of(people, features, factorizer or Factorizer(), seed)
    with threadpool_limits(1):  # sums in another order are other sums
        raw, trials, failed = _try(
            panel, wanted, most_cost, progress, settings=names is None and positions
        )
    if not trials:
        raise MidpointError(f"no candidate could be tried: {'; '.join(failed.values())}")
    choice = decide(raw, trials, feature.categories, most_cost, failed)
    return replace(choice, people=panel.ratings.n_users, panel=people.n_users)


def sets_leak(ratings: Ratings, features: Sequence[str], seed: int = 0) -> float:
    """Return the AUC that the best attack on which items people rated has at most.

    It is learned from two thirds of the people and tried on the others, each third in turn; what
    is returned is the upper end of a one-sided interval, so that few people prove nothing.
    """
    people = with_known(ratings, *features)
    obstacle = _obstacle(people.feature(*features))
    if obstacle is not None:
        raise MidpointError(obstacle)
    with threadpool_limits(1):
        return RawAttackers(Panel.of(people, features, Factorizer(), seed)).sets_leak(SURE)


def _try(
    panel: Panel,
    wanted: Sequence[str],
    most_cost: float,
    progress: Callable[[int, int], None] | None,
    *,
    settings: bool,
) -> tuple[Trial, list[Trial], dict[str, str]]:
    """Measure raw ratings and all candidates; say of those that cannot be learned why.

    With `settings`, those of the candidate that leaks least are tried too, unless it is at chance.
    """
    trials, failed, attackers = dict[str, Trial](), dict[str, str](), RawAttackers(panel)

    def attempt(scheme: str) -> None:
        if progress:
            progress(len(trials) + len(failed), 1 + len(wanted))
        try:
            measured = measure(panel, protocol_of(scheme), attackers)
        except MidpointError as error:
            if scheme == RAW:
                raise
            failed[scheme] = str(error)
            return
        base = trials.get(RAW)
        raw = measured if base is None else base.measured
        trials[scheme] = Trial(scheme, measured, cost(measured, raw))

    for scheme in (RAW, *wanted):
        attempt(scheme)
    order = [scheme for scheme in wanted if scheme in trials]
    if settings and order:
        best = min(_cheap([trials[scheme] for scheme in order], most_cost), key=_excess)
        if best.leak.excess > 0:
            more = variants(best.scheme, panel.ratings.scale)
            wanted = (*wanted, *more)
            for scheme in more:
                attempt(scheme)
            after = order.index(best.scheme) + 1
            order[after:after] = [scheme for scheme in more if scheme in trials]
    if progress:
        progress(1 + len(wanted), 1 + len(wanted))
    return trials[RAW], [trials[scheme] for scheme in order], failed


def _excess(trial: Trial) -> float:
    return max(trial.leak.excess, 0.0)


def _cheap(trials: Sequence[Trial], most_cost: float) -> list[Trial]:
    """Return those that cost no more than allowed; if there are none, the one that costs least."""
    cheap = [trial for trial in trials if trial.cost <= most_cost]
    return cheap or [min(trials, key=lambda trial: trial.cost)]


def decide(
    raw: Trial,
    trials: Sequence[Trial],
    categories: Sequence[str],
    most_cost: float,
    failed: Mapping[str, str] = MappingProxyType({}),
) -> Choice:
    """Take the simplest candidate that leaks no more than the best and costs no more than allowed.

    Args:
        raw: What raw ratings leak.
        trials: What the candidates do, the simplest first.
        categories: Names of the categories.
        most_cost: What a scheme may cost.
        failed: Why others could not be tried, by name.
    """
    cheap = _cheap(trials, most_cost)
    best = min(cheap, key=_excess)
    taken = next(trial for trial in cheap if not trial.leaks_more(best))
    rows = [_row(raw, best, categories, "raw ratings")]
    for trial in trials:
        note = "" if trial is taken else "not the simplest"
        if trial.leaks_more(best):
            note = f"leaks more than {best.scheme}"
        if trial not in cheap:
            note = f"costs more than {most_cost:.1%}"
        rows.append(_row(trial, best, categories, note))
    luck = 0.5 + LUCKY * taken.leak.doubt
    return Choice(
        taken.scheme,
        _reason(taken, best, trials),
        tuple(rows),
        tuple(failed.items()),
        most_cost=most_cost,
        luck=luck,
        warning=_warning(raw, taken, trials, most_cost, luck),
    )


def _reason(taken: Trial, best: Trial, trials: Sequence[Trial]) -> str:
    """Say what decided."""
    if taken is not best:
        return f"it is the simplest that leaks no more than {best.scheme} by a paired test"
    simpler = trials[: [trial.scheme for trial in trials].index(taken.scheme)]
    return "it leaks least" if simpler else "it leaks least, and nothing is simpler"


def _warning(
    raw: Trial, taken: Trial, trials: Sequence[Trial], most_cost: float, luck: float
) -> str:
    """Say in words what the choice does not reach; nothing where the leak is held."""
    words = list[str]()
    if taken.leak.value > max(HELD, luck):
        words.append(
            f"No candidate holds the leak: against {taken.scheme} the strongest attack still picks"
            f" the right one of two people {100 * taken.leak.value:.0f} times in 100 (raw ratings:"
            f" {100 * raw.leak.value:.0f}; luck: up to {100 * luck:.0f})."
        )
    if taken.leaks_more(raw):
        words.append(f"{taken.scheme} leaks more than raw ratings do.")
    if taken.cost > most_cost:
        words.append(
            f"No candidate costs at most {most_cost:.1%}; {taken.scheme} costs least,"
            f" {taken.cost:.1%}."
        )
    better = [trial for trial in trials if trial.cost > most_cost and taken.leaks_more(trial)]
    words += [
        f"{trial.scheme} leaks less ({trial.leak.value:.3f}) and costs {trial.cost:.1%}: allow it"
        f" by --cost {100 * trial.cost + 0.1:.1f}."
        for trial in better[:1]
    ]
    if words:
        words.append("A larger panel lets schemes hide more.")
    return " ".join(words)


def _row(trial: Trial, best: Trial, categories: Sequence[str], note: str) -> Tried:
    above, error = trial.leak.above(best.leak)
    return Tried(
        scheme=trial.scheme,
        leak=round(trial.leak.value, DIGITS),
        attack=trial.leak.attack,
        category=categories[trial.leak.category],
        above=round(above, DIGITS),
        error=round(error, DIGITS),
        cost=round(trial.cost, DIGITS),
        note=note,
    )


def _obstacle(feature: Feature) -> str | None:
    """Say why nothing can be measured; None where it can."""
    rarest = int(feature.counts.argmin())
    few = int(feature.counts[rarest])
    if few >= FEWEST * PARTS:
        return None
    return (
        f"{feature.name} {feature.categories[rarest]} has {few} people, and {FEWEST * PARTS} of"
        " every category are needed to measure"
    )
