"""The verdict on a scheme: what an audit's numbers mean, in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import NAMED, RAW_KIND, Band, Cost, Rounds, Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.bound import PASSED
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.adversaries.judge import JUDGE
from midpoint.audit.run.plan import DEFAULT

DEFAULTS = ("cmpss", "cmp", "dmpss", "mpss")
"""Schemes that are chosen on some data or other: judged where the choice was not tried."""
GRADES = ((0.05, "a slight leak"), (0.15, "a leak"), (0.35, "a strong leak"))
"""What to call a distance from 0.5 below each bound."""
OUTRIGHT = "the feature is in plain sight"
CHANCE = "at chance"
UNSURE = "outside the chance band, but inside the wider one: neither at chance nor surely a leak"
"""Nobody should sign that it is at chance, nor that it is a leak: more people would show."""
BLIND = "no attack that succeeds on raw ratings was tried, so this proves nothing"
UNREAD = "the attacks hardly succeed on raw ratings, so that failing elsewhere proves little"
"""Said of raw ratings, which are never private: attackers are too weak, or people too few."""


@dataclass(frozen=True)
class Verdict:
    """The judgement on one scheme."""

    scheme: str
    """The protocol."""
    strongest: Row
    """The AUC that decides: the judge's, or that of the strongest attacker."""
    band: Band
    """Its chance band."""
    grade: str
    """The grade, in a few words: at chance, a leak, and so on."""
    plain: str
    """What it means for people, in one sentence without its full stop (`plain_words`)."""
    numbers: tuple[str, ...]
    """The numbers behind it, in sentences without their full stops."""
    safe: bool
    """Whether the strongest attack is at chance, by attackers that succeed on raw ratings."""

    @property
    def lines(self) -> str:
        """Grade and plain words in a line, and one for each number below."""
        return "".join([f"{self.grade}. {self.plain}.", *(f"\n  {n}." for n in self.numbers)])


class Look(NamedTuple):
    """One of the numbers that a verdict tests: the AUC of a judge, or of the strongest attacker."""

    row: Row
    """Its AUC."""
    band: Band
    """Its chance band."""


def looks(results: AuditResults, scheme: str) -> list[Look]:
    """Return the numbers that decide: the judges of adversaries, and the strongest attacker.

    All adversaries that know the scheme count: one that knows more may find less, since outsiders
    are fewer than the panel.
    """
    strongest = results.strongest(scheme)
    every = [Look(row, judge.band) for row, judge in results.decisive(scheme)]
    return every if strongest is None else [*every, Look(strongest, results.bands[scheme])]


def judge(results: AuditResults, scheme: str) -> Verdict | None:
    """Judge a scheme by the judges of adversaries, and by the strongest attacker.

    Each AUC has a chance band, and all bands together contain 95 % of what luck shows. The AUC that
    is farthest outside its band decides. None if the scheme was not attacked.
    """
    every = looks(results, scheme)
    if not every:
        return None
    able, raw = bool(readers(results, scheme)), results.is_raw(scheme)
    decides = max(every, key=lambda look: look.band.reach(look.row.value))
    row, band = decides
    grade = weigh(row.value, band, able=able, raw=raw)
    plain = plain_words(results, row)
    numbers = tuple(_numbers(results, decides, every))
    return Verdict(scheme, row, band, grade, plain, numbers, grade == CHANCE)


def plain_words(results: AuditResults, row: Row) -> str:
    """Say what an AUC means, as in "picks the right one 56 times in 100; unprotected 78".

    Without "unprotected" for raw ratings. Report, terminal and `certify` show this sentence.
    """
    held = results.rounds.get(row.scheme)
    over = "" if held is None else f" over {held.rounds} rounds"
    raw = results.strongest(RAW if held is None else held.raw)
    unprotected = (
        ""
        if raw is None or results.is_raw(row.scheme)
        else f" unprotected {_hundredths(raw.value)};"
    )
    return (
        f"Of two people, the best attack picks the right one {_hundredths(row.value)} times in 100"
        f"{over};{unprotected} blind guessing 50"
    )


