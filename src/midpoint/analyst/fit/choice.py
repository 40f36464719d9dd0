"""Which scheme was chosen for a model, and what was measured to choose it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from midpoint.errors import MidpointError

RAW = "no"
"""The scheme of the control: ratings as they are."""
STACK: Final = "all together"
"""The name of the attack that combines the scores of all attackers."""


@dataclass(frozen=True)
class Allowance:
    """What protection may cost when a scheme is chosen."""

    cost: float = 0.015
    """By what share predictions may be worse than from raw ratings."""
    share: float = 0.25
    """The smallest share of their answers that a choice may let devices reveal; 1 is all.
    A share is revealed if no scheme is shown to leak little; the site then learns less."""

    def __post_init__(self) -> None:
        if self.cost < 0:
            raise MidpointError(f"the cost allowed is a share of the error, not {self.cost:g}")
        if not 0 < self.share <= 1:
            raise MidpointError(f"devices reveal a share above 0 and up to 1, not {self.share:g}")


ALLOWED: Final = Allowance()
"""What it may cost unless something else is named."""


@dataclass(frozen=True)
class Tried:
    """What was measured of one candidate scheme."""

    scheme: str
    """The candidate; "no" stands for raw ratings, which all others are compared with."""
    leak: float
    """AUC of the strongest attack: 0.5 is blind guessing."""
    attack: str
    """The name of that attack."""
    category: str
    """The category that it tells from the others."""
    above: float
    """How far the leak is above that of the best candidate."""
    error: float
    """Standard error of `above`; both were measured on the same people."""
    cost: float
    """By what share predictions are worse than from raw ratings."""
    note: str = ""
    """Why it was not taken; empty for the one that was."""


@dataclass(frozen=True)
class Choice:
    """The chosen scheme, and why. A choice is no certificate: an audit measures more."""

    scheme: str
    """Its name."""
    reason: str
    """Why it was chosen, as words that follow "because"."""
    tried: tuple[Tried, ...] = ()
    """Raw ratings, then the candidates, the simplest first; empty if nothing was measured."""
    failed: tuple[tuple[str, str], ...] = ()
    """Candidates that could not be tried, each with the reason."""
    people: int = 0
    """Number of people who were measured."""
    panel: int = 0
    """Number of people in the panel."""
    most_cost: float = 0.0
    """The cost allowed, as a share of the error."""
    luck: float = 0.5
    """AUC up to which the strongest attack on the scheme may be luck."""
    warning: str = ""
    """A warning if no candidate holds the leak; empty if one does."""
    sets_leak: float | None = None
    """Where it was proved that people did not choose what they rate (`--asked prove`): the AUC that
    the best attack on which items they rated has at most."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as a model stores it."""
        return asdict(self)

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Self | None:
        """Read it from what a model stores; None if no choice was made."""
        if kept is None:
            return None
        rows: Sequence[Mapping[str, Any]] = kept.get("tried", ())
        failed = tuple((str(name), str(why)) for name, why in kept.get("failed", ()))
        return cls(**{**kept, "tried": tuple(Tried(**row) for row in rows), "failed": failed})

    def row(self, scheme: str) -> Tried | None:
        """Return the row of a candidate; None if it was not tried."""
        return next((row for row in self.tried if row.scheme == scheme), None)
