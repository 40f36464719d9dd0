import json

import numpy as np
import pytest

from midpoint.data import Feature, Ratings, Scale
from midpoint.data.description import Spread, describe, skew
from midpoint.data.simulation import PRESETS, simulate


def small() -> Ratings:
    return Ratings.from_columns(
        ["a", "a", "a", "b", "c"],
        ["x", "y", "z", "x", "x"],
        [1, 2, 3, 5, 4],
        scale=Scale.stars(1, 5),
        features={"gender": {"a": "M", "b": "F"}, "party": {"a": "D", "b": "I", "c": "R"}},
        name="small",
    )


def test_a_small_table_is_described_in_full() -> None:
    found = describe(small())
    assert (found.name, found.users, found.items, found.ratings) == ("small", 3, 3, 5)
    assert found.density == pytest.approx(5 / 9)
    assert found.scale == "1 2 3 4 5"
    assert found.mean == pytest.approx(3)
    assert found.deviation == pytest.approx(np.sqrt(2))
    assert found.per_user == Spread(1, 1.0, 1.0, 2.0, 3, 5 / 3)
    assert found.per_item == Spread(1, 1.0, 1.0, 2.0, 3, 5 / 3)


def test_features_are_counted_by_users_and_by_ratings() -> None:
    gender, party = describe(small()).features
    assert gender.categories == ("F", "M")
    assert gender.users == (1, 1)
    assert gender.ratings == (1, 3)
    assert gender.missing == 1
    assert gender.user_skew == "F:M 1:1"
    assert gender.rating_skew == "F:M 1:3"
    assert party.missing == 0
    assert party.user_skew == "D 33%, I 33%, R 33%"
    assert party.rating_skew == "D 60%, I 20%, R 20%"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((1709, 4331), "F:M 1:2.5"),
        ((266, 99), "F:M 2.7:1"),
        ((3, 3), "F:M 1:1"),
        ((0, 4), "F:M 0:1"),
        ((0, 0), "F:M 0:0"),
    ],
)
def test_the_smaller_side_of_a_ratio_is_one(counts: tuple[int, int], expected: str) -> None:
    assert skew(("F", "M"), counts) == expected


def test_the_dictionary_is_json_and_complete() -> None:
    found = describe(simulate(PRESETS["simulated-ptv"]).ratings)
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["features"][0]["users"] == list(found.features[0].users)
    assert plain["per_user"]["median"] == found.per_user.median
    assert [feature["name"] for feature in plain["features"]] == ["gender", "politics"]


def test_no_ratings_are_described_without_a_warning() -> None:
    none = small().select_users(np.zeros(3, dtype=np.bool_)).select_items(np.zeros(3, np.bool_))
    found = describe(none.with_feature(Feature("age", (), np.zeros(0, dtype=np.int16))))
    assert (found.users, found.items, found.ratings, found.density) == (0, 0, 0, 0)
    assert found.per_user == Spread(0, 0.0, 0.0, 0.0, 0, 0.0)
