from pathlib import Path

import pytest

from midpoint.data import Ratings
from midpoint.data.datasets.flixster import load_flixster
from midpoint.errors import MidpointError

RATINGS = (
    "userid\tmovieid\trating\tdate\r\n"
    "882359\t81\t1.5\t2007-10-10 00:00:00\r\n"
    "882359\t926\t5.0\t2007-10-11 00:00:00\r\n"
    "11\t81\t0.5\t2008-01-02 00:00:00\r\n"
)
PROFILE = (
    "userid,gender,location,memberfor,lastlogin,profileview,age\n"
    "882359,Male,3,2007-01-01 00:00:00,4,20,24\n"
    "11,Female,0,2007-01-01 00:00:00,4,many,N/A\n"
    "12,,0,2007-01-01 00:00:00,4,20,40\n"
)


def directory(
    path: Path, ratings: bytes, profile: bytes, titles: bytes | None = None, ending: str = "txt"
) -> Path:
    path.mkdir(exist_ok=True)
    (path / f"Ratings.timed.{ending}").write_bytes(ratings)
    (path / f"profile.{ending}").write_bytes(profile)
    if titles is not None:
        (path / "movie-names.txt").write_bytes(titles)
    return path


def summary(ratings: Ratings) -> list[object]:
    gender, age = ratings.features["gender"], ratings.features["age"]
    return [
        ratings.user_ids.tolist(),
        ratings.item_ids.tolist(),
        ratings.value.tolist(),
        None if ratings.time is None else ratings.time.tolist(),
        [gender.categories[code] for code in gender.codes],
        age.codes.tolist(),
    ]


EXPECTED = [
    ["11", "882359"],
    ["81", "926"],
    [0.5, 1.5, 5.0],
    [1199232000, 1191974400, 1192060800],
    ["F", "M"],
    [-1, 0],
]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-8-sig"])
@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_copies_in_any_encoding_with_or_without_header_are_the_same(
    tmp_path: Path, encoding: str, has_header: bool, ending: str
) -> None:
    ratings, profile = RATINGS, PROFILE
    if not has_header:
        ratings, profile = (text.split("\n", 1)[1] for text in (RATINGS, PROFILE))
    path = directory(tmp_path, ratings.encode(encoding), profile.encode(), ending=ending)
    assert summary(load_flixster(path)) == EXPECTED


def test_titles_lose_their_html_entities(tmp_path: Path) -> None:
    titles = "moviename\tmovieid\nTom &amp; J&#039;s Café\t81\n".encode("latin-1")
    ratings = load_flixster(directory(tmp_path, RATINGS.encode(), PROFILE.encode(), titles))
    assert ratings.item_names.tolist() == ["Tom & J's Café", "926"]


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        (RATINGS.replace("1.5", "1.7"), r"line 2: rating 1\.7 is not on the scale"),
        (RATINGS.replace("1.5", "bad"), r"line 2: 'bad' in column 'rating' is not a number"),
        (RATINGS.replace("926", "81"), r"line 3: user 882359 rates item 81 again"),
        (RATINGS.replace("\t5.0", "\t"), r"line 3: there is no rating"),
        ("", r"Ratings\.timed\.txt is empty"),
    ],
)
def test_bad_ratings_are_refused_by_line(tmp_path: Path, ratings: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load_flixster(directory(tmp_path, ratings.encode(), PROFILE.encode()))


def test_without_a_header_the_first_line_is_line_one(tmp_path: Path) -> None:
    body = RATINGS.split("\n", 1)[1].replace("1.5", "1.7")
    with pytest.raises(MidpointError, match="line 1: rating"):
        load_flixster(directory(tmp_path, body.encode(), PROFILE.encode()))
