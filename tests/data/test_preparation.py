import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Ratings, Scale
from midpoint.data.preparation import at_least, in_levels, require_differing, with_known
from midpoint.errors import MidpointError

Pairs = set[tuple[int, int]]
UNKNOWN: dict[str, str | None] = dict.fromkeys("456")


def build(pairs: Pairs) -> Ratings:
    users, items = zip(*sorted(pairs), strict=True)
    return Ratings.from_columns(
        users,
        items,
        [1 + (i + j) % 5 for i, j in sorted(pairs)],
        scale=Scale.stars(1, 5),
        features={
            "gender": {"0": "F", "1": "M", "2": "F", "3": None} | UNKNOWN,
            "party": {"0": None, "1": "D", "2": "R", "3": "D"} | UNKNOWN,
        },
    )


def peel(pairs: Pairs, user_ratings: int, item_ratings: int) -> Pairs:
    """The naive implementation: drop one user or item at a time."""
    for axis, least in ((0, user_ratings), (1, item_ratings)):
        for index in {pair[axis] for pair in pairs}:
            if sum(pair[axis] == index for pair in pairs) < least:
                rest = {pair for pair in pairs if pair[axis] != index}
                return peel(rest, user_ratings, item_ratings)
    return pairs


def pairs_of(ratings: Ratings) -> Pairs:
    return {
        (int(ratings.user_ids[i]), int(ratings.item_ids[j]))
        for i, j in zip(ratings.user, ratings.item, strict=True)
    }


@given(
    st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_what_is_left_is_what_dropping_one_by_one_leaves(
    pairs: Pairs, user_ratings: int, item_ratings: int
) -> None:
    expected = peel(pairs, user_ratings, item_ratings)
    if not expected:
        with pytest.raises(MidpointError, match="ask for fewer"):
            at_least(build(pairs), user_ratings=user_ratings, item_ratings=item_ratings)
        return
    left = at_least(build(pairs), user_ratings=user_ratings, item_ratings=item_ratings)
    assert pairs_of(left) == expected
    assert np.diff(left.user_offsets).min() >= user_ratings
    assert np.diff(left.by_item.offsets).min() >= item_ratings


def test_one_pass_is_not_enough() -> None:
    # Item 9 goes for want of raters, then user 2 for want of ratings, then nothing more.
    pairs = {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 9)}
    ratings = build(pairs)
    left = at_least(ratings, user_ratings=2, item_ratings=2)
    assert (np.diff(ratings.user_offsets) >= 2).all()
    assert left.user_ids.tolist() == ["0", "1"]
    assert left.item_ids.tolist() == ["0", "1"]
    assert left.feature("gender").codes.tolist() == [0, 1]


def test_users_and_items_without_ratings_vanish() -> None:
    ratings = build({(0, 0), (1, 1)})
    left = at_least(ratings.select_ratings(np.array([0])), user_ratings=1, item_ratings=1)
    assert (left.n_users, left.n_items) == (1, 1)


def test_counts_of_nothing_are_refused() -> None:
    with pytest.raises(MidpointError, match="one or more"):
        at_least(build({(0, 0), (1, 1)}), user_ratings=0)


def test_users_of_unknown_category_are_left_out() -> None:
    ratings = build({(0, 0), (1, 0), (2, 1), (3, 1), (4, 1)})
    assert with_known(ratings, "gender").user_ids.tolist() == ["0", "1", "2"]
    assert with_known(ratings, "party").user_ids.tolist() == ["1", "2", "3"]
    assert with_known(ratings, "gender", "party").user_ids.tolist() == ["1", "2"]
    assert with_known(ratings, "gender").n_items == 2
    assert with_known(ratings) is ratings


def test_a_feature_known_of_nobody_is_refused() -> None:
    with pytest.raises(MidpointError, match="gender is known of no user"):
        with_known(build({(5, 0), (6, 1)}), "gender")
    with pytest.raises(MidpointError, match="no user feature 'age'"):
        with_known(build({(0, 0), (1, 1)}), "age")


def test_ratings_go_to_the_nearest_of_fewer_levels() -> None:
    value = [0.0, 12.0, 13.0, 50.0, 62.0, 63.0, 99.0, 100.0]
    fine = Ratings.from_columns([0] * 8, range(8), value, scale=Scale.stars(0, 100))
    coarse = in_levels(fine, 5)
    assert coarse.name == f"{fine.name}-5-levels"
    assert coarse.scale == Scale.discrete([0, 25, 50, 75, 100])
    assert coarse.value.tolist() == [0, 0, 25, 50, 50, 75, 100, 100]
    assert fine.value.tolist() == value
    smooth = Ratings.from_columns([0] * 8, range(8), value, scale=Scale.continuous(0, 100))
    assert np.array_equal(in_levels(smooth, 5).value, coarse.value)
    assert in_levels(fine, 101).value.tolist() == value


@pytest.mark.parametrize("count", [1, 0, 6])
def test_a_scale_has_two_levels_at_least_and_no_more_than_it_had(count: int) -> None:
    with pytest.raises(MidpointError, match="ask for 2 or more"):
        in_levels(build({(0, 0), (1, 1)}), count)


def test_what_was_left_out_is_said_with_its_reason() -> None:
    ratings = Ratings.from_columns(
        ["a", "a", "b", "b", "c"],
        [1, 2, 1, 2, 3],
        [1, 2, 3, 4, 5],
        features={"gender": {"a": "F", "b": "M", "c": None}},
    )
    assert ratings.left_out == ()
    known = with_known(ratings, "gender")
    assert known.left_out == ("1 person of unknown gender",)
    prepared = at_least(ratings, user_ratings=2, item_ratings=2)
    (note,) = prepared.left_out
    assert note.startswith("1 person with fewer than 2 ratings and 1 item with fewer than 2")
    assert ratings.summary.splitlines() == [
        "ratings: 3 people, 3 items, 5 ratings",
        "  scale: 1 2 3 4 5",
        "  gender: F 1, M 1, not known 1",
    ]
    assert prepared.summary.splitlines()[-1] == f"  left out: {note}"
    assert note in prepared._repr_html_()


def test_sets_of_all_items_for_everybody_are_refused() -> None:
    """Control: sets that differ by one item pass, and ratings of everything do."""
    users, items = ["a", "a", "b", "b"], ["x", "y", "x", "y"]
    sets = Ratings.from_columns(users, items, [1, 1, 1, 1])
    with pytest.raises(MidpointError, match=r"everybody has every item.*--rating-column"):
        require_differing(sets)
    with pytest.raises(MidpointError, match="is unary, so there are no levels"):
        in_levels(sets, 2)
    require_differing(Ratings.from_columns(users[:3], items[:3], [1, 1, 1]))
    require_differing(Ratings.from_columns(users, items, [1, 2, 3, 4]))
