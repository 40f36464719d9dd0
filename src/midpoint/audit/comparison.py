"""What changed between two audits."""

from collections.abc import Iterator
from math import hypot
from typing import NamedTuple

from midpoint.audit.pairing import Key, Pairing
from midpoint.audit.results import COST, ROUNDING, AuditResults
from midpoint.audit.statistics import NORMAL_95
from midpoint.audit.verdict import judge


class Number(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    """The number."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""

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

    @property
    def beyond_chance(self) -> bool:
        """Tell whether it is worth a look: new, gone, or changed by more than chance."""
        return self.before is None or self.after is None or self.apart


class Turn(NamedTuple):
    """A verdict that changed."""

    scheme: str
    """The protocol."""
    before: str
    """What the first audit found."""
    after: str
    """What the second one found."""


def changes(a: AuditResults, b: AuditResults, pairing: Pairing | None = None) -> Iterator[Change]:
    """Go through all numbers of either audit, in order.

    With a pairing they are of the same people (`pairing.pair`), and so is what they differ by: who
    is easily read adds to both. Without one they are taken to be of different people.
    """
    first, second = _numbers(a), _numbers(b)
    for key in dict.fromkeys([*first, *second]):
        x, y = first.get(key), second.get(key)
        if x is None or y is None:
            yield Change(*key, x and x.value, y and y.value, apart=False)
            continue
        own = pairing.deviation(key, x.value, y.value) if pairing else None
        error = hypot(x.deviation, y.deviation) if own is None else own
        apart = abs(y.value - x.value) > NORMAL_95 * error + ROUNDING
        yield Change(*key, x.value, y.value, apart, own is not None)


def turns(a: AuditResults, b: AuditResults) -> Iterator[Turn]:
    """Go through the schemes whose verdict changed."""
    for scheme in a.scheme_names():
        before, after = judge(a, scheme), judge(b, scheme)
        if before is not None and after is not None and before.found != after.found:
            yield Turn(scheme, before.found, after.found)


def differences(a: AuditResults, b: AuditResults) -> Iterator[str]:
    """Say in what the audits themselves differ, so that nobody compares the incomparable."""
    for what in ("dataset", "data_digest", "feature", "folds", "seed", "code"):
        x, y = getattr(a, what), getattr(b, what)
        if x != y:
            x, y = (one[:16] if what in {"data_digest", "code"} else one for one in (x, y))
            yield f"They differ in {what.replace('_', ' ')}: {x}, {y}"


def _numbers(results: AuditResults) -> dict[Key, Number]:
    """Return all numbers; costs too, which are surer than the errors they are ratios of."""
    rows = {
        (row.scheme, row.metric, row.attack): Number(row.value, row.low, row.high)
        for row in results.rows
    }
    costs = {
        (scheme, COST, ""): Number(cost.value, cost.low, cost.high)
        for scheme, cost in results.costs.items()
    }
    return rows | costs
