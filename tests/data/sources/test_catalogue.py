import zipfile
from pathlib import Path

import pytest

from midpoint.data.scale import Scale
from midpoint.data.simulation.presets import PRESETS
from midpoint.data.sources.catalogue import (
    LAYOUTS,
    SOURCES,
    data_directories,
    find_source,
    known_source,
    own_directory,
)
from midpoint.data.sources.loader import LOADERS, load
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError

FILES = {
    "u.data": "1\t7\t3\t5\n2\t7\t4\t6\n",
    "u.user": "1|24|M|writer|0\n2|40|F|other|0\n",
    "u.item": "7|Seven (1995)|x\n",
}


@pytest.fixture
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    given, own = tmp_path / "given", tmp_path / "own"
    given.mkdir()
    own.mkdir()
    monkeypatch.setenv("MIDPOINT_DATA", str(given))
    monkeypatch.setattr("midpoint.data.sources.catalogue.user_data_path", lambda *_, **__: own)
    return given, own


def small_100k(path: Path, first_rating: str = "3") -> Path:
    files = FILES | {"u.data": FILES["u.data"].replace("\t3\t", f"\t{first_rating}\t")}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"ml-100k/{name}", text)
    else:
        path.mkdir(parents=True)
        for name, text in files.items():
            (path / name).write_text(text)
    return path


def test_every_source_has_layouts_and_loaders() -> None:
    assert set(LOADERS) == set(LAYOUTS)
    assert {layout for source in SOURCES.values() for layout in source.layouts} == set(LAYOUTS)
    assert not set(SOURCES) & set(PRESETS)


def test_the_given_directory_is_searched_before_our_own(directories: tuple[Path, Path]) -> None:
    given, own = directories
    assert data_directories() == [given, own]
    assert own_directory() == own
    assert find_source(SOURCES["movielens-100k"]) is None
    small_100k(own / "ml-100k.zip", "5")
    assert load("movielens-100k").value[0] == 5
    small_100k(given / "ml-100k")
    assert load("movielens-100k").value[0] == 3


def test_without_the_variable_only_our_own_is_searched(
    directories: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIDPOINT_DATA")
    assert data_directories() == [directories[1]]


def test_a_folder_without_the_files_is_passed_over(directories: tuple[Path, Path]) -> None:
    given, own = directories
    (given / "ml-100k").mkdir()
    small_100k(own / "ml-100k")
    assert find_source(SOURCES["movielens-100k"]) == own / "ml-100k"


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


def test_known_layouts_are_recognised_by_their_files(tmp_path: Path) -> None:
    folder, packed = small_100k(tmp_path / "any name"), small_100k(tmp_path / "other.zip")
    digests = {load(path).digest for path in (folder, str(packed), folder / "u.data")}
    assert len(digests) == 1
    assert load(folder).item_names.tolist() == ["Seven (1995)"]
    (folder / "u.item").unlink()
    with pytest.raises(MidpointError, match="is in no known layout"):
        load(folder)
    assert load(folder / "u.data").item_names.tolist() == ["7"]


def test_a_folder_with_two_data_sets_asks_which(tmp_path: Path) -> None:
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
    with pytest.raises(MidpointError, match="--user-column says nothing"):
        load(tmp_path / "k", columns=columns)


def test_what_nobody_knows_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="did you mean movielens-1m"):
        load("movielens1m")
    with pytest.raises(MidpointError, match="`midpoint data list`"):
        load(tmp_path / "qqq")
    with pytest.raises(MidpointError, match="not to choose"):
        load("simulated-tiny", scale=Scale.stars(1, 5))
    with pytest.raises(MidpointError, match="not to choose, so --rating-column says nothing"):
        load("simulated-tiny", columns=Columns(rating="stars"))
    with pytest.raises(MidpointError, match="no data set 'nope'; known are movielens-100k"):
        known_source("nope")
    with pytest.raises(MidpointError, match="nothing to get"):
        known_source("simulated-tiny")
