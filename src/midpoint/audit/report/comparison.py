"""What changed between two audits."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import Any, NamedTuple

from midpoint.audit.measure.findings import AUC, COST, NDCG_COST, ROUNDING, Band, Control, Row
from midpoint.audit.measure.paired_test import Key, Pairing
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.measure.statistics import NORMAL_95
from midpoint.audit.report.settings import given_words
from midpoint.audit.report.verdict import Verdict, judge
from midpoint.audit.run.adversaries.judge import JUDGE

DIGESTS = frozenset({"data_digest", "code"})
BOTH = ("dataset", "data_digest", "feature", "folds", "seed", "code")
ROUNDS = ("budget", "items", "timed")
"""In what two audits, and their rounds, may differ as a whole."""


class Number(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    """The number."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""
    chance: bool | None = None
    """Whether an AUC is at chance in its own audit; None for other numbers."""
    reads: bool | None = None
    """Whether the attacker of an AUC succeeds on its control; None for other numbers."""

    @property
    def deviation(self) -> float:
        """Standard error."""
        return (self.high - self.low) / (2 * NORMAL_95)


class Change(NamedTuple):
    """One number in two audits."""

    scheme: str
    """The protocol."""
    metric: str
    """What was measured."""
    attack: str
    """The attacker; empty where none is meant."""
    before: float | None
    """In the first audit, if it is there."""
    after: float | None
    """In the second audit, if it is there."""
    apart: bool
    """Whether |after - before| > 1.96 standard errors of the difference."""
    paired: bool = False
    """Whether that error is of a paired test on the same people, or sqrt(se_1^2 + se_2^2)."""
    chance: tuple[bool | None, bool | None] = (None, None)
    """Whether the AUC of either audit is at chance; None for other numbers."""
    reads: tuple[bool | None, bool | None] = (None, None)
    """Whether the attacker succeeds on its control in either audit; None for other numbers."""

    @property
    def beyond_chance(self) -> bool:
        """Tell whether it is worth a look: new, gone, or changed by more than chance."""
        return self.before is None or self.after is None or self.apart

    @property
    def in_both(self) -> bool:
        """Tell whether both audits have it."""
        return self.before is not None and self.after is not None


class Turn(NamedTuple):
    """A verdict that changed, or that only one of the audits has."""

    scheme: str
    """The protocol."""
    before: str | None
    """Verdict of the first audit, if it tried the scheme."""
    after: str | None
    """Verdict of the second audit, if it tried the scheme."""
    before_by: str = ""
    """AUC, band and number of attackers that the first verdict rests on."""
    after_by: str = ""
    """The same for the second verdict."""


class ControlTurn(NamedTuple):
    """An attacker that succeeds on its control in one audit, and fails in the other."""

    attack: str
    """The attacker."""
    before: bool
    """Whether it succeeds in the first audit."""
    after: bool
    """Whether it does in the second one."""


def changes(a: AuditResults, b: AuditResults, pairing: Pairing | None = None) -> Iterator[Change]:
    """Go through all numbers of either audit, in order.

    With a pairing they are of the same people (`pairing.pair`), and so is what they differ by: who
    is easily guessed adds to both. Without one they are taken to be of different people.
    """
    yield from _changes(_numbers(a), _numbers(b), pairing)


def _changes(
    first: Mapping[Key, Number], second: Mapping[Key, Number], pairing: Pairing | None
) -> Iterator[Change]:
    for key in dict.fromkeys([*first, *second]):
        x, y = first.get(key), second.get(key)
        chance, reads = (x and x.chance, y and y.chance), (x and x.reads, y and y.reads)
        if x is None or y is None:
            yield Change(
                *key, x and x.value, y and y.value, apart=False, chance=chance, reads=reads
            )
            continue
        paired = pairing.deviation(key, x.value, y.value) if pairing else None
        error = hypot(x.deviation, y.deviation) if paired is None else paired
        apart = abs(y.value - x.value) > NORMAL_95 * error + ROUNDING
        yield Change(*key, x.value, y.value, apart, paired is not None, chance, reads)


def turns(a: AuditResults, b: AuditResults) -> Iterator[Turn]:
    """Go through the schemes whose verdict changed, or is there in one of the audits only."""
    names = [*a.scheme_names(), *b.scheme_names(), *a.rounds, *b.rounds]
    for scheme in dict.fromkeys(names):
        before, after = judge(a, scheme), judge(b, scheme)
        was, now = (None if verdict is None else verdict.grade for verdict in (before, after))
        if was != now:
            yield Turn(scheme, was, now, _basis(before), _basis(after))