def _numbers(results: AuditResults, decides: Look, every: list[Look]) -> Iterator[str]:
    """Say what a verdict rests on, a sentence at a time."""
    row, band = decides
    held = results.rounds.get(row.scheme)
    flipped = "" if row.value >= 0.5 else ", with its sign flipped"
    yield (
        f"That is {_who(row, band)}: AUC {row.value:.3f} ({row.low:.3f}-{row.high:.3f}){flipped}"
    )
    yield from (
        f"T{_who(*other)[1:]}: {other.row.value:.3f}, {other.row.low:.3f}-{other.row.high:.3f}"
        for other in every
        if other.row.attack != row.attack
    )
    if whose := results.against(row):
        yield against(results, whose)
    yield from _omniscient(results, row.scheme)
    if held is not None:
        yield from _naive(results, held)
    yield (
        f"With {results.description['users']:,} people, up to {_hundredths(band.judged_high)} can"
        f" be luck (chance band {band.low:.3f}-{band.high:.3f}, wider {band.judged_low:.3f}"
        f"-{band.judged_high:.3f})"
    )
    yield from _sure(results, row)
    cost = None if results.unary else results.cost(row.scheme)
    priced = [] if cost is None else [_price(cost, "RMSE", results.costs.get(row.scheme))]
    lost = results.ndcg_costs.get(row.scheme)
    priced += [] if lost is None else [_price(lost.value, "of NDCG@10", lost)]
    if priced:
        yield f"Cost: {', '.join(priced)}"


def _price(cost: float, what: str, spread: Cost | None) -> str:
    """Write a cost in per cent, with its interval: more error, or less of a good list."""
    within = "" if spread is None else f" ({100 * spread.low:+z.1f} to {100 * spread.high:+z.1f})"
    return f"{100 * cost:+z.1f} % {what}{within}"


def _who(row: Row, band: Band) -> str:
    """Name the judge, or the strongest attacker."""
    if row.attack.startswith(f"{JUDGE}:"):
        several = "" if band.attackers == 1 else "s"
        return f"the judge ({row.attack}, of {band.attackers} attacker{several})"
    return f"the strongest attacker ({row.attack})"


def _omniscient(results: AuditResults, scheme: str) -> Iterator[str]:
    """Say what the bound is, and by how much it may be passed."""
    bound = results.bounds.get(scheme)
    if bound is not None:
        passed = f"; with counterparts up to {PASSED} more" * _adjusts(results, scheme)
        yield (
            f"Somebody who knew every error of the disclosure: {bound.value:.2f}, by the bound for"
            f" a panel of {bound.panel:,}{passed}"
        )


def _adjusts(results: AuditResults, scheme: str) -> bool:
    """Tell whether devices find counterparts under a scheme, or under one that a fold chose."""
    of_default = results.chosen(split=True) or results.chosen()
    chosen = of_default if scheme == DEFAULT else [results.schemes[scheme]["name"]]
    return any(SchemeSpec.read(name).scheme.counterparts for name in chosen)


def _sure(results: AuditResults, row: Row) -> Iterator[str]:
    """Say for how many people the judge is 90 % sure of a category."""
    judge = results.judge_of(row)
    share = None if judge is None else results.get(row.scheme, NAMED, judge[0].attack)
    if share is not None:
        yield (
            f"Named with 90 % confidence by {share.attack}: {100 * share.value:.1f} % of the people"
        )


def against(results: AuditResults, adversary: str) -> str:
    """Say what an adversary knows, and whether a stronger one was left untried."""
    known = results.adversaries[adversary]
    people = f"a panel of {known.panel:,}"
    if known.outsiders:
        people = f"{known.outsiders:,} labelled people outside {people}"
    left = "" if OUTSIDER in results.adversaries else "; outsiders were not tried"
    return f"Measured against: {adversary} ({people}){left}"


