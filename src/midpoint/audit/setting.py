"""Options of an audit beyond schemes and attackers: adversaries, rounds, curves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from midpoint.analyst.fit.choice import ALLOWED, Allowance
from midpoint.errors import MidpointError

Size = float | None
"""A number of people, a share of them below 1, or None for what is usual."""


@dataclass(frozen=True, kw_only=True)
class AuditSetting:
    """What most audits leave as it is."""

    adversaries: str | Sequence[str] | None = None
    """Whom to measure against, by what they know: `clean`, `panel`, `published` or `outsider` (see
    `ADVERSARIES`). Unless given, the panel, and outsiders as well if no attacks are named and
    people are enough."""
    panel: Size | Sequence[Size] = None
    """How many of the people outside a fold are the panel: a share, or a number; 1 is all who are
    no outsiders. Unless given, these are the panel where outsiders are kept apart, and everyone is
    elsewhere. Several make a curve, each with everyone else's reports as well; the results are
    about the last, without."""
    outsiders: Size | Sequence[Size] = None
    """How many of them are outsiders; a fifth unless given. Several make a curve likewise."""
    panel_alone: bool = False
    """Leave out the audits with everyone else's reports, where several panels make a curve."""
    volunteers: str = ""
    """Who volunteers for the panel: everyone alike unless given, `heavy` raters in proportion to
    what they rated, or rather people of a category, such as `age=56+`."""
    given: float | None = None
    """Share of their ratings that people give to their devices; 0.7 unless given, 1 is all of them.
    Accuracy is then measured with 0.7, since nothing would be left to predict."""
    by_time: bool = False
    """Split ratings at one time for everybody, before which the share `given` of all of them came,
    instead of at random within each person."""
    rounds: int | None = None
    """Ask everyone so many times as well, and attack whole transcripts: under the only scheme that
    is named beside raw ratings, else under the one chosen on all of the people. All attackers of
    transcripts try unless some attacks are named, as each of the adversaries that knows the
    scheme."""
    curves: Sequence[str] = ()
    """Draw curves over these settings: `alpha`, `bits` or `share`."""
    membership: bool = False
    """Attack the panel as well: can its members be recognized in what is disclosed
    (`midpoint.audit.membership`)?"""
    allow: Allowance = ALLOWED
    """What protection may cost where the scheme is chosen, as training does."""
    paper: bool = False
    """Do the experiment of the paper's Sec. 7 to the letter (`run.paper_setup`); it leaves nothing
    else to choose than data, feature and seed."""

    def sizes(self) -> list[tuple[Size, Size]]:
        """List the panels with their numbers of outsiders, those that the results are about first.

        They go along both curves: every panel with the last number of outsiders, and the other way.
        """
        panels, outsiders = tuple(_several(self.panel)), tuple(_several(self.outsiders))
        if not panels or not outsiders:
            raise MidpointError("name one size of the panel at least, and one number of outsiders")
        if self.panel_alone and len(set(panels)) == 1:
            raise MidpointError(
                "one panel is audited alone anyway; name several (--panel 500,2000), or leave out"
                " --panel-alone"
            )
        along = [(panel, outsiders[-1]) for panel in reversed(panels)]
        across = [(panels[-1], number) for number in reversed(outsiders)]
        return list(dict.fromkeys([*along, *across]))

    def chosen(self) -> dict[str, Any]:
        """Return what was asked for beside the paper's setting, which leaves none of it to ask."""
        chosen = {name: value for name, value in vars(self).items() if name != "paper"}
        named = {name: [*filter(None, _several(chosen[name]))] for name in ("panel", "outsiders")}
        allow = None if self.allow == ALLOWED else self.allow
        return chosen | named | {"curves": tuple(self.curves), "allow": allow}


USUAL = AuditSetting()
"""The setting of most audits."""


def _several(size: Size | Sequence[Size]) -> Iterator[Size]:
    """Go through the sizes that were named, be it one or several."""
    yield from size if isinstance(size, Sequence) else (size,)