def control_turns(a: AuditResults, b: AuditResults) -> Iterator[ControlTurn]:
    """Go through the attackers that succeed on their control in one of the audits only."""
    first, second = _controls(a), _controls(b)
    for name, before in first.items():
        after = second.get(name)
        if after is not None and before.reads != after.reads:
            yield ControlTurn(name, before.reads, after.reads)


def _controls(results: AuditResults) -> dict[str, Control]:
    """Return the controls of all attackers, those over several rounds with their scheme."""
    over_rounds = {
        f"{attack} on {held.raw}": control
        for held in results.rounds.values()
        for attack, control in held.controls.items()
    }
    return {**results.controls, **over_rounds}


def _basis(verdict: Verdict | None) -> str:
    return "" if verdict is None else _by(verdict.strongest, verdict.band)


def _by(row: Row, band: Band) -> str:
    """Say which number was judged by which band."""
    kind = "a stack of" if row.attack.startswith(f"{JUDGE}:") else "the strongest of"
    return (
        f"{row.value:.3f}, judged by {band.judged_low:.3f}-{band.judged_high:.3f}, {kind}"
        f" {band.attackers}"
    )


def differences(a: AuditResults, b: AuditResults) -> Iterator[str]:
    """Say in what the audits themselves differ, so that nobody compares the incomparable."""
    for what in BOTH:
        yield from _difference(what, getattr(a, what), getattr(b, what))
    before, after = map(_given, (a, b))
    if before != after:
        yield f"They differ in what is given. Before: {before}. After: {after}"
    for product in a.rounds.keys() & b.rounds.keys():
        for what in ROUNDS:
            pair = (getattr(results.rounds[product], what) for results in (a, b))
            yield from _difference(f"{what} of {product}", *pair)


def _given(results: AuditResults) -> str:
    """Say how ratings were split, if that is known."""
    plan = results.model
    return given_words(plan["share"], plan.get("until"), unary=results.unary) if plan else ""


def _difference(what: str, before: Any, after: Any) -> Iterator[str]:
    if before != after:
        x, y = (value[:16] if what in DIGESTS else value for value in (before, after))
        yield f"They differ in {what.replace('_', ' ')}: {x}, {y}"


def only_in_one(changed: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """Say of either audit, `before` or `after`, in a line what the other does not have."""
    shared = [change for change in changed if change.in_both]
    for which in ("before", "after"):
        here = [c for c in changed if not c.in_both and getattr(c, which) is not None]
        if here:
            yield which, f"{len(here)} numbers{_whose(here, shared)}"


def _whose(alone: Sequence[Change], shared: Sequence[Change]) -> str:
    """Name the schemes and attackers that some numbers are of, and no others are."""
    schemes, attacks = ({getattr(c, what) for c in shared} for what in ("scheme", "attack"))
    new = dict.fromkeys(c.scheme for c in alone if c.scheme not in schemes)
    others = [c for c in alone if c.scheme not in new]
    names = [f"scheme {scheme}" for scheme in new]
    names += [f"what {c.scheme} costs" for c in others if not c.attack]
    names += [c.attack.partition("[")[0] for c in others if c.attack not in {"", *attacks}]
    return f" of {', '.join(dict.fromkeys(names))}" if names else ""


def _numbers(results: AuditResults) -> dict[Key, Number]:
    """Return all numbers; costs too, which are surer than the errors they are ratios of."""
    rows = {
        (row.scheme, row.metric, row.attack): Number(
            row.value, row.low, row.high, *_signs(results, row)
        )
        for row in results.rows
    }
    costs = {
        (scheme, metric, ""): Number(cost.value, cost.low, cost.high)
        for metric, known in ((COST, results.costs), (NDCG_COST, results.ndcg_costs))
        for scheme, cost in known.items()
    }
    return rows | costs


def _signs(results: AuditResults, row: Row) -> tuple[bool | None, bool | None]:
    """Tell of an AUC whether it is at chance, and whether its attacker succeeds on its control."""
    if row.metric != AUC:
        return None, None
    controls = results.controls_of(row.scheme)
    if row.attack.startswith(f"{JUDGE}:"):
        return results.is_chance(row), None
    name = row.attack if row.attack in controls else row.attack.partition("[")[0]
    control = controls.get(name)
    return results.is_chance(row), None if control is None else control.reads
