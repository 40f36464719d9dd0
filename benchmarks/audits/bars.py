"""What a full audit has to show: the bars, and whether they are met."""

from collections.abc import Iterator
from typing import NamedTuple

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers.catalogue import PAPER_ATTACKS
from midpoint.audit.measure.findings import AUC, Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.paper_tables import compare
from midpoint.audit.run.adversaries.catalogue import PANEL
from midpoint.audit.run.plan import DEFAULT

ITEM_WISE = ("lr", "adaptive-lr-items", "adaptive-lr-levels")
"""Attackers that weigh item by item, values or levels."""
SEE_MASK = ("adaptive-lr-items", "adaptive-lr-levels")
"""Those of them that learn from which items were rated as well."""
MASK = "adaptive-lr-mask"
"""The attacker that learns from nothing else."""
CORES = 2
COST_BAR, LISTS_BAR = 0.015, 0.04
"""What protection may cost: of RMSE, and of NDCG@10 where data are sets."""
RAW_APART = {"lse": 0.03, "rmse_inferred": 0.02}
"""How far from the paper least squares may be on raw ratings; nothing here was fitted to it."""
AIM = 0.05 + 1e-9
"""Distance from 0.5 that counterparts may leave; 0.55 itself will do."""


class Clock(NamedTuple):
    """How long a run may take."""

    whose: str
    """What is run."""
    minutes: float
    """At most, by the clock on the wall."""


class Bar(NamedTuple):
    """One thing to be shown."""

    what: str
    """What is measured."""
    wanted: str
    """What it has to be."""
    measured: str
    """What it is."""
    met: bool
    """Whether it is so."""


def farthest(results: AuditResults, scheme: str, attack: str) -> Row:
    """Return an attacker's AUC, of several categories the one farthest from 0.5."""
    names = {attack, *(f"{attack}[{category}]" for category in results.categories)}
    if len(results.categories) > 2:
        names.discard(attack)
    rows = [r for r in results.rows if (r.scheme, r.metric) == (scheme, AUC) and r.attack in names]
    return max(rows, key=lambda row: abs(row.value - 0.5))


def real_attackers(results: AuditResults) -> Iterator[Bar]:
    """Show that attackers read raw ratings, and what unrounded shifts are worth."""
    for attack, least in (("lr", 0.80), ("nb", 0.80), ("svm", 0.80), ("lse", 0.72)):
        value = farthest(results, "no", attack).value
        yield Bar(
            f"{attack} on raw ratings", f"{least:.2f} or more", f"{value:.3f}", value >= least
        )
    for scheme in (name for name in ("mp", "mpss") if name in results.bands):
        row = results.strongest(scheme)
        value = 0.5 if row is None else row.value
        wanted = "1.000 by an attacker that knows the scheme"
        yield Bar(f"strongest on {scheme}", wanted, f"{value:.3f}", value > 0.9995)


def as_in_the_paper(results: AuditResults) -> Iterator[Bar]:
    """Compare what raw ratings give with the paper: its error, and what least squares reads."""
    for number in compare(results):
        apart = RAW_APART.get(number.what)
        if number.scheme == RAW and apart and number.difference is not None:
            wanted = f"within {apart:g} of the paper's {number.paper:.3f}"
            near = abs(number.difference) <= apart
            yield Bar(f"{number.what} on raw ratings", wanted, f"{number.here:.3f}", near)


def sparse_schemes(results: AuditResults) -> Iterator[Bar]:
    """Show that clean-trained attackers are near chance, and at what cost."""
    for scheme in (name for name in ("mpssr", "dmpss") if name in results.bands):
        for attack in PAPER_ATTACKS:
            value = farthest(results, scheme, attack).value
            near, aim = abs(value - 0.5) <= 0.08, abs(value - 0.5) <= 0.05
            measured = f"{value:.3f}{'' if aim else ', beyond the aim of 0.45-0.55'}"
            yield Bar(f"{attack} on {scheme}", "0.42-0.58", measured, near)
        yield _cost(results, scheme)


def dense_schemes(results: AuditResults) -> Iterator[Bar]:
    """Show that the discrete midpoint leaves nothing item by item, and little jointly.

    Where not everyone rated everything, what was rated tells too; `dmpss` hides that, `dmp` cannot.
    """
    for scheme in (name for name in ("dmp", "dmpss") if name in results.bands):
        yield from _item_wise(results, scheme)
    band = results.bands["dmp"]
    dmp, mpr = (results.strongest(scheme) for scheme in ("dmp", "mpr"))
    if dmp is not None and mpr is not None:
        most, excess = abs(mpr.value - 0.5) / 2, abs(dmp.value - 0.5)
        yield Bar(
            "strongest on dmp",
            f"at most {most:.3f} from 0.5: half of mpr's {mpr.value:.3f}",
            f"{dmp.value:.3f} ({dmp.attack}; chance {band.low:.3f}-{band.high:.3f})",
            excess <= most,
        )
    yield _cost(results, "dmp")


