import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from midpoint.data import Ratings
from midpoint.data.datasets.movielens import (
    load_movielens_1m,
    load_movielens_100k,
    load_movielens_100k_recbole,
)
from midpoint.errors import MidpointError

ONE_M = {
    "ml-1m/ratings.dat": "1::10::5::0\n1::20::3::0\n2::10::1::0\n7::30::4::0\n",
    "ml-1m/users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n7::M::25::15::55117\n"
    "9::F::35::0::1\n",
    "ml-1m/movies.dat": "10::Alpha: The First (1995)::Drama\n20::Misérables, Les (1995)::Drama\n"
    "30::Gamma::Action|Drama\n",
}
HUNDRED_K = {
    "ml-100k/u.data": "196\t242\t3\t881250949\n186\t302\t3\t891717742\n196\t302\t1\t878887116\n",
    "ml-100k/u.user": "186|39|F|executive|0\n196|66|M|writer|5\n",
    "ml-100k/u.item": "242|Kolya (1996)|24-Jan-1997||http://x|0\n302|Über (1997)|x||y|0\n",
}
RECBOLE = {
    "ml-100k.inter": "user_id:token\titem_id:token\trating:float\ttimestamp:float\r\n"
    "196\t242\t3\t881250949\r\n186\t302\t3\t891717742\r\n196\t302\t1\t878887116\r\n",
    "ml-100k.user": "user_id:token\tage:token\tgender:token\toccupation:token\tzip_code:token\r\n"
    "186\t39\tF\texecutive\t0\r\n196\t66\tM\twriter\t5\r\n",
    "ml-100k.item": "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq\r\n"
    "242\tKolya\t1996\tComedy\r\n302\tÜber\t1997\tFilm-Noir Mystery\r\n",
}


def packed(path: Path, files: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text.encode("latin-1"))
    return path


def unpacked(path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(text.encode("latin-1"))
    return path


def labels(ratings: Ratings, name: str) -> list[str | None]:
    feature = ratings.features[name]
    return [None if code < 0 else feature.categories[code] for code in feature.codes.tolist()]


@pytest.mark.parametrize("pack", [packed, unpacked])
def test_1m_is_read_with_titles_and_features(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    ratings = load_movielens_1m(pack(tmp_path / "x.zip", ONE_M))
    assert ratings.user_ids.tolist() == ["1", "2", "7"]
    assert ratings.value.tolist() == [5, 3, 1, 4]
    assert ratings.item_names.tolist() == [
        "Alpha: The First (1995)",
        "Misérables, Les (1995)",
        "Gamma",
    ]
    assert labels(ratings, "gender") == ["F", "M", "M"]
    assert labels(ratings, "age") == [None, None, "young"]
    assert labels(ratings, "age_band") == ["under 18", "56+", "25-34"]
    assert labels(ratings, "occupation") == ["school student", "self-employed", "scientist"]
    assert ratings.time is None


def test_1m_bands_35_45_50_are_adult_and_18_25_young(tmp_path: Path) -> None:
    ages = [1, 18, 25, 35, 45, 50, 56]
    files = ONE_M | {
        "ml-1m/ratings.dat": "".join(f"{u}::10::{1 + u % 5}::0\n" for u in range(1, 8)),
        "ml-1m/users.dat": "".join(f"{u}::F::{age}::0::0\n" for u, age in enumerate(ages, 1)),
    }
    ratings = load_movielens_1m(packed(tmp_path / "x.zip", files))
    assert labels(ratings, "age") == [None, "young", "young", "adult", "adult", "adult", None]


def test_100k_has_times_and_its_recbole_form_is_the_same(tmp_path: Path) -> None:
    first = load_movielens_100k(packed(tmp_path / "x.zip", HUNDRED_K))
    second = load_movielens_100k_recbole(unpacked(tmp_path / "directory", RECBOLE))
    assert first.time is not None
    assert first.time.tolist() == [891717742, 881250949, 878887116]
    assert first.item_names.tolist() == ["Kolya (1996)", "Über (1997)"]
    assert labels(first, "age") == ["adult", None]
    assert labels(first, "age_band") == ["35-44", "56+"]
    assert first.digest == second.digest
    assert first.item_names.tolist() == second.item_names.tolist()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ratings.dat", "1::10::6::0\n2::10::5::0\n", r"ratings\.dat, line 1: rating 6 is not on"),
        ("ratings.dat", "1::10::5::0\n1::10::4::0\n", r"line 2: user 1 rates item 10 again"),
        ("ratings.dat", "1::10::5::0\n1::20::\n", r"line 2: 3 fields where 4 are expected"),
        ("ratings.dat", "1::10::5::0\n1::20::::0\n", r"line 2: there is no rating"),
        ("ratings.dat", "1::10::5::0\n1::20::nan::0\n", r"line 2: rating nan is not on the scale"),
        ("ratings.dat", "1\t10\t5\t0\n", r"line 1: 1 field where 4"),
        ("ratings.dat", "", r"ratings\.dat is empty"),
        ("users.dat", "5::F::1::10::0\n", r"users\.dat knows none of the 3 users"),
        (
            "users.dat",
            "1::F::1::10::0\n1::M::1::1::0\n",
            r"users\.dat, line 2: user 1 appears again",
        ),
        ("movies.dat", "10::Alpha::Drama\n20 Beta\n", r"movies\.dat, line 2"),
    ],
)
def test_bad_files_are_refused_by_name_and_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = packed(tmp_path / "x.zip", ONE_M | {f"ml-1m/{name}": text})
    with pytest.raises(MidpointError, match=message):
        load_movielens_1m(path)


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    files = {name: text for name, text in ONE_M.items() if "users" not in name}
    with pytest.raises(MidpointError, match=r"has no file users\.dat"):
        load_movielens_1m(packed(tmp_path / "x.zip", files))


@pytest.mark.real_data
def test_the_real_1m_has_its_published_counts(real: Callable[[str], Path]) -> None:
    ratings = load_movielens_1m(real("ml-1m.zip"))
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (6040, 3706, 1_000_209)
    gender = ratings.feature("gender")
    assert dict(zip(gender.categories, np.bincount(gender.codes[ratings.user]), strict=True)) == {
        "F": 246_440,
        "M": 753_769,
    }
    assert ratings.features["age"].counts.tolist() == [2239, 3199]


@pytest.mark.real_data
def test_the_real_100k_has_its_published_counts(real: Callable[[str], Path]) -> None:
    ratings = load_movielens_100k(real("ml-100k.zip"))
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (943, 1682, 100_000)
    assert ratings.features["gender"].counts.tolist() == [273, 670]
    assert ratings.time is not None