def _naive(results: AuditResults, held: Rounds) -> Iterator[str]:
    """Say what devices leak that do not keep their decisions."""
    others = {
        kind: results.strongest(name)
        for name, kind in held.devices.items()
        if kind != RAW_KIND and name != held.product
    }
    leaks = [f"{_hundredths(row.value)} if {kind}" for kind, row in others.items() if row]
    if leaks:
        yield f"Of devices that do not keep decisions: {', '.join(leaks)}"


def weigh(value: float, band: Band, *, able: bool, raw: bool = False) -> str:
    """Return the grade of an AUC.

    `able` says whether some attacker that tried succeeds on raw ratings; if none does, failing
    proves nothing. `raw` says that these are raw ratings, which must not be called private.
    """
    if not band.holds(value):
        return _grade(value)
    if not able:
        return BLIND
    if raw:
        return UNREAD
    return CHANCE if band.holds_closely(value) else UNSURE


def readers(results: AuditResults, scheme: str) -> list[str]:
    """Return the attackers that tried a scheme and succeed on raw ratings.

    An attacker whose control is another scheme, with a flaw, may succeed there alone.
    """
    tried = {row.attack for row in results.areas(scheme)}
    controls = results.controls_of(scheme).items()
    able = {name: one for name, one in controls if one.reads and results.is_raw(one.scheme)}
    return [name for name in able if name in tried]


def headline(results: AuditResults) -> Verdict | None:
    """Judge the scheme that training chooses on this data, or else one that was tried."""
    names = [name for name in results.scheme_names() if results.strongest(name)]
    names = [name for name in names if name != "nothing"] or names
    chosen = [name for name in (results.usual, *DEFAULTS) if name in names] or names[-1:]
    return judge(results, chosen[0]) if chosen else None


def chosen_words(results: AuditResults) -> str:
    """Say which scheme each fold chose."""
    words = f"{DEFAULT} is the scheme that training chooses, inside every fold on its panel alone:"
    words = f"{words} {_in_folds(results.chosen(), results.choices)}."
    if not results.split_choices:
        return words
    split = _in_folds(results.chosen(split=True), results.split_choices)
    return (
        f"{words} Figures of outsiders and the bound are of a smaller panel, since outsiders are"
        f" kept out of it. It chose {split}."
    )


def _in_folds(counts: Mapping[str, int], choices: Sequence[Mapping[str, Any]]) -> str:
    """Say in how many folds each scheme was chosen, and in which."""
    if len(counts) == 1:
        return f"{next(iter(counts))} in all {len(choices)} folds"
    said = ", ".join(f"{name} in {count}" for name, count in counts.items())
    listed = ", ".join(str(choice["scheme"]) for choice in choices)
    return f"{said} of {len(choices)} folds ({listed})"


def reading(value: float) -> str:
    """Write an AUC, below 0.5 also what it is with its sign flipped."""
    return f"{value:.3f}" if value >= 0.5 else f"{value:.3f}, or {1 - value:.3f} sign flipped"


def _hundredths(value: float) -> str:
    return f"{100 * (abs(value - 0.5) + 0.5):.0f}"


def unproved(results: AuditResults) -> list[str]:
    """Return the categories, of more than two, that no attacker distinguishes on its control."""
    if len(results.categories) <= 2 or not results.controls:
        return []
    return [
        name
        for name in results.categories
        if all(name in control.unread for control in results.controls.values())
    ]


def proves_nothing(results: AuditResults, attack: str) -> bool:
    """Tell whether an attacker of one report failed on its control."""
    return not results.controls[attack].reads


def _grade(value: float) -> str:
    distance = abs(value - 0.5)
    return next((name for bound, name in GRADES if distance < bound), OUTRIGHT)
