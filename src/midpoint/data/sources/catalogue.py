"""The data sets known by name: what they are, how they are recognized, where they are."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from platformdirs import user_data_path

from midpoint.data.simulation.presets import PRESETS
from midpoint.data.tables.archive import Archive
from midpoint.errors import MidpointError

DATA_VARIABLE = "MIDPOINT_DATA"
"""A directory with data sets that is searched first and never written."""
GROUPLENS = "https://files.grouplens.org/datasets/movielens/"

FLIXSTER_RATINGS = ("ratings.timed.txt", "ratings.timed.csv")
FLIXSTER_PROFILES = ("profile.txt", "profile.csv")
POLITICS_TV_TABLES = ("politics-and-tv.csv", "politics-and-tv.tsv", "ptv.csv", "ptv.tsv")


@dataclass(frozen=True, slots=True)
class Layout:
    """The files by which a zip or directory is recognized."""

    name: str
    """What the layout is called."""
    files: tuple[tuple[str, ...], ...]
    """Groups of file names in lower case; one of each group is needed. The first has ratings."""

    def fits(self, names: frozenset[str]) -> bool:
        """Tell whether these files, in lower case, are enough."""
        return all(any(name in names for name in group) for group in self.files)


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A data set known by name."""

    name: str
    """What it is called on the command line."""
    summary: str
    """What it is, in a few words."""
    size: str
    """Users, items and ratings."""
    features: tuple[str, ...]
    """What is known of its users."""
    locations: tuple[str, ...]
    """What its zip, directory or file is called in a data directory."""
    layouts: tuple[str, ...]
    """The layouts it comes in."""
    obtain: str
    """How to get it by hand, and where to put it."""
    url: str | None = None
    """Where its official zip can be had without registration."""
    from_wheel: bool = False
    """Whether a Python package carries it, too."""


LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        layout.name: layout
        for layout in (
            Layout("movielens-1m", (("ratings.dat",), ("users.dat",), ("movies.dat",))),
            Layout("movielens-100k", (("u.data",), ("u.user",), ("u.item",))),
            Layout(
                "movielens-100k-recbole",
                (("ml-100k.inter",), ("ml-100k.user",), ("ml-100k.item",)),
            ),
            Layout("flixster", (FLIXSTER_RATINGS, FLIXSTER_PROFILES)),
            Layout("politics-and-tv", (POLITICS_TV_TABLES,)),
            Layout("young-people", (("responses.csv",), ("columns.csv",))),
            Layout("anes-tv", (("tv_programs.csv",), ("items.csv",))),
            Layout("anes-thermometers", (("thermometers.csv",), ("items.csv",))),
        )
    }
)
"""How known data sets are packed."""

_PEOPLE = ("gender", "age", "age_band", "occupation")
_VOTERS = ("gender", "party", "politics", "ideology", "age", "age_band")
_ANES = (
    "Register at electionstudies.org, download the 2016 Time Series Study, and write from it"
    " {file} (columns respondent, mode, gender as F or M, age, party7, ideology7, party as D, I or"
    " R, then one column for each variable, {variables}; blank where there is no valid answer) and"
    " items.csv (var, label, block). Put both into a directory anes2016 in the data directory."
)

