"""Which of the candidates is taken: the one rule, by what each leaks and costs on a panel."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from types import MappingProxyType
from typing import NamedTuple

from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.choice import Choice, Tried
from midpoint.audit.choose.measurement import Leak, Measured

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
OFFERED = 2
"""Candidates that a warning offers for a higher cost."""
DIGITS = 4
"""Decimals that a choice keeps."""


class Trial(NamedTuple):
    """A candidate, and what it did."""

    scheme: str
    """Its name."""
    measured: Measured
    """What it leaks, person by person."""
    cost: float
    """By what share predictions are worse than from raw ratings."""
    thins: str | None = None
    """The candidate of which it reveals a share, if it was made for that."""
    most: float | None = None
    """What it costs at most, the upper end of an interval, where that is judged: of shares."""

    @property
    def price(self) -> float:
        """The cost that it is judged by."""
        return self.cost if self.most is None else self.most

    @property
    def is_held(self) -> bool:
        """Whether it is shown that it leaks no more than `HELD`.

        Attackers learn from two thirds of the people here, under disclosures of a third, and miss
        what an audit's attackers find; so what luck could add has to fit in, too. Of counterparts
        they miss most: on MovieLens 1M they see 0.52 where an audit reads 0.61. So these are never
        taken for held, and fewer answers cost them little.
        """
        counterparts = SchemeSpec.read(self.scheme).scheme.counterparts
        return not counterparts and self.leak.bound(LUCKY) <= HELD

    @property
    def leak(self) -> Leak:
        """The strongest attack on it."""
        return self.measured.leak

    def thins_safely(self, other: "Trial") -> bool:
        """Whether it reveals a share of another one's answers, or what leaks no more than it."""
        if self.thins != other.scheme:
            return False
        same = SchemeSpec.read(self.scheme).name == SchemeSpec.read(other.scheme).name
        return same or not self.leaks_more(other)

    def leaks_more(self, other: "Trial") -> bool:
        """Whether it leaks more than another by a one-sided test on the same people."""
        above, error = self.leak.above(other.leak)
        return above > ONE_SIDED * error


def simplest(trials: Sequence[Trial], most_cost: float) -> Trial:
    """Return the simplest that holds the leak and leaks no more than the best.

    If there is none, return the best; but without its spread unless that is shown to leak less.
    """
    cheap = cheap_enough(trials, most_cost)
    best = min(cheap, key=excess)
    alike = (trial for trial in cheap if trial.is_held and not trial.leaks_more(best))
    return next(alike, _without_spread(best, cheap))


def _without_spread(best: Trial, cheap: Sequence[Trial]) -> Trial:
    """Return the candidate whose spread is hidden by the best; the best if it leaks less by it."""
    plain = str(replace(SchemeSpec.read(best.scheme), spread=False))
    alike = (trial for trial in cheap if trial.scheme == plain and not trial.leaks_more(best))
    return next(alike, best)


def alike_but_for_levels(trial: Trial, other: Trial) -> bool:
    """Whether two candidates are the same, but for the number of levels that devices report on."""
    specs = (replace(SchemeSpec.read(one.scheme), levels=None) for one in (trial, other))
    return trial.thins is None and other.thins is None and next(specs) == next(specs)


def excess(trial: Trial) -> float:
    """Return how far a candidate's leak is above what luck would show, at least 0."""
    return max(trial.leak.excess, 0.0)


def cheap_enough(trials: Sequence[Trial], most_cost: float) -> list[Trial]:
    """Return those that cost no more than allowed; if there are none, the one that costs least."""
    cheap = [trial for trial in trials if trial.price <= most_cost]
    return cheap or [min(trials, key=lambda trial: trial.price)]


def decide(
    raw: Trial,
    trials: Sequence[Trial],
    categories: Sequence[str],
    most_cost: float,
    failed: Mapping[str, str] = MappingProxyType({}),
) -> Choice:
    """Take the simplest that holds the leak, leaks no more than the best and is cheap enough.

    If there is none, take the one that leaks least, or what reveals a share of it: of several
    numbers of levels, the share that leaks least. Of two that differ in `spread=on` alone, the one
    without is taken unless the other is shown to leak less.

    Args:
        raw: What raw ratings leak.
        trials: What the candidates do, the simplest first.
        categories: Names of the categories.
        most_cost: What a scheme may cost.
        failed: Why others could not be tried, by name.
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
    luck = 0.5 + LUCKY * taken.leak.doubt
    return Choice(
        taken.scheme,
        _reason(taken, best, trials, len(shares)),
        tuple(rows),
        tuple(failed.items()),
        most_cost=most_cost,
        luck=luck,
        warning=_warning(raw, taken, trials, most_cost, luck),
    )


def _reason(taken: Trial, best: Trial, trials: Sequence[Trial], shares: int) -> str:
    """Say what decided; there were so many shares to choose from, one for each number of levels."""
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
    better = [trial for trial in trials if trial.price > most_cost and taken.leaks_more(trial)]
    words += [
        f"{trial.scheme} leaks less ({trial.leak.value:.3f}) and costs {trial.cost:.1%}: allow it"
        f" by --cost {100 * trial.price + 0.1:.1f}."
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
