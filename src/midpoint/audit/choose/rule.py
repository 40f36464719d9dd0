"""The rule that chooses a scheme, by what each candidate leaks and costs on the panel."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from types import MappingProxyType
from typing import NamedTuple

from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.choice import Choice, Tried
from midpoint.audit.choose.measurement import Leak, Measured

SURE = 0.95
"""Confidence level of one-sided tests."""
ONE_SIDED = NormalDist().inv_cdf(SURE)
"""A candidate leaks more than another if it is so many standard errors above it."""
LUCKY = 3.0
"""Standard errors that the strongest of all attacks may reach by luck alone.

Of ten correlated attacks the strongest reaches 2.1 in 95 % of all cases. That is multiplied by
sqrt(2), since attackers of one part learned from the others (`audit.measure.statistics`).
"""
HELD = 0.55
"""A leak up to this AUC counts as held."""
OFFERED = 2
"""How many candidates a warning offers for a higher cost."""
DIGITS = 4
"""Decimals of the numbers in a choice."""


class Trial(NamedTuple):
    """A candidate scheme, and what was measured of it."""

    scheme: str
    """Its name."""
    measured: Measured
    """Its leak and accuracy, person by person."""
    cost: float
    """By what share predictions are worse than from raw ratings."""
    thins: str | None = None
    """The candidate that it reveals a share of, if it is such a share."""
    most: float | None = None
    """The upper end of an interval of its cost. Shares have one, and are judged by it."""

    @property
    def price(self) -> float:
        """The cost that it is judged by."""
        return self.cost if self.most is None else self.most

    @property
    def is_held(self) -> bool:
        """Whether it is shown to leak no more than `HELD`.

        The attackers here miss what an audit's find: they learn from two thirds of the people,
        under disclosures of one third. So what luck could hide has to stay below `HELD` as well.
        They miss most under counterparts: on MovieLens 1M they reach 0.52 where an audit reaches
        0.61. So a scheme with counterparts never counts as held; revealing fewer answers costs it
        little.
        """
        counterparts = SchemeSpec.read(self.scheme).scheme.counterparts
        return not counterparts and self.leak.bound(LUCKY) <= HELD

    @property
    def leak(self) -> Leak:
        """The strongest attack on it."""
        return self.measured.leak

    def thins_safely(self, other: "Trial") -> bool:
        """Whether it is made of another candidate and leaks no more.

        It does so by construction if it reveals a share of the same scheme's answers; under another
        scheme the measured leaks are compared.
        """
        if self.thins != other.scheme:
            return False
        same = SchemeSpec.read(self.scheme).name == SchemeSpec.read(other.scheme).name
        return same or not self.leaks_more(other)

    def leaks_more(self, other: "Trial") -> bool:
        """Whether it leaks more than another, by a one-sided paired test."""
        above, error = self.leak.above(other.leak)
        return above > ONE_SIDED * error


def simplest(trials: Sequence[Trial], most_cost: float) -> Trial:
    """Return the simplest candidate that holds the leak and leaks no more than the best.

    If there is none, return the best, or the same without `spread=on` and `shift=off` unless that
    leaks more.
    """
    cheap = cheap_enough(trials, most_cost)
    best = min(cheap, key=excess)
    alike = (trial for trial in cheap if trial.is_held and not trial.leaks_more(best))
    return next(alike, _plain(best, cheap))


def _plain(best: Trial, cheap: Sequence[Trial]) -> Trial:
    """Return the best without `spread=on` and `shift=off`, unless that is shown to leak more."""
    plain = str(replace(SchemeSpec.read(best.scheme), spread=False, shift=True))
    alike = (trial for trial in cheap if trial.scheme == plain and not trial.leaks_more(best))
    return next(alike, best)


def alike_but_for_levels(trial: Trial, other: Trial) -> bool:
    """Whether two candidates differ at most in the number of levels that devices report on."""
    specs = (replace(SchemeSpec.read(one.scheme), levels=None) for one in (trial, other))
    return trial.thins is None and other.thins is None and next(specs) == next(specs)


def excess(trial: Trial) -> float:
    """Return how far a candidate's leak is above what luck would show, at least 0."""
    return max(trial.leak.excess, 0.0)


