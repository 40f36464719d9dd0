import zipfile
from pathlib import Path

import pytest

from midpoint.data.datasets.politics_tv import load_politics_tv
from midpoint.errors import MidpointError

SHOWS = [f"Show {k}" for k in range(50)]


def table(path: Path, rated: list[int], value: str = "3") -> Path:
    """Write people who rate so many shows each, by turns women and men, left and right."""
    lines = ["id,gender,politics," + ",".join(SHOWS)]
    for person, count in enumerate(rated):
        who = ["female,Democrat", "Male,republican", "F,Independent"][person % 3]
        cells = [str(1 + (person + k) % 5) for k in range(count)] + [""] * (50 - count)
        lines.append(f"p{person},{who},{','.join(cells)}")
    path.write_text("\n".join(lines).replace("@", value))
    return path


def test_people_who_rate_more_than_40_shows_are_kept(tmp_path: Path) -> None:
    ratings = load_politics_tv(table(tmp_path / "ptv.csv", [50, 41, 40, 45, 3]))
    assert ratings.user_ids.tolist() == ["p0", "p1", "p3"]
    assert len(ratings) == 50 + 41 + 45
    assert ratings.n_items == 50
    everyone = load_politics_tv(tmp_path / "ptv.csv", min_rated=1)
    assert everyone.n_users == 5


def test_features_are_coded_and_independents_missing(tmp_path: Path) -> None:
    ratings = load_politics_tv(table(tmp_path / "ptv.csv", [50, 50, 50]))
    assert ratings.features["gender"].categories == ("F", "M")
    assert ratings.features["gender"].codes.tolist() == [0, 1, 0]
    assert ratings.features["politics"].categories == ("D", "R")
    assert ratings.features["politics"].codes.tolist() == [0, 1, -1]


def test_it_is_found_in_a_directory_and_a_zip(tmp_path: Path) -> None:
    path = table(tmp_path / "politics-and-tv.csv", [50, 50])
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(path, "politics-and-tv.csv")
    digests = {load_politics_tv(p).digest for p in (path, tmp_path, tmp_path / "x.zip")}
    assert len(digests) == 1


def test_a_rating_off_the_scale_is_named_by_line_and_column(tmp_path: Path) -> None:
    path = table(tmp_path / "ptv.csv", [50, 50])
    lines = path.read_text().split("\n")
    path.write_text("\n".join([*lines[:2], lines[2].replace("republican,2", "republican,9", 1)]))
    with pytest.raises(MidpointError, match=r"ptv\.csv, line 3: 9 in column 'Show 0'"):
        load_politics_tv(path)


def test_too_few_ratings_and_missing_features_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match=r"nobody rated 41 shows \(the most is 40\)"):
        load_politics_tv(table(tmp_path / "ptv.csv", [40, 2]))
    (tmp_path / "ptv.csv").write_text("id,a,b\n1,2,3\n")
    with pytest.raises(MidpointError, match="no column gender or politics"):
        load_politics_tv(tmp_path / "ptv.csv")
