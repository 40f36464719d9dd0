"""What changed between two audits."""

from collections.abc import Iterator
from typing import NamedTuple

from midpoint.audit.results import AuditResults


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
    """Whether the two intervals have nothing in common."""

    @property
    def beyond_chance(self) -> bool:
        """Tell whether it is worth a look: new, gone, or changed by more than its interval."""
        return self.before is None or self.after is None or self.apart


def changes(a: AuditResults, b: AuditResults) -> Iterator[Change]:
    """Go through all numbers of either audit, in order."""
    first = {(row.scheme, row.metric, row.attack): row for row in a.rows}
    second = {(row.scheme, row.metric, row.attack): row for row in b.rows}
    for key in dict.fromkeys([*first, *second]):
        x, y = first.get(key), second.get(key)
        apart = x is not None and y is not None and (x.high < y.low or y.high < x.low)
        yield Change(*key, x and x.value, y and y.value, apart)


def differences(a: AuditResults, b: AuditResults) -> Iterator[str]:
    """Say in what the audits themselves differ, so that nobody compares the incomparable."""
    for what in ("dataset", "data_digest", "feature", "folds", "seed", "code"):
        x, y = getattr(a, what), getattr(b, what)
        if x != y:
            x, y = (one[:16] if what in {"data_digest", "code"} else one for one in (x, y))
            yield f"They differ in {what.replace('_', ' ')}: {x}, {y}"