def cheap_enough(trials: Sequence[Trial], most_cost: float) -> list[Trial]:
    """Return the candidates within the cost allowed; if there are none, the cheapest."""
    cheap = [trial for trial in trials if trial.price <= most_cost]
    return cheap or [min(trials, key=lambda trial: trial.price)]


def decide(
    raw: Trial,
    trials: Sequence[Trial],
    categories: Sequence[str],
    most_cost: float,
    failed: Mapping[str, str] = MappingProxyType({}),
    per_rmse: float = 1.0,
) -> Choice:
    """Choose a scheme: the simplest that is cheap enough, holds the leak, and is among the best.

    If no candidate holds the leak, choose the one that leaks least, or a share of its answers if
    one was tried; with shares on several numbers of levels, the one that leaks least.

    Args:
        raw: What was measured of raw ratings.
        trials: What was measured of the candidates, the simplest first.
        categories: Names of the categories.
        most_cost: The cost allowed.
        failed: Why other candidates could not be tried, by name.
        per_rmse: How many times `--cost` is allowed, in the measure that costs are in.
    """
    whole = [trial for trial in trials if trial.thins is None]
    first = simplest(whole, most_cost)
    alike = [trial for trial in whole if alike_but_for_levels(trial, first)]
    cheap = cheap_enough(trials, most_cost)
    shares = [trial for trial in cheap if any(map(trial.thins_safely, alike))]
    taken = min(shares, key=excess, default=first)
    best = min(cheap, key=excess)
    rows = [_row(raw, best, categories, "raw ratings")]
    for trial in trials:
        note = "not the simplest" if first.is_held else f"not shown to leak at most {HELD:g}"
        if trial in shares:
            note = "not shown to leak less"
        if trial.leaks_more(best):
            note = "leaks more"
        if trial not in cheap:
            may = "may cost" if trial.cost <= most_cost else "costs"
            note = f"{may} more than {most_cost:.1%}"
        note = "" if trial is taken else note
        rows.append(_row(trial, best, categories, note))
    luck = 0.5 + LUCKY * taken.leak.deviation
    return Choice(
        taken.scheme,
        _reason(taken, best, trials, len(shares)),
        tuple(rows),
        tuple(failed.items()),
        most_cost=most_cost,
        luck=luck,
        warning=_warning(raw, taken, trials, most_cost, luck, per_rmse),
    )


def _reason(taken: Trial, best: Trial, trials: Sequence[Trial], shares: int) -> str:
    """Say why a scheme was taken. `shares` is the number of shares that were tried."""
    if shares > 1:
        return (
            f"{taken.thins} is not shown to leak at most {HELD:g}, fewer answers leak no more, and"
            " of the smallest shares that the cost allows on each number of levels, no other is"
            " shown to leak less"
        )
    if taken.thins is not None:
        budget = SchemeSpec.read(taken.scheme).leak is not None
        return (
            f"{taken.thins} is not shown to leak at most {HELD:g}, fewer answers leak no more, and"
            f" this is the smallest {'leak budget' if budget else 'share'} that the cost allows"
        )
    if taken is not best and not taken.is_held:
        return f"{best.scheme} is not shown to leak less by a paired test, and this is simpler"
    if taken is not best:
        return f"it is the simplest that leaks no more than {best.scheme} by a paired test"
    simpler = trials[: [trial.scheme for trial in trials].index(taken.scheme)]
    return "it leaks least" if simpler else "it leaks least, and nothing is simpler"


def _warning(
    raw: Trial,
    taken: Trial,
    trials: Sequence[Trial],
    most_cost: float,
    luck: float,
    per_rmse: float,
) -> str:
    """Warn of what the choice does not achieve; empty if the leak is held within the cost."""
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
    better = [trial for trial in trials if trial.price > most_cost and taken.leaks_more(trial)]
    words += [
        f"{trial.scheme} leaks less ({trial.leak.value:.3f}) and costs {trial.cost:.1%}: allow it"
        f" by --cost {100 * trial.price / per_rmse + 0.1:.1f}."
        for trial in better[:OFFERED]
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
