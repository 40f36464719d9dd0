"""What changed between two audits."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import NamedTuple

from midpoint.audit.measure.paired_test import Key, Pairing
from midpoint.audit.measure.results import AUC, COST, ROUNDING, AuditResults, Band, Row
from midpoint.audit.measure.statistics import NORMAL_95
from midpoint.audit.report.verdict import Verdict, judge
from midpoint.audit.rounds.results import TranscriptResults

DIGESTS = frozenset({"data_digest", "code"})
BOTH = ("dataset", "data_digest", "feature", "folds", "seed", "code")
ROUNDS = (*BOTH, "rounds", "budget", "items", "timed")
"""In what two audits, and two audits of rounds, may differ as a whole."""


class Number(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    """The number."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""
    chance: bool | None = None
    """Of an AUC, whether it is not told from chance in its own audit."""
    reads: bool | None = None
    """Of an AUC, whether its attacker reads its control there; else failing proves nothing."""

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
    """Whether that is the error among the same people, or sqrt(se_1^2 + se_2^2) of others."""
    chance: tuple[bool | None, bool | None] = (None, None)
    """Of an AUC in either audit, whether it is not told from chance there."""
    reads: tuple[bool | None, bool | None] = (None, None)
    """Of an AUC in either audit, whether its attacker reads its control there."""

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
    """What the first audit found, if it tried the scheme."""
    after: str | None
    """What the second one found, if it did."""
    before_by: str = ""
    """By which number, band and how many attackers the first one did."""
    after_by: str = ""
    """By which the second one did."""


class ControlTurn(NamedTuple):
    """An attacker that can read its control in one audit, and cannot in the other."""

    attack: str
    """The attacker."""
    before: bool
    """Whether it reads in the first audit."""
    after: bool
    """Whether it does in the second one."""


def changes(a: AuditResults, b: AuditResults, pairing: Pairing | None = None) -> Iterator[Change]:
    """Go through all numbers of either audit, in order.

    With a pairing they are of the same people (`pairing.pair`), and so is what they differ by: who
    is easily read adds to both. Without one they are taken to be of different people.
    """
    yield from _changes(_numbers(a), _numbers(b), pairing)


def round_changes(a: TranscriptResults, b: TranscriptResults) -> Iterator[Change]:
    """Go through what attackers read of several rounds in either audit, device by device."""
    yield from _changes(_round_numbers(a), _round_numbers(b), None)


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
        own = pairing.deviation(key, x.value, y.value) if pairing else None
        error = hypot(x.deviation, y.deviation) if own is None else own
        apart = abs(y.value - x.value) > NORMAL_95 * error + ROUNDING
        yield Change(*key, x.value, y.value, apart, own is not None, chance, reads)


def turns(a: AuditResults, b: AuditResults) -> Iterator[Turn]:
    """Go through the schemes whose verdict changed, or is there in one of the audits only."""
    for scheme in dict.fromkeys([*a.scheme_names(), *b.scheme_names()]):
        before, after = judge(a, scheme), judge(b, scheme)
        was, now = (None if one is None else one.found for one in (before, after))
        if was != now:
            yield Turn(scheme, was, now, _basis(a, before), _basis(b, after))


def control_turns(a: AuditResults, b: AuditResults) -> Iterator[ControlTurn]:
    """Go through the attackers that read their control in one of the audits only."""
    for attack in a.attack_names():
        before, after = a.controls[attack], b.controls.get(attack)
        if after is not None and before.reads != after.reads:
            yield ControlTurn(attack, before.reads, after.reads)


def round_turn(a: TranscriptResults, b: TranscriptResults) -> Turn | None:
    """Return the verdict on several rounds, if it changed."""
    if (a.product, a.found) == (b.product, b.found):
        return None
    by = [_by(one.strongest(one.product), one.bands[one.product]) for one in (a, b)]
    names = dict.fromkeys([a.product, b.product])
    return Turn(", now ".join(names), a.found, b.found, *by)


def _basis(results: AuditResults, verdict: Verdict | None) -> str:
    return "" if verdict is None else _by(verdict.strongest, results.bands[verdict.scheme])


def _by(row: Row, band: Band) -> str:
    """Say which number was judged by which band."""
    return (
        f"{row.value:.3f}, judged by {band.judged_low:.3f}-{band.judged_high:.3f}, the strongest of"
        f" {band.attackers}"
    )


def differences(
    a: AuditResults | TranscriptResults, b: AuditResults | TranscriptResults
) -> Iterator[str]:
    """Say in what the audits themselves differ, so that nobody compares the incomparable."""
    for what in ROUNDS if isinstance(a, TranscriptResults) else BOTH:
        x, y = getattr(a, what), getattr(b, what)
        if x != y:
            x, y = (one[:16] if what in DIGESTS else one for one in (x, y))
            yield f"They differ in {what.replace('_', ' ')}: {x}, {y}"


def only_in_one(found: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """Say of either audit, `before` or `after`, in a line what the other does not have."""
    for place in ("before", "after"):
        own = [one for one in found if not one.in_both and getattr(one, place) is not None]
        if own:
            shared = [one for one in found if one.in_both]
            yield place, f"{len(own)} numbers{_whose(own, shared)}"


def _whose(own: Sequence[Change], shared: Sequence[Change]) -> str:
    """Name the schemes and attackers that some numbers are of, and no others are."""
    schemes, attacks = ({getattr(one, what) for one in shared} for what in ("scheme", "attack"))
    alone = dict.fromkeys(one.scheme for one in own if one.scheme not in schemes)
    others = [one for one in own if one.scheme not in alone]
    names = [f"scheme {one}" for one in alone]
    names += [f"what {one.scheme} costs" for one in others if not one.attack]
    names += [one.attack.partition("[")[0] for one in others if one.attack not in {"", *attacks}]
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
        (scheme, COST, ""): Number(cost.value, cost.low, cost.high)
        for scheme, cost in results.costs.items()
    }
    return rows | costs


def _signs(results: AuditResults, row: Row) -> tuple[bool | None, bool | None]:
    """Tell of an AUC whether it is not told from chance, and whether its attacker can read."""
    if row.metric != AUC:
        return None, None
    name = row.attack if row.attack in results.controls else row.attack.partition("[")[0]
    control = results.controls.get(name)
    return results.is_chance(row), None if control is None else control.reads


def _round_numbers(found: TranscriptResults) -> dict[Key, Number]:
    """Return what attackers read of each kind of device."""
    return {
        (row.scheme, row.metric, row.attack): Number(
            row.value,
            row.low,
            row.high,
            found.bands[row.scheme].holds(row.value),
            found.reads.get(row.attack),
        )
        for row in found.rows
    }
