import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst import tally
from midpoint.data import Feature, Ratings, Scale
from midpoint.errors import MidpointError

CATEGORIES = ("a", "b", "c", None)


@st.composite
def tables(draw: st.DrawFn) -> Ratings:
    users = draw(st.integers(2, 6))
    pairs = [(u, j) for u in range(users) for j in range(4)]
    rated = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    values = draw(st.lists(st.integers(1, 5), min_size=len(rated), max_size=len(rated)))
    labels = draw(st.lists(st.sampled_from(CATEGORIES), min_size=users, max_size=users))
    return Ratings.from_columns(
        [u for u, _ in rated],
        [j for _, j in rated],
        values,
        scale=Scale.stars(1, 5),
        features={"f": {str(u): label for u, label in enumerate(labels)}},
    )


@given(tables())
def test_counts_and_sums_are_those_of_a_loop(ratings: Ratings) -> None:
    feature = ratings.feature("f")
    if (feature.counts > 0).sum() < 2:
        with pytest.raises(MidpointError, match="at least two"):
            tally(ratings, feature)
        return
    found = tally(ratings, feature)
    count = np.zeros((ratings.n_items, len(feature.categories), 5), dtype=int)
    for user, item, value in zip(ratings.user, ratings.item, ratings.value, strict=True):
        if feature.codes[user] >= 0:
            count[item, feature.codes[user], int(value) - 1] += 1
    stars = np.arange(1, 6)
    assert found.level_count is not None
    assert np.array_equal(found.level_count, count)
    assert np.array_equal(found.count, count.sum(axis=2))
    assert np.array_equal(found.total, count @ stars)
    assert np.array_equal(found.square, count @ stars**2)
    assert np.array_equal(found.users, [(feature.codes == k).sum() for k in range(count.shape[1])])
    expected = np.where(found.count > 0, (count @ stars) / np.maximum(found.count, 1), np.nan)
    assert np.array_equal(found.mean, expected, equal_nan=True)


def of(values: list[tuple[str, str, float]], scale: Scale | None = None) -> Ratings:
    users, items, numbers = zip(*values, strict=True)
    gender = {user: user[0].upper() for user in users if user[0] in "fm"}
    return Ratings.from_columns(users, items, numbers, scale=scale, features={"g": gender})


def test_who_does_not_tell_is_not_counted() -> None:
    ratings = of([("f1", "x", 1), ("m1", "x", 5), ("?1", "x", 3), ("?2", "y", 3)])
    found = tally(ratings, ratings.feature("g"))
    assert found.users.tolist() == [1, 1]
    assert found.count.tolist() == [[1, 1], [0, 0]]
    assert found.total.tolist() == [[1, 5], [0, 0]]


def test_variance_within_cells_is_pooled() -> None:
    ratings = of([("f1", "x", 1), ("f2", "x", 3), ("m1", "x", 5), ("m2", "x", 5), ("m3", "x", 2)])
    found = tally(ratings, ratings.feature("g"))
    assert found.within_variance == pytest.approx((2 + 6) / (1 + 2))


def test_variance_without_any_pair_is_that_of_all_ratings() -> None:
    ratings = of([("f1", "x", 1), ("f1", "y", 3), ("m1", "x", 5)])
    found = tally(ratings, ratings.feature("g"))
    assert found.within_variance == pytest.approx(np.var([1, 3, 5], ddof=1))


def test_a_continuous_scale_has_no_levels() -> None:
    ratings = of([("f1", "x", 0.25), ("m1", "x", 0.7)], Scale.continuous(0, 1))
    found = tally(ratings, ratings.feature("g"))
    assert found.level_count is None
    assert found.level_values is None
    assert found.total == pytest.approx(np.array([[0.25, 0.7]]))


def test_a_feature_of_one_class_is_refused() -> None:
    ratings = of([("f1", "x", 1), ("f2", "x", 5)])
    with pytest.raises(MidpointError, match="1 category only \\(F\\)"):
        tally(ratings, ratings.feature("g"))
    two = Feature.from_labels("g", ["F", "M"])
    assert tally(ratings, two).users.tolist() == [1, 1]
