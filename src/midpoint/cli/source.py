"""The options by which every command names its data: SOURCE, a users table, columns, scale."""

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
) -> "Ratings":
    """Load what the options name; the readers of tables are imported only now."""
    from midpoint.data.sources.loading import load
    from midpoint.data.sources.tables import Columns

    return load(
        source,
        users=users,
        columns=Columns(
            user=user_column,
            item=item_column,
            rating=rating_column,
            time=time_column,
            title=title_column,
            items=_split(item_columns),
            features=_split(feature_columns),
        ),
        scale=None if scale is None else parse_scale(scale),
        seed=seed,
    )


def parse_scale(text: str) -> "Scale":
    """Read LOW:HIGH or LOW:HIGH:STEP; a step of 0 makes the scale continuous."""
    from midpoint.data.scale import Scale

    try:
        low, high, step = [*map(float, text.split(":")), 1.0][:3]
    except ValueError as error:
        raise MidpointError(
            f"--scale {text}: write LOW:HIGH or LOW:HIGH:STEP, such as 1:5 or 0.5:5:0.5"
        ) from error
    if step < 0 or (step and (high - low) / step > 10_000):
        raise MidpointError(f"--scale {text}: the step does not fit the bounds")
    return Scale.stars(low, high, step) if step else Scale.continuous(low, high)


def _split(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(","))
