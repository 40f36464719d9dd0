"""Options by which `midpoint train` says how people are to be protected."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst import Allowance
    from midpoint.data import Scale


class Counterparts(StrEnum):
    """What positions are fitted from, for schemes with counterparts."""

    auto = "auto"
    sets = "sets"
    values = "values"
    none = "none"


def within(low: float, high: float, remedy: str) -> Callable[[float | None], float | None]:
    """Return a check of an option's number, which says what to give instead.

    Typer's own `min` and `max` answer in the words of a library.
    """

    def check(value: float | None) -> float | None:
        if value is not None and not low <= value <= high:  # NaN is not within either
            raise typer.BadParameter(f"{value:g} is out of range; give {remedy}")
        return value

    return check


Cost = Annotated[
    float,
    typer.Option(
        callback=within(0, inf, "per cent of the error, 0 or more, such as 1.5"),
        help="Highest cost of the scheme that is chosen: by how many per cent predictions may be"
        " worse than from raw ratings.",
    ),
]
Share = Annotated[
    float,
    typer.Option(
        callback=within(
            0.01, 1, "a share from 0.01 to 1, such as 0.25 for a quarter of the answers"
        ),
        help="Smallest share of the answers that devices may send. Where no scheme is shown to leak"
        " little, they send only a share, as small as --cost allows, but none below 0.25 is tried."
        " They still rank by all of their user's ratings. Give a larger share if the site is to"
        " learn from reports. Not for sets, which have a leak budget instead.",
    ),
]


def allowance(cost: float, share: float) -> "Allowance":
    """Return what protection may cost: per cent of the error, and of what is revealed a share."""
    from midpoint.analyst import Allowance

    return Allowance(cost / 100, share)


@dataclass(frozen=True, kw_only=True)
class ProtectionOptions:
    """Which scheme devices will use, and what it may cost and leak."""

    PANEL: ClassVar = "Protection"

    counterparts: Annotated[
        Counterparts,
        typer.Option(
            help="`auto`: attack the schemes on the people themselves, and take the simplest that"
            " is shown to leak little, or else the one that leaks least. The others name a scheme:"
            " `none` protects item by item (dmpss); `sets` answers as a person's counterpart would,"
            " found by which items people rate and how (cmpss); `values` does so by how they rate"
            " alone, where everyone rates everything (cmp)."
        ),
    ] = Counterparts.auto
    spread: Annotated[
        bool,
        typer.Option(
            "--spread",
            help="Hide how much of the scale people use (`spread=on`). With `--counterparts sets`"
            " or `values`; `auto` tries it where that may help.",
        ),
    ] = False
    cost: Cost = 1.5
    share: Share = 0.25
    asked: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|all|prove",
            help="People did not choose what they rate: a table of user and item says what"
            " each was asked, `all` that everyone was asked everything, and with `prove` an attack"
            " on what people rated has to find nothing. Values alone are then"
            " protected, and devices answer all that they are asked, or nothing. Engine `local`.",
        ),
    ] = None
    leak: Annotated[
        float | None,
        typer.Option(
            callback=within(0.501, 1, "an AUC from 0.501 to 1, such as 0.6; 0.5 is blind guessing"),
            help="Leak budget: the highest AUC that somebody could reach who knew all errors of the"
            " disclosed numbers (0.5: blind guessing). Items with imprecise numbers are then"
            " revealed rarely or never, by everyone alike. Printed with what it costs. Without it,"
            " every item may be revealed, unless training chooses a budget, as it does for sets."
            " For schemes that withhold ratings; engine `local` only.",
        ),
    ] = None
    least_people: Annotated[
        int,
        typer.Option(
            min=1,
            help="Refuse a category of fewer people: what is disclosed of it would show their own"
            " ratings.",
        ),
    ] = 10

    def allowance(self) -> "Allowance":
        """Return what protection may cost."""
        return allowance(self.cost, self.share)

    def scheme(self, scale: "Scale") -> str | None:
        """Return the scheme that was asked for, None if the library is to choose."""
        from midpoint.analyst import itemwise_scheme

        fitted = self.counterparts in {Counterparts.sets, Counterparts.values}
        if self.spread and not fitted:
            raise MidpointError(
                "--spread goes with counterparts; add --counterparts sets or values"
            )
        if self.counterparts is Counterparts.auto:
            return None
        if self.counterparts is Counterparts.none:
            return itemwise_scheme(scale)
        name = "cmpss" if self.counterparts is Counterparts.sets else "cmp"
        return f"{name}:spread=on" if self.spread else name
