from pathlib import Path

import pytest

from midpoint.cli.answer.script import read_ratings
from midpoint.errors import MidpointError
from midpoint.wire import ONE, RatingScale

HALF_STARS = RatingScale(low=ONE, high=5 * ONE, levels=tuple(k * ONE // 2 for k in range(2, 11)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "needs a first line"),
        ("item,rating\nnobody,4\n", "line 2: 'nobody' is unknown"),
        ("item,rating\na,4\na,5\n", "line 3: 'a' is rated twice"),
        ("item,rating\na,four\n", "line 2: the rating is not a number"),
        ("title,rating\nTwice,4\n", "title of several items"),
        ("item,rating\na\n", "not a number"),
        ("item,rating\na,9\n", "line 2: 9 is not a rating on the scale from 1 to 5"),
        ("item,rating\na,2.6\n", "line 2: 2.6 is not a rating"),
        ("item,rating\na,nan\n", "line 2: nan is not a rating"),
    ],
)
def test_an_error_names_the_line(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(content)
    with pytest.raises(MidpointError, match=message):
        read_ratings(path, {"a": "Once", "b": "Twice", "c": "Twice"}, HALF_STARS)


def test_a_file_may_name_titles(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("\ufefftitle,rating,note\nOnce,4,x\nc,2.5,y\n")
    found = read_ratings(path, {"a": "Once", "b": "Twice", "c": "Twice"}, HALF_STARS)
    assert found == {"a": 4.0, "c": 2.5}
