"""People who joined at a service beside those of a table."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst.learn.volunteers import Volunteers, _names, together
from midpoint.data import MISSING, Feature, Ratings, Scale
from midpoint.wire import ONE, Disclosure, FeatureNames, PanelRatings
from tests.support.people.made_up import disclosure
from tests.support.tables.two_kinds import two_kinds

SHOWN = disclosure("dmpss")
KNOWN = {SHOWN.digest: SHOWN}


def shared(category: str, stars: dict[str, int], under: Disclosure = SHOWN) -> PanelRatings:
    ratings = tuple((item, value * ONE) for item, value in sorted(stars.items()))
    return PanelRatings(disclosure=under.digest, category=(("gender", category),), ratings=ratings)


def rows(ratings: Ratings) -> set[tuple[str, str, float]]:
    return {
        (str(ratings.user_ids[u]), str(ratings.item_ids[i]), float(v))
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }


def test_those_who_joined_are_a_table_with_their_category() -> None:
    a, b = SHOWN.items[0], SHOWN.items[5]
    made = Volunteers.of(
        [(3, shared("M", {a: 5})), (8, shared("F", {a: 1, b: 2}))], KNOWN, SHOWN, {a: "First"}
    )
    assert made.ratings is not None
    assert rows(made.ratings) == {
        ("volunteer 000001", a, 5), ("volunteer 000002", a, 1), ("volunteer 000002", b, 2)
    }  # fmt: skip
    feature = made.ratings.feature("gender")
    assert feature.parts == tuple((part.name, part.categories) for part in SHOWN.features)
    assert [feature.categories[code] for code in feature.codes] == ["M", "F"]
    assert made.ratings.item_names.tolist() == ["First", b]
    assert made.ratings.scale == Scale.stars(1, 5)
    assert len(made) == 2
    assert str(made) == "2 people joined the panel at the service"
    late = made.since(8)
    assert late.ratings is not None
    assert late.ratings.n_users == len(late) == 1
    assert len(made.since(9)) == 0
    assert made.since(9).ratings is None


def test_names_of_a_million_are_in_the_order_in_which_they_joined() -> None:
    """Tables sort people by name, and categories are in the order in which they joined."""
    for people in (3, 1_000_001):
        names = _names(people)
        assert names == sorted(names)
        assert len(names) == people
    assert min("volunteer 999999", "volunteer 1000000") == "volunteer 1000000"  # the control


def test_what_does_not_fit_the_site_is_left_out_and_counted() -> None:
    item = SHOWN.items[0]
    scale = SHOWN.scale.model_copy(update={"high": 6 * ONE, "levels": None})
    other = [
        disclosure(features=(FeatureNames(name="gender", categories=("F", "M", "X")),)),
        SHOWN.model_construct(**{**dict(SHOWN), "scale": scale}),
    ]
    members = [
        (1, shared("F", {item: 4})),
        (2, shared("F", {item: 4}, other[0])),
        (3, shared("F", {item: 4}, other[1])),
        (4, shared("F", {item: 4}).model_copy(update={"disclosure": "0" * 64})),
    ]
    made = Volunteers.of(members, KNOWN | {one.digest: one for one in other}, SHOWN)
    assert len(made) == 1
    assert dict(made.left_out) == {
        "under a disclosure of another feature": 1,
        "under a disclosure of another scale": 1,
        "under a disclosure that was never published": 1,
    }
    assert "left out: 1 under a disclosure of another scale" in str(made)
    assert Volunteers.of(members[1:], KNOWN, SHOWN).ratings is None


def test_they_stand_beside_the_people_of_a_table() -> None:
    panel = two_kinds().panel
    older = panel.with_feature(Feature.from_labels("age", ["young"] * panel.n_users))
    few = older.select_items(np.arange(panel.n_items - 2))
    under = two_kinds().disclosure
    new, old = panel.item_ids[-1], panel.item_ids[0]
    made = Volunteers.of(
        [(1, shared("F", {new: 2, old: 5}, under))], {under.digest: under}, under, {new: "New"}
    )
    both = together(few, made)
    assert both.n_users == few.n_users + 1
    assert both.n_items == few.n_items + 1
    assert rows(both) == rows(few) | {("volunteer 000001", old, 5), ("volunteer 000001", new, 2)}
    assert both.feature("gender").codes[-1] == 0
    assert both.features["age"].codes[-1] == MISSING
    assert dict(zip(both.item_ids, both.item_names, strict=True))[new] == "New"
    assert both.scale == few.scale
    assert together(few, Volunteers(None)) is few


def test_levels_are_the_table_s_where_fixed_point_is_not_exact() -> None:
    steps = Scale.stars(0.1, 0.5, 0.1)
    panel = replace(
        two_kinds().panel, scale=steps, value=(two_kinds().panel.value / 10).astype(np.float32)
    )
    base = two_kinds().disclosure
    levels = tuple(round(level * ONE) for level in steps.levels or ())
    scale = base.scale.model_copy(update={"low": levels[0], "high": levels[-1], "levels": levels})
    under = base.model_construct(**{**dict(base), "scale": scale})
    given = PanelRatings(
        disclosure=under.digest,
        category=(("gender", "M"),),
        ratings=((str(panel.item_ids[0]), levels[2]),),
    )
    both = together(panel, Volunteers.of([(1, given)], {under.digest: under}, under))
    assert both.value[-1] == pytest.approx(np.float32(0.3), abs=0)
