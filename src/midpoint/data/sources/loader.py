"""Ratings from anywhere: a known name, a zip or directory in a known layout, or one's own table."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from midpoint.data.datasets.flixster import load_flixster
from midpoint.data.datasets.movielens import (
    load_movielens_1m,
    load_movielens_100k,
    load_movielens_100k_recbole,
)
from midpoint.data.datasets.politics_tv import load_politics_tv
from midpoint.data.datasets.surveys import (
    load_anes_thermometers,
    load_anes_thermometers_nonpartisan,
    load_anes_tv,
    load_young_people,
)
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.simulation import simulate
from midpoint.data.simulation.presets import PRESETS
from midpoint.data.sources.catalogue import (
    LAYOUTS,
    SOURCES,
    Layout,
    data_directories,
    find_source,
    known_source,
    layout_of,
)
from midpoint.data.tables.archive import Archive
from midpoint.data.tables.atomic import INTERACTIONS
from midpoint.data.tables.columns import Columns
from midpoint.data.tables.frames import Frame, is_in_memory
from midpoint.data.tables.items import add_titles
from midpoint.data.tables.tables import add_users_table, load_table
from midpoint.errors import MidpointError

LOADERS: Mapping[str, Callable[[Path], Ratings]] = {
    "movielens-1m": load_movielens_1m,
    "movielens-100k": load_movielens_100k,
    "movielens-100k-recbole": load_movielens_100k_recbole,
    "flixster": load_flixster,
    "politics-and-tv": load_politics_tv,
    "young-people": load_young_people,
    "anes-tv": load_anes_tv,
    "anes-thermometers": load_anes_thermometers,
}
"""The loader of each layout."""


def load(
    source: str | Path | Frame | Sequence[tuple[object, ...]],
    *,
    users: str | Path | Frame | None = None,
    items: str | Path | Frame | None = None,
    columns: Columns | None = None,
    scale: Scale | None = None,
    shape: Literal["long", "wide"] | None = None,
    seed: int = 0,
) -> Ratings:
    """Load ratings with what is known of their users.

    Args:
        source: A known name (`midpoint data list`), a zip or directory in a known layout, or one's
            own table, one row a rating or one row a person: CSV, TSV, Parquet, RecBole's `.inter`,
            a data frame of pandas or polars, a LensKit or Cornac data set, or a list of
            (user, item, rating).
        users: One's own table of people, one row each, with their features: a file or data frame.
        items: One's own table of items, one row each, with their titles and perhaps years.
        columns: What the columns of one's own tables are called.
        scale: What a rating can be, in one's own table.
        shape: Whether one's own table has one row a rating or a person.
        seed: Decides what a simulated source draws.
    """
    people, titles = _table(users), _table(items)
    if not isinstance(source, str | Path):
        if not is_in_memory(source):
            raise MidpointError(
                f"a {type(source).__name__} cannot be loaded; give a name, a path, or a data frame"
                " of pandas or polars"
            )
        ratings = None
    else:
        ratings = _load_known(source, seed)
    if ratings is None:
        own = Path(source) if isinstance(source, str | Path) else source
        return load_table(
            own, users=people, items=titles, columns=columns, scale=scale, shape=shape
        )
    if scale is not None or shape is not None:
        raise MidpointError(f"{source}: the scale and shape of a known data set are fixed")
    if columns is not None:
        usable = set() if users is None else {"user", "features"}
        columns.require_only(usable, f"{source}: the columns of a known data set are fixed")
    if titles is not None:
        ratings = add_titles(ratings, titles)
    return ratings if people is None else add_users_table(ratings, people, columns)


def _table(source: str | Path | Frame | None) -> Path | Frame | None:
    return Path(source) if isinstance(source, str) else source


def _load_known(source: str | Path, seed: int) -> Ratings | None:
    """Load what has a known name or layout; None if the source is somebody's own table."""
    if isinstance(source, str) and source in PRESETS:
        return simulate(PRESETS[source], seed=seed).ratings
    if isinstance(source, str) and source in SOURCES:
        return _load_by_name(source)
    path = Path(source)
    if not path.exists():
        near = get_close_matches(str(source), [*SOURCES, *PRESETS], n=1)
        raise MidpointError(
            f"there is no file, directory or data set {str(source)!r}"
            + (f"; did you mean {near[0]}?" if near else "; `midpoint data list` names data sets")
        )
    if path.is_dir() or path.suffix.lower() == ".zip":
        recognized = _recognize(path)
        return None if recognized is None else LOADERS[recognized.name](path)
    layout = _layout_of_member(path)
    return None if layout is None else LOADERS[layout.name](path.parent)


def _load_by_name(name: str) -> Ratings:
    source = known_source(name)
    path = find_source(source)
    if path is None:
        searched = " and ".join(str(directory) for directory in data_directories())
        raise MidpointError(
            f"{name} is not on this machine (looked in {searched}); `midpoint data get {name}`"
            f" {'downloads it' if source.url else 'says how to obtain it'}"
        )
    if name == "anes-thermometers-nonpartisan":
        return load_anes_thermometers_nonpartisan(path)
    layout = layout_of(path, source)
    if layout is None:
        needed = ", ".join(group[0] for group in LAYOUTS[source.layouts[0]].files)
        raise MidpointError(f"{path} lacks one of {needed}; remove it and get {name} again")
    return LOADERS[layout.name](path)


def _recognize(path: Path) -> Layout | None:
    """Find the layout of a zip or directory by the files in it; None if these are Parquet."""
    names = Archive(path).names
    fits = [layout for layout in LAYOUTS.values() if layout.fits(names)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        files = " or ".join(str(path / layout.files[0][0]) for layout in fits)
        raise MidpointError(f"{path} holds several data sets; say which by its file: {files}")
    if path.is_dir() and any(name.endswith((".parquet", INTERACTIONS)) for name in names):
        return None
    known = "; ".join(
        f"{layout.name} ({', '.join(group[0] for group in layout.files)})"
        for layout in LAYOUTS.values()
    )
    raise MidpointError(
        f"{path} is in no known layout. Name a table of your own by its file, or check the"
        f" directory for the files of: {known}"
    )


def _layout_of_member(path: Path) -> Layout | None:
    """Recognize a layout by its file of ratings, if the other files are beside it."""
    beside = frozenset(file.name.lower() for file in path.parent.iterdir())
    for layout in LAYOUTS.values():
        if path.name.lower() in layout.files[0] and layout.fits(beside):
            return layout
    return None
