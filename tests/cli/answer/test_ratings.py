from pathlib import Path

import pytest

from midpoint.cli.answer.ratings import read_ratings
from midpoint.errors import MidpointError
from midpoint.user.agent import Standing
from midpoint.wire import ONE, Catalogue
from tests.support.people.made_up import accepted, disclosure

SHOWN = disclosure(
    points=tuple(k * ONE // 2 for k in range(2, 11)), items=("a", "b", "c"), n_items=3
)
TITLES = Catalogue(items=SHOWN.items, titles=("Once", "Twice", "Twice"), ratings=(0, 0, 0))
STANDING = Standing.of(accepted(SHOWN), None, TITLES)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", "a,b\n1,2\n", "needs a first line"),
        ("r.csv", "", "needs a first line"),
        ("r.csv", "item,rating\nnobody,4\n", "line 2: there is no title or item 'nobody'"),
        ("r.csv", "title,rating\na,4\nonc,4\n", "line 3: .* did you mean 'Once'"),
        ("r.csv", "item,rating\na,4\na,5\n", "line 3: 'a' is rated twice"),
        ("r.csv", "item,rating\na,4\nOnce,5\n", "line 3: 'Once' is rated twice, by title and"),
        ("r.csv", "item,rating\na,four\n", "line 2: the rating is not a number"),
        ("r.csv", "title,rating\nTwice,4\n", "line 2: 2 items have the title 'Twice'"),
        ("r.csv", "item,rating\na\n", "not a number"),
        ("r.csv", "item,rating\na,9\n", "line 2: the rating of 'a' is 9; give one of 1,"),
        ("r.csv", "item,rating\na,2.6\n", "line 2: the rating of 'a' is 2.6"),
        ("r.csv", "item,rating\na,nan\n", "line 2: .* no number of stars"),
        ("r.csv", "title,rating\nOnce, The,4\n", "line 2 has more columns .* in quotes"),
        ("r.csv", 'title,rating\nOnce,"2,5"\n', "line 2: the rating is not a number"),
        ("r.json", "{", "is no JSON"),
        ("r.json", "7", "holds no ratings"),
        ("r.json", '{"a": 4, "a": 5}', "'a' is rated twice"),
        ("r.json", '{"a": "4"}', "is '4', which is no number of stars"),
        ("r.json", '{"a": {"b": 4}}', "no number of stars"),
        ("r.json", '[{"item": "a", "rating": 4}, {"rating": 4}]', "entry 2 needs item"),
        ("r.json", '[{"item": 7, "rating": 4}]', "entry 1: 7 is no title and no item"),
        ("r.json", '["a"]', "entry 1 needs item"),
        ("r.toml", "a = ", "is no TOML"),
        ("r.toml", "a = 4\na = 5", "is no TOML"),
        ("r.toml", "d = 4", "no title or item 'd'"),
    ],
)
def test_an_error_says_where_it_is(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(MidpointError, match=message) as found:
        read_ratings(path, STANDING)
    assert str(found.value).startswith(str(path))


@pytest.mark.parametrize("content", [None, b"item,rating\n\xff\xfe,4\n"])
def test_a_file_that_cannot_be_read_is_named(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MidpointError, match=r"r\.csv (cannot be read|is no text)"):
        read_ratings(path, STANDING)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "title,rating,note\nOnce,4,x\nc,2.5,y\n"),
        ("r.tsv", "item\trating\nOnce\t4\nc\t2.5\n"),
        ("r.tsv", "item,rating\nOnce,4\nc,2.5\n"),
        ("r.csv", "Title;Rating\nOnce;4\nc;2,5\n"),
        ("r.txt", "Title \tRating\t\nOnce\t4\t\nc\t2,5\t\n"),
        ("r.json", '{"Once": 4, "c": 2.5}'),
        ("r.json", '[{"title": "Once", "rating": 4}, {"item": "c", "rating": 2.5}]'),
        ("r.toml", "Once = 4\nc = 2.5\n"),
        ("R.TOML", "[ratings]\nOnce = 4\nc = 2.5\n"),
    ],
)
def test_every_form_says_the_same(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_text(content, encoding=encoding)
        given = read_ratings(path, STANDING)
        assert given.named == {"Once": 4.0, "c": 2.5}
        assert given.fixed == {"a": 4 * ONE, "c": 5 * ONE // 2}
