"""Tables with one row an item: what a person is shown of each."""

import logging

import pandas as pd
import pytest

from midpoint.data import load
from midpoint.data.tables.items import item_details
from midpoint.errors import MidpointError

FILMS = pd.DataFrame(
    {
        "movieId": [1, 2],
        "title": ["Heat", "Fargo"],
        "year": [1995, None],
        "genres": ["Crime|Drama", None],
        "url": ["https://example.org/heat?a=1", "javascript:alert(1)"],
    }
)
RATINGS = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [5, 3, 4]})


def test_genres_and_links_are_read(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        details = item_details(FILMS)
    assert details["1"] == ("Crime, Drama", "https://example.org/heat?a=1")
    assert details["2"] == ("", "")
    assert "1 link left out, such as 'javascript:alert(1)'" in caplog.text


def test_titles_come_from_the_same_table_and_links_do_not_matter_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ratings = load(RATINGS, items=FILMS)
    assert ratings.item_names.tolist() == ["Heat (1995)", "Fargo"]
    assert "link" not in caplog.text


def test_a_table_without_items_is_refused() -> None:
    with pytest.raises(MidpointError, match="no column looks like the item"):
        item_details(FILMS.drop(columns="movieId"))
    with pytest.raises(MidpointError, match="no column looks like the title"):
        load(RATINGS, items=FILMS.drop(columns="title"))
