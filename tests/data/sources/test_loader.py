"""Ratings from a name or a path."""

import zipfile
from pathlib import Path

import pytest

from midpoint.data.scale import Scale
from midpoint.data.sources.catalogue import (
    known_source,
)
from midpoint.data.sources.loader import load
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError
from tests.support.tables.small_movielens import FILES, small_100k


def test_what_is_not_here_says_how_to_get_it(directories: tuple[Path, Path]) -> None:
    with pytest.raises(
        MidpointError, match="`midpoint data get movielens-1m` downloads it"
    ) as refused:
        load("movielens-1m")
    assert str(directories[0]) in str(refused.value)
    with pytest.raises(MidpointError, match="`midpoint data get flixster` says how to obtain it"):
        load("flixster")


def test_a_zip_that_lacks_files_is_refused(directories: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(directories[1] / "ml-100k.zip", "w") as archive:
        archive.writestr("ml-100k/u.data", FILES["u.data"])
    with pytest.raises(MidpointError, match=r"lacks one of u\.data, u\.user, u\.item"):
        load("movielens-100k")


def test_known_layouts_are_recognized_by_their_files(tmp_path: Path) -> None:
    directory, packed = small_100k(tmp_path / "any name"), small_100k(tmp_path / "other.zip")
    digests = {load(path).digest for path in (directory, str(packed), directory / "u.data")}
    assert len(digests) == 1
    assert load(directory).item_names.tolist() == ["Seven (1995)"]
    (directory / "u.item").unlink()
    with pytest.raises(MidpointError, match="is in no known layout"):
        load(directory)
    assert load(directory / "u.data").item_names.tolist() == ["7"]


def test_a_directory_with_two_data_sets_asks_which(tmp_path: Path) -> None:
    people = "respondent,mode,gender,age,party7,ideology7,party"
    row = "1,FTF,M,29,7,6,R,1\n2,FTF,F,39,1,2,D,0\n"
    (tmp_path / "items.csv").write_text("var,label,block\nV1,x: TV PROG News,tv\n")
    (tmp_path / "tv_programs.csv").write_text(f"{people},V1\n{row}")
    (tmp_path / "thermometers.csv").write_text(f"{people},V1\n{row}")
    with pytest.raises(MidpointError, match=r"several data sets.*tv_programs\.csv or"):
        load(tmp_path)
    assert load(tmp_path / "tv_programs.csv").item_names.tolist() == ["News"]


def test_simulated_sources_are_drawn_by_seed() -> None:
    first, again, other = (load("simulated-tiny", seed=seed) for seed in (1, 1, 2))
    assert first.digest == again.digest != other.digest


def test_own_tables_and_users_tables_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("user,item,rating\n1,a,2\n2,b,5\n")
    (tmp_path / "users.csv").write_text("user,sex\n1,F\n2,M\n")
    ratings = load(tmp_path / "mine.csv", users=tmp_path / "users.csv", scale=Scale.stars(1, 5))
    assert ratings.feature("sex").counts.tolist() == [1, 1]
    known = load(small_100k(tmp_path / "k"), users=tmp_path / "users.csv")
    assert set(known.features) > {"gender", "sex"}
    columns = Columns(user="user", features=("sex",))
    same = load(tmp_path / "k", users=tmp_path / "users.csv", columns=columns)
    assert same.digest == known.digest
    with pytest.raises(MidpointError, match="--user-column has no effect"):
        load(tmp_path / "k", columns=columns)


def test_what_nobody_knows_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="did you mean movielens-1m"):
        load("movielens1m")
    with pytest.raises(MidpointError, match="`midpoint data list`"):
        load(tmp_path / "qqq")
    with pytest.raises(MidpointError, match="are fixed"):
        load("simulated-tiny", scale=Scale.stars(1, 5))
    with pytest.raises(MidpointError, match="are fixed, so --rating-column has no effect"):
        load("simulated-tiny", columns=Columns(rating="stars"))
    with pytest.raises(MidpointError, match="no data set 'nope'; known are movielens-100k"):
        known_source("nope")
    with pytest.raises(MidpointError, match="nothing to get"):
        known_source("simulated-tiny")
