"""The options by which every command names its data: SOURCE, a users table, columns, scale."""

from dataclasses import dataclass, replace
from math import isclose, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.cli.output.notes import show_notes
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.data.ratings import Ratings
    from midpoint.data.scale import Scale
    from midpoint.data.tables.columns import Columns

COLUMNS_PANEL = "Your own table"


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What the columns of a long table are called."""

    user_column: Annotated[
        str | None, typer.Option(help="Column of the user.", rich_help_panel=COLUMNS_PANEL)
    ] = None
    item_column: Annotated[
        str | None, typer.Option(help="Column of the item.", rich_help_panel=COLUMNS_PANEL)
    ] = None
    rating_column: Annotated[
        str | None, typer.Option(help="Column of the rating.", rich_help_panel=COLUMNS_PANEL)
    ] = None

    count_column: Annotated[
        str | None,
        typer.Option(
            help="Column of counts such as plays or clicks: above 0 the item is in her set.",
            rich_help_panel=COLUMNS_PANEL,
        ),
    ] = None

    def columns(self) -> "Columns":
        """Return the names for the readers of tables."""
        from midpoint.data.tables.columns import Columns

        return Columns(
            user=self.user_column,
            item=self.item_column,
            rating=self.rating_column,
            count=self.count_column,
        )


SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A known name (`midpoint data list`), a zip or directory in a known layout, or your"
        " own CSV, TSV, Parquet or RecBole (.inter) file.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class DataOptions(ColumnOptions):
    """A source of ratings, how to read it, and how to prepare it.

    The same in every command, so that a table is described in one way everywhere.
    """

    PANEL: ClassVar = "Ratings"

    source: SourceArgument
    at_least: Annotated[
        int,
        typer.Option(
            min=1, help="Keep users and items with at least this many ratings (paper: 20)."
        ),
    ] = 1
    levels: Annotated[
        int | None,
        typer.Option(
            help="Round ratings to this many levels. Use few where the scale is fine: people prefer"
            " round numbers, so on a scale from 0 to 100 a changed rating stands out.",
        ),
    ] = None
    users: Annotated[
        str | None,
        typer.Option(
            help="Your own table of users: one row each, with features.", metavar="<path>"
        ),
    ] = None
    items: Annotated[
        str | None,
        typer.Option(
            help="Your own table of items: one row each, with title and perhaps year.",
            metavar="<path>",
        ),
    ] = None
    liked: Annotated[
        float | None,
        typer.Option(
            help="Make sets from ratings: each person's set has the items that she rated at"
            " least this high. The lowest rating makes a set of all that she rated.",
        ),
    ] = None
    time_column: Annotated[
        str | None, typer.Option(help="Column of the time.", rich_help_panel=COLUMNS_PANEL)
    ] = None
    title_column: Annotated[
        str | None, typer.Option(help="Column of the item's title.", rich_help_panel=COLUMNS_PANEL)
    ] = None
    item_columns: Annotated[
        str | None,
        typer.Option(
            help="Item columns of a wide table, separated by commas; `V16*` matches many.",
            rich_help_panel=COLUMNS_PANEL,
        ),
    ] = None
    feature_columns: Annotated[
        str | None,
        typer.Option(
            help="Feature columns of users, separated by commas; `*` matches all.",
            rich_help_panel=COLUMNS_PANEL,
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            help="What a rating can be: 1:5, 0.5:5:0.5 (in steps of 0.5), or -10:10:0"
            " (continuous).",
            rich_help_panel=COLUMNS_PANEL,
        ),
    ] = None

    def columns(self) -> "Columns":
        """Return the names for the readers of tables."""
        from midpoint.data.tables.columns import Columns

        return Columns(
            user=self.user_column,
            item=self.item_column,
            rating=self.rating_column,
            count=self.count_column,
            time=self.time_column,
            title=self.title_column,
            items=_names(self.item_columns),
            features=_names(self.feature_columns),
        )

    def table_columns(self) -> "Columns":
        """Return the names for a copy that a tool made: without features, items and counts."""
        return replace(ColumnOptions.columns(self), count=None)

    def rating_scale(self) -> "Scale | None":
        """Return what a rating can be, if that was given."""
        return None if self.scale is None else parse_scale(self.scale)

    def load(self, seed: int = 0) -> "Ratings":
        """Load and prepare the ratings; the readers of tables are imported only now."""
        from midpoint.data import as_sets, at_least, in_levels
        from midpoint.data.sources.loader import load

        show_notes()
        ratings = load(
            self.source,
            users=None if self.users is None else Path(self.users),
            items=None if self.items is None else Path(self.items),
            columns=self.columns(),
            scale=self.rating_scale(),
            seed=seed,
        )
        if self.liked is not None and self.levels is not None:
            raise MidpointError("--liked makes sets, which have no --levels; leave one of them out")
        if self.liked is not None:
            ratings = as_sets(ratings, self.liked)
        if self.levels is not None:
            ratings = in_levels(ratings, self.levels)
        if self.at_least == 1:
            return ratings
        return at_least(ratings, user_ratings=self.at_least, item_ratings=self.at_least)


def parse_scale(text: str) -> "Scale":
    """Read LOW:HIGH or LOW:HIGH:STEP; a step of 0 makes the scale continuous."""
    from midpoint.data.scale import Scale

    written = [_number(part) for part in text.split(":")]
    if len(written) not in {2, 3} or not all(map(isfinite, written)):
        raise MidpointError(
            f"--scale {text}: write LOW:HIGH or LOW:HIGH:STEP, such as 1:5 or 0.5:5:0.5"
        )
    low, high, step = [*written, 1.0][:3]
    if low >= high:
        raise MidpointError(
            f"--scale {text}: the lowest rating comes first, so {low:g} must be below {high:g}"
        )
    if step == 0:
        return Scale.continuous(low, high)
    steps = (high - low) / step
    if not 1 <= steps <= 10_000 or not isclose(steps, round(steps), abs_tol=1e-6):
        raise MidpointError(
            f"--scale {text}: steps of {step:g} do not lead from {low:g} to {high:g}"
        )
    return Scale.stars(low, high, step)


def _number(text: str) -> float:
    """Read a number; text that is not one becomes NaN."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _names(text: str | None) -> tuple[str, ...] | None:
    """Read names separated by commas."""
    return None if text is None else tuple(part.strip() for part in text.split(","))