def _item_wise(results: AuditResults, scheme: str) -> Iterator[Bar]:
    """Show what attackers of single items read of a scheme, beside what the mask tells alone."""
    band = results.bands[scheme]
    mask = farthest(results, scheme, MASK)
    beside = "" if band.holds_closely(mask.value) else f"; by what was rated alone {mask.value:.3f}"
    for attack in ITEM_WISE:
        row = farthest(results, scheme, attack)
        wanted = f"within {band.low:.3f}-{band.high:.3f}"
        measured = f"{row.value:.3f}{beside if attack in SEE_MASK else ''}"
        yield Bar(f"{attack} on {scheme}", wanted, measured, band.holds_closely(row.value))


def counterparts(results: AuditResults) -> Iterator[Bar]:
    """Show how far the joint leak is closed, by the scheme that is in use on such data."""
    for scheme in {"cmp", "cmpss", DEFAULT} & results.bands.keys() & {results.usual}:
        row, band = results.strongest(scheme), results.bands[scheme]
        if row is not None:
            measured = f"{row.value:.3f} ({row.attack}, {row.low:.3f}-{row.high:.3f})"
            met = band.holds_closely(row.value) or abs(row.value - 0.5) <= AIM
            wanted = f"at most 0.55, or within {band.low:.3f}-{band.high:.3f}"
            yield Bar(f"strongest on {scheme}", wanted, measured, met)
            yield _cost(results, scheme)


def chosen(results: AuditResults) -> Iterator[Bar]:
    """Show what is left by the scheme that training chooses, whatever it chooses in each fold."""
    judge, raw = results.judge(DEFAULT, PANEL), results.judge(RAW, PANEL)
    if judge is not None and raw is not None:
        (row, found_by), most = judge, max(0.5 + AIM, judge[1].band.judged_high)
        measured = f"{row.value:.3f} ({row.low:.3f}-{row.high:.3f}); raw {raw[0].value:.3f}"
        wanted = f"at most 0.55, or within luck, {found_by.band.judged_high:.3f}"
        yield Bar("the panel's judge", wanted, measured, row.value <= most)
    yield _cost(results, DEFAULT)


def lists_of_sets(results: AuditResults) -> Iterator[Bar]:
    """Show what the panel's judge reads of sets, and what lists lose, by each leak budget."""
    for scheme in (name for name in results.bands if name.startswith("cmpss")):
        judge, lost = results.judge(scheme, PANEL), results.cost(scheme)
        if judge is not None and lost is not None:
            row = judge[0]
            measured = f"{row.value:.3f} ({row.low:.3f}-{row.high:.3f})"
            low_enough = row.value <= 0.5 + AIM
            yield Bar(f"the panel's judge on {scheme}", "at most 0.55", measured, low_enough)
            lists = f"NDCG@10 lost by {scheme}"
            yield Bar(lists, "at most 4 %", f"{lost:+.2%}", lost <= LISTS_BAR)


def times(results: AuditResults) -> Iterator[Bar]:
    """Show what it takes by the processor's clock, shared out among two cores."""
    papers = [*PAPER_ATTACKS, "learn", "accuracy"]
    alone = sum(results.seconds.get(kind, 0.0) for kind in papers) / CORES / 60
    whole = sum(results.seconds.values()) / CORES / 60
    paper, every = "the paper's attackers, CPU seconds / 2", "all attackers, CPU seconds / 2"
    yield Bar(paper, "at most 10 min", f"{alone:.1f} min", alone <= 10)
    yield Bar(every, "at most 60 min", f"{whole:.1f} min", whole <= 60)


def time_alone(results: AuditResults) -> Iterator[Bar]:
    """Show what a run of the paper's attackers alone takes by the processor's clock, whole."""
    took = sum(results.seconds.values()) / CORES / 60
    paper = "the paper's attackers alone, CPU seconds / 2"
    yield Bar(paper, "at most 10 min", f"{took:.1f} min", took <= 10)


def on_the_wall(clock: Clock, seconds: float | None) -> Bar:
    """Show how long a run took that was never interrupted; the machine may have had more to do."""
    what, wanted = f"{clock.whose}, by the clock", f"at most {clock.minutes:g} min"
    if seconds is None:
        return Bar(what, wanted, "interrupted: not known", met=False)
    minutes = seconds / 60
    return Bar(what, wanted, f"{minutes:.1f} min", minutes <= clock.minutes)


def _cost(results: AuditResults, scheme: str) -> Bar:
    cost = results.costs[scheme]
    measured = f"{cost.value:+.2%} ({cost.low:+.2%} to {cost.high:+.2%})"
    return Bar(
        f"RMSE of {scheme}, corrected locally", "at most +1.5 %", measured, cost.value <= COST_BAR
    )