SOURCES: Mapping[str, KnownSource] = MappingProxyType(
    {
        source.name: source
        for source in (
            KnownSource(
                name="movielens-100k",
                summary="films, 1 to 5",
                size="943 x 1,682, 100,000 ratings",
                features=_PEOPLE,
                locations=("ml-100k", "ml-100k.zip", "ml-100k-recbole"),
                layouts=("movielens-100k", "movielens-100k-recbole"),
                obtain="Download ml-100k.zip from grouplens.org and put it into the data"
                " directory.",
                url=GROUPLENS + "ml-100k.zip",
                from_wheel=True,
            ),
            KnownSource(
                name="movielens-1m",
                summary="films, 1 to 5",
                size="6,040 x 3,706, 1,000,209 ratings",
                features=_PEOPLE,
                locations=("ml-1m", "ml-1m.zip"),
                layouts=("movielens-1m",),
                obtain="Download ml-1m.zip from grouplens.org and put it into the data directory.",
                url=GROUPLENS + "ml-1m.zip",
            ),
            KnownSource(
                name="flixster",
                summary="films, 0.5 to 5",
                size="147,612 x 48,794, 8.2 M ratings",
                features=("gender", "age", "age_band"),
                locations=("flixster", "flixster.zip"),
                layouts=("flixster",),
                obtain="Flixster's data are no longer public. If you have them, put"
                " Ratings.timed.txt and profile.txt (and movie-names.txt) into a directory flixster"
                " in the data directory. For data of that size, take simulated-flixster.",
            ),
            KnownSource(
                name="politics-and-tv",
                summary="TV shows, 1 to 5",
                size="365 x 50",
                features=("gender", "politics"),
                locations=("politics-and-tv", "politics-and-tv.zip", "politics-and-tv.csv"),
                layouts=("politics-and-tv",),
                obtain="Politics-and-TV is no longer public. If you have it, write"
                " politics-and-tv.csv (one line a person; columns gender, politics, and one for"
                " each show, blank where it is not rated) and put it into the data directory. For"
                " data of that size take simulated-ptv; anes-tv is the nearest real data.",
            ),
            KnownSource(
                name="young-people",
                summary="statements, 1 to 5",
                size="1,010 x 135, 135,832 ratings",
                features=(
                    *("gender", "age", "age_band", "education", "village_or_city"),
                    *("only_child", "handedness", "housing"),
                ),
                locations=("young-people-survey", "young-people-survey.zip"),
                layouts=("young-people",),
                obtain="Log in to Kaggle, download the data set miroslavsabo/young-people-survey,"
                " and put the zip as young-people-survey.zip, or its responses.csv and columns.csv"
                " in a directory young-people-survey, into the data directory.",
            ),
            KnownSource(
                name="anes-tv",
                summary="TV programmes, 0/1",
                size="3,729 x 48, 178,992 ratings",
                features=_VOTERS,
                locations=("anes2016", "anes2016.zip"),
                layouts=("anes-tv",),
                obtain=_ANES.format(file="tv_programs.csv", variables="V161364 to V161411"),
            ),
            KnownSource(
                name="anes-thermometers",
                summary="warmth, 0 to 100",
                size="4,266 x 51, 167,380 ratings",
                features=_VOTERS,
                locations=("anes2016", "anes2016.zip"),
                layouts=("anes-thermometers",),
                obtain=_ANES.format(
                    file="thermometers.csv", variables="V161086 to V161096 and V162078 to V162314"
                ),
            ),
            KnownSource(
                name="anes-thermometers-nonpartisan",
                summary="warmth, 0 to 100",
                size="3,644 x 23, 82,042 ratings",
                features=_VOTERS,
                locations=("anes2016", "anes2016.zip"),
                layouts=("anes-thermometers",),
                obtain=_ANES.format(
                    file="thermometers.csv", variables="V161086 to V161096 and V162078 to V162314"
                ),
            ),
        )
    }
)
"""Real data by name."""


def data_directories() -> list[Path]:
    """Return where data sets are looked for, in order."""
    given = os.environ.get(DATA_VARIABLE)
    return [*([Path(given)] if given else []), own_directory()]


def own_directory() -> Path:
    """Return the only directory that data sets are written to: the platform's data directory."""
    return user_data_path("midpoint", appauthor=False)


def known_source(name: str) -> KnownSource:
    """Return a real data set by name."""
    if name in SOURCES:
        return SOURCES[name]
    if name in PRESETS:
        raise MidpointError(f"{name} is simulated when it is used: there is nothing to get")
    raise MidpointError(f"there is no data set {name!r}; known are {', '.join(SOURCES)}")


def find_source(source: KnownSource) -> Path | None:
    """Return the path of a known data set, or None."""
    for directory in data_directories():
        for location in source.locations:
            path = directory / location
            if path.is_file() or (path.is_dir() and layout_of(path, source) is not None):
                return path
    return None


def layout_of(path: Path, source: KnownSource) -> Layout | None:
    """Return in which of its layouts a zip, directory or file holds a known data set."""
    if path.is_file() and path.suffix.lower() != ".zip":
        names = frozenset({path.name.lower()})
    else:
        names = Archive(path).names
    return next((LAYOUTS[name] for name in source.layouts if LAYOUTS[name].fits(names)), None)
