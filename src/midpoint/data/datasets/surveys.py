"""Surveys as ratings: Young People Survey (2013) and ANES 2016."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from midpoint.data.origin import Origin
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.archive import Archive
from midpoint.data.tables.builder import ratings_of_wide, row_numbers, with_people
from midpoint.data.tables.people import DECADE_STARTS, band, young_or_adult
from midpoint.data.tables.reader import read_text_table
from midpoint.errors import MidpointError

YOUNG_PEOPLE_FEATURES = {
    "education": "Education",
    "village_or_city": "Village - town",
    "only_child": "Only child",
    "handedness": "Left - right handed",
    "housing": "House - block of flats",
}
"""Feature names and the survey's columns for them, beside gender and age."""
NOT_STATEMENTS = frozenset({"Age", "Height", "Weight", "Number of siblings"})
"""Columns of numbers that are no answer from 1 to 5."""
ANES_PEOPLE = ("respondent", "mode", "gender", "age", "party7", "ideology7", "party")
ANES_FIRST_UNKNOWN = 988
"""ANES codes refusals below zero, and "don't know" and "don't recognize" from here on."""
PARTISAN = frozenset(
    f"V{code}" for code in (*range(161086, 161097), *range(162078, 162093), 162097, 162101, 162109)
)
"""Thermometers of candidates, office holders, parties, liberals, conservatives, the Tea Party."""


def load_young_people(path: Path) -> Ratings:
    """Read the Young People Survey: statements rated 1 to 5, named in full by `columns.csv`.

    All people are 15 to 30 years old, so `age` is "under 20" against "20+" here.
    """
    archive = Archive(path)
    table, origin = read_text_table(archive.read("responses.csv"), archive.where("responses.csv"))
    _require(table, origin, ("Gender", "Age", *YOUNG_PEOPLE_FEATURES.values()))
    titles, _ = read_text_table(archive.read("columns.csv"), archive.where("columns.csv"))
    statements = {str(short): str(full) for full, short in titles.iter_rows()}
    items = [
        name
        for name in table.columns
        if table[name].dtype.is_numeric() and name not in NOT_STATEMENTS
    ]
    table = table.with_columns(user=row_numbers(table))
    ratings = ratings_of_wide(
        table,
        items,
        name="young-people",
        origin=origin,
        scale=Scale.stars(1, 5),
        titles=statements,
    )
    age = pl.col("Age")
    people = table.select(
        "user",
        gender=pl.col("Gender").replace_strict(["female", "male"], ["F", "M"], default=None),
        age=pl.when(age < 20).then(pl.lit("under 20")).when(age >= 20).then(pl.lit("20+")),
        age_band=band(table["Age"], (18, 20, 22, 25)),
        **{feature: pl.col(column) for feature, column in YOUNG_PEOPLE_FEATURES.items()},
    )
    return with_people(ratings, people, origin)


def load_anes_tv(path: Path) -> Ratings:
    """Read which of 48 television programmes people watch, as 0 and 1 (ANES 2016)."""
    return _load_anes(path, "tv_programs.csv", "anes-tv", Scale.stars(0, 1))


def load_anes_thermometers(path: Path) -> Ratings:
    """Read how warmly people feel about 51 persons and groups, 0 to 100 (ANES 2016)."""
    return _load_anes(path, "thermometers.csv", "anes-thermometers", Scale.stars(0, 100))


def load_anes_thermometers_nonpartisan(path: Path) -> Ratings:
    """Read the thermometers that do not nearly state the party: the fair test of protecting it."""
    ratings = load_anes_thermometers(path)
    keep = np.array([item not in PARTISAN for item in ratings.item_ids.tolist()])
    kept = ratings.select_items(keep)
    # Most of these were asked after the election, when some people no longer answered.
    answered = np.diff(kept.user_offsets) > 0
    return replace(kept.select_users(answered), name="anes-thermometers-nonpartisan")


def _load_anes(path: Path, file: str, name: str, scale: Scale) -> Ratings:
    archive = Archive(path)
    table, origin = read_text_table(archive.read(file), archive.where(file))
    _require(table, origin, ANES_PEOPLE)
    titles, _ = read_text_table(archive.read("items.csv"), archive.where("items.csv"))
    items = [column for column in table.columns if column not in ANES_PEOPLE]
    known = [
        pl.when(pl.col(item).is_between(0, ANES_FIRST_UNKNOWN - 1)).then(pl.col(item))
        for item in items
        if table[item].dtype.is_numeric()
    ]
    table = table.with_columns(*known, user="respondent")
    ratings = ratings_of_wide(
        table,
        items,
        name=name,
        origin=origin,
        scale=scale,
        titles={str(code): _title(str(label)) for code, label, *_ in titles.iter_rows()},
    )
    side = pl.col("ideology7")
    people = table.select(
        "user",
        "gender",
        "party",
        politics=pl.col("party").replace_strict(["D", "R"], ["D", "R"], default=None),
        ideology=pl.when(side.is_between(1, 3))
        .then(pl.lit("liberal"))
        .when(side == 4)
        .then(pl.lit("moderate"))
        .when(side.is_between(5, 7))
        .then(pl.lit("conservative")),
        age=young_or_adult(table["age"]),
        age_band=band(table["age"], DECADE_STARTS),
    )
    return with_people(ratings, people, origin)


def _title(label: str) -> str:
    """Shorten "POST: Feeling thermometer: FEMINISTS" to what it is about."""
    subject = label.rsplit(": ", 1)[-1]
    if "thermometer" not in label.lower():
        return subject.removeprefix("TV PROG ")
    subject = subject.title() if subject.isupper() else subject
    return f"{subject} (before the election)" if label.startswith("PRE") else subject


def _require(table: pl.DataFrame, origin: Origin, columns: tuple[str, ...]) -> None:
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise MidpointError(
            f"{origin.path}, line 1: there is no column {absent[0]!r}; check that it is the right"
            " file"
        )
