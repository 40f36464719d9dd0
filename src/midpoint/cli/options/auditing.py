"""Options of `midpoint audit`: what is attacked, by what, and how often."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.cli.options import audit_extras as further
from midpoint.cli.options.audit_extras import (
    Adversary,
    Curves,
    Given,
    Membership,
    Outsiders,
    Panel,
    PanelAlone,
    Rounds,
    Split,
    Volunteers,
)
from midpoint.cli.options.protection import Cost, Share, allowance

if TYPE_CHECKING:
    from midpoint.audit import AuditSetting
    from midpoint.data import Ratings
    from midpoint.data.tables.columns import Columns
    from midpoint.protocol import LearningProtocol


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What an audit tries."""

    PANEL: ClassVar = "What is attacked"

    schemes: Annotated[
        str | None,
        typer.Option(
            help="Schemes, separated by commas, such as dmpss,mpss:alpha=0.5; all unless given."
            " `default` is the scheme that `midpoint train` would choose, chosen inside every fold"
            " on its panel alone."
        ),
    ] = None
    cost: Cost = 1.5
    share: Share = 0.25
    attacks: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=further.WHO,
            help="Attackers, separated by commas; all unless given. `paper` means the paper's four;"
            " `path/file.py:Name` or `module:Name` is a class of your own (see"
            " midpoint.audit.Attacker).",
        ),
    ] = None
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            rich_help_panel=further.GENERAL,
            help="Folds of users: 10 unless given, or 3 with --quick.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(rich_help_panel=further.GENERAL, help="Decides every random draw.")
    ] = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            rich_help_panel=further.GENERAL,
            help="How many processes, of one thread each: one for each core unless given. The"
            " results do not depend on it.",
        ),
    ] = None
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            rich_help_panel=further.GENERAL,
            help="A few schemes, attackers and folds, in about a minute. For a first look: it is"
            " not certified.",
        ),
    ] = False
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            rich_help_panel=further.GENERAL,
            help="Repeat the paper's experiments (Sec. 7) with its own methods: 20 ratings at"
            " least, 10 folds, gradient descent, plain estimates, least squares, its schemes and"
            " attackers; every number beside the paper's. Nothing else is left to choose.",
        ),
    ] = False
    protected: Annotated[
        list[Path] | None,
        typer.Option(
            help="A table of the same people's ratings that another tool has changed, to be"
            " attacked. Repeat the option for several outputs of a randomized tool. Without"
            " --schemes, only these and raw ratings are attacked."
        ),
    ] = None
    beside: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=further.GENERAL,
            help="Directory of an audit of the same data and feature that was made with --paper:"
            " the report shows its numbers, by the paper's estimates, beside these, by ours.",
        ),
    ] = None
    curves: Curves = None
    rounds: Rounds = None
    adversary: Adversary = None
    panel: Panel = None
    panel_alone: PanelAlone = False
    outsiders: Outsiders = None
    volunteers: Volunteers = ""
    given: Given = None
    split: Split = "random"
    membership: Membership = False

    def scheme_names(self) -> list[str] | None:
        """Return the schemes that were named."""
        return _split(self.schemes)

    def tried(
        self, ratings: "Ratings", columns: "Columns"
    ) -> "list[str] | dict[str, LearningProtocol] | None":
        """Return the schemes that were named, with what another tool made of the ratings."""
        if not self.protected:
            return self.scheme_names()
        from midpoint.audit.run.plan import read_scheme
        from midpoint.audit.run.protected import ANYTHING, PROTECTED, ProtectedCopies
        from midpoint.data.tables.tables import load_table

        tables = [load_table(path, columns=columns, scale=ANYTHING) for path in self.protected]
        schemes = {name: read_scheme(name) for name in self.scheme_names() or []}
        return {**schemes, PROTECTED: ProtectedCopies.of(ratings, tables)}

    def attack_names(self) -> list[str] | None:
        """Return the attacks that were named."""
        return _split(self.attacks)

    def adversary_names(self) -> list[str] | None:
        """Return the adversaries that were named, by option after option or with commas."""
        if self.adversary is None:
            return None
        return [name for text in self.adversary for name in _split(text) or []]

    def setting(self) -> "AuditSetting":
        """Return what was asked for beyond schemes and attacks."""
        from midpoint.audit import AuditSetting

        return AuditSetting(
            adversaries=self.adversary_names(),
            panel=further.read_sizes(self.panel, "--panel"),
            panel_alone=self.panel_alone,
            outsiders=further.read_sizes(self.outsiders, "--outsiders"),
            volunteers=self.volunteers,
            given=further.share_given(self.given),
            by_time=self.split == "time",
            rounds=self.rounds,
            curves=_split(self.curves) or (),
            membership=self.membership,
            paper=self.paper,
            allow=allowance(self.cost, self.share),
        )


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
