"""The options by which every command names its data: SOURCE, a users table, columns, scale."""

import logging
from math import isclose, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.data.ratings import Ratings
    from midpoint.data.scale import Scale

COLUMNS_PANEL = "One's own table"

Source = Annotated[
    str,
    typer.Argument(
        help="A known name (`midpoint data list`), a zip or folder in a known layout, or your own"
        " CSV, TSV or Parquet file.",
        show_default=False,
    ),
]
Users = Annotated[
    Path | None, typer.Option(help="Your own table of users: one row each, with features.")
]
UserColumn = Annotated[
    str | None, typer.Option(help="Column of the user.", rich_help_panel=COLUMNS_PANEL)
]
ItemColumn = Annotated[
    str | None, typer.Option(help="Column of the item.", rich_help_panel=COLUMNS_PANEL)
]
RatingColumn = Annotated[
    str | None, typer.Option(help="Column of the rating.", rich_help_panel=COLUMNS_PANEL)
]
TimeColumn = Annotated[
    str | None, typer.Option(help="Column of the time.", rich_help_panel=COLUMNS_PANEL)
]
TitleColumn = Annotated[
    str | None, typer.Option(help="Column of the item's title.", rich_help_panel=COLUMNS_PANEL)
]
ItemColumns = Annotated[
    str | None,
    typer.Option(
        help="Item columns of a wide table, separated by commas; `V16*` will do.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option(
        help="Feature columns of users, separated by commas; `*` will do.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
ScaleText = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="What a rating can be: 1:5, 0.5:5:0.5 (in steps of 0.5), or -10:10:0 (continuous).",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Seed = Annotated[int, typer.Option(help="Decides what a simulated source draws.")]
AtLeast = Annotated[
    int, typer.Option(min=1, help="Keep users and items with so many ratings (the paper: 20).")
]

Levels = Annotated[
    int | None,
    typer.Option(
        help="Bring ratings to so many levels. Ask for few where the scale is fine: on one from 0"
        " to 100 round numbers give away what was done to them.",
    ),
]


class Notes(logging.Handler):
    """Shows on stderr, as it is at the time, what the library has to say beside its result."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        urgent = record.levelno >= logging.WARNING
        word = typer.style("warning:", fg="yellow", bold=True) if urgent else "note:"
        typer.echo(f"{word} {record.getMessage()}", err=True)


def show_notes() -> None:
    """Let notes and warnings of the library be seen; a second call changes nothing."""
    logger = logging.getLogger("midpoint")
    if not any(isinstance(handler, Notes) for handler in logger.handlers):
        logger.addHandler(Notes())
        logger.setLevel(logging.INFO)


def load_source(
    source: str,
    *,
    users: Path | None = None,
    user_column: str | None = None,
    item_column: str | None = None,
    rating_column: str | None = None,
    time_column: str | None = None,
    title_column: str | None = None,
    item_columns: str | None = None,
    feature_columns: str | None = None,
    scale: str | None = None,
    seed: int = 0,
    at_least: int = 1,
    levels: int | None = None,
) -> "Ratings":
    """Load and prepare what the options name; the readers of tables are imported only now."""
    from midpoint.data import at_least as keep
    from midpoint.data import in_levels
    from midpoint.data.sources.loader import load
    from midpoint.data.tables.columns import Columns

    show_notes()
    ratings = load(
        source,
        users=users,
        columns=Columns(
            user=user_column,
            item=item_column,
            rating=rating_column,
            time=time_column,
            title=title_column,
            items=split_names(item_columns),
            features=split_names(feature_columns),
        ),
        scale=None if scale is None else parse_scale(scale),
        seed=seed,
    )
    if levels is not None:
        ratings = in_levels(ratings, levels)
    if at_least == 1:
        return ratings
    return keep(ratings, user_ratings=at_least, item_ratings=at_least)


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
            f"--scale {text}: the least rating comes first, so {low:g} must be below {high:g}"
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
    """Read a number, as NaN what is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Read names separated by commas."""
    return None if text is None else tuple(part.strip() for part in text.split(","))
