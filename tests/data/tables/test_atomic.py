"""RecBole's files, read and written."""

from pathlib import Path

import pytest

from midpoint.data import PRESETS, Ratings, load, simulate, write_atomic
from midpoint.errors import MidpointError
from tests.support.tables.own_tables import file, labels, triples

INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\tx\t4\t10\n2\tx\t2\t20\n"
USER = "user_id:token\tgender:token\tplace:float_seq\n1\tF\t0.5 0.1\n2\tM\t0.1 0.2\n"
ITEM = "item_id:token\tmovie_title:token_seq\trelease_year:token\nx\tTwelve Monkeys\t1995\n"


def test_atomic_files_are_read_with_those_beside_them(tmp_path: Path) -> None:
    path = file(tmp_path / "films.inter", INTER)
    assert not load(path).features
    file(tmp_path / "films.user", USER)
    file(tmp_path / "films.item", ITEM)
    for source in (path, tmp_path):
        ratings = load(source)
        assert triples(ratings) == [("1", "x", 4.0), ("2", "x", 2.0)]
        assert set(ratings.features) == {"gender"}
        assert labels(ratings, "gender") == ["F", "M"]
        assert ratings.item_names.tolist() == ["Twelve Monkeys (1995)"]
        assert ratings.time is not None
    file(tmp_path / "other.inter", INTER)
    with pytest.raises(MidpointError, match="holds several data sets; name one"):
        load(tmp_path)


def test_a_directory_without_them_may_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(tmp_path / "notes.txt", "no ratings")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MidpointError, match="in no known layout"):
        load(Path())


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    before = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    path = write_atomic(before, tmp_path / "tiny")
    assert path == tmp_path / "tiny" / "tiny.inter"
    assert path.read_text().startswith("user_id:token\titem_id:token\trating:float\n")
    after = load(tmp_path / "tiny")
    assert triples(after) == sorted_triples(before)
    assert labels_by_user(after) == labels_by_user(before)
    names = (dict(zip(r.item_ids.tolist(), r.item_names.tolist(), strict=True))
             for r in (before, after))  # fmt: skip
    assert next(names) == next(names)


def sorted_triples(ratings: Ratings) -> list[tuple[str, str, float]]:
    return sorted(triples(ratings), key=lambda row: (int(row[0]), int(row[1])))


def labels_by_user(ratings: Ratings) -> dict[str, str | None]:
    return dict(zip(ratings.user_ids.tolist(), labels(ratings, "gender"), strict=True))
