"""Which scheme was chosen for a model, and what was measured to choose it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from midpoint.errors import MidpointError

RAW = "no"
"""The scheme of the control: ratings as they are."""


@dataclass(frozen=True)
class Allowance:
    """What protection may cost when a scheme is chosen."""

    cost: float = 0.015
    """By what share predictions may be worse than from raw ratings."""
    share: float = 0.25
    """The smallest share of what a scheme lets through that devices may be let to reveal; 1 is all.
    They reveal less where no scheme is shown to leak little; the site then learns less."""

    def __post_init__(self) -> None:
        if self.cost < 0:
            raise MidpointError(f"the cost allowed is a share of the error, not {self.cost:g}")
        if not 0 < self.share <= 1:
            raise MidpointError(f"devices reveal a share above 0 and up to 1, not {self.share:g}")


ALLOWED: Final = Allowance()
"""What it may cost unless something else is named."""


@dataclass(frozen=True)
class Tried:
    """What one candidate did to the panel."""

    scheme: str
    """The candidate; "no" are raw ratings, which all others are compared with."""
    leak: float
    """AUC of the strongest attack: 0.5 is blind guessing."""
    attack: str
    """The name of that attack."""
    category: str
    """Whom it looks for."""
    above: float
    """How far the leak is above the least one."""
    error: float
    """Standard error of that, person by person."""
    cost: float
    """By what share predictions are worse than from raw ratings."""
    note: str = ""
    """Why it was not taken; empty for the one that was."""


@dataclass(frozen=True)
class Choice:
    """A scheme, and why it is the one. A choice is no certificate: an audit measures more."""

    scheme: str
    """Its name."""
    reason: str
    """What decided, to follow "because"."""
    tried: tuple[Tried, ...] = ()
    """What was measured: raw ratings, then the simplest first; empty where nothing could be."""
    failed: tuple[tuple[str, str], ...] = ()
    """Candidates that could not be tried, each with why."""
    people: int = 0
    """People it was measured on."""
    panel: int = 0
    """People there are."""
    most_cost: float = 0.0
    """What a scheme may cost, as a share of the error."""
    luck: float = 0.5
    """AUC up to which the strongest attack on the scheme may be luck."""
    warning: str = ""
    """What to know where no candidate holds the leak, in words; empty where one does."""
    sets_leak: float | None = None
    """Where it was proved that people did not choose what they rate (`--asked prove`): the AUC that
    the best attack on which items they rated has at most."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is kept in a model."""
        return asdict(self)

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Self | None:
        """Read what a model kept; None where no choice was made."""
        if kept is None:
            return None
        rows: Sequence[Mapping[str, Any]] = kept.get("tried", ())
        failed = tuple((str(name), str(why)) for name, why in kept.get("failed", ()))
        return cls(**{**kept, "tried": tuple(Tried(**row) for row in rows), "failed": failed})

    def row(self, scheme: str) -> Tried | None:
        """Return what was measured of a candidate."""
        return next((row for row in self.tried if row.scheme == scheme), None)
