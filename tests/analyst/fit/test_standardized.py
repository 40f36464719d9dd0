import numpy as np

from midpoint.analyst.fit.standardized import Standardized, effect_coding, joint_offset
from midpoint.data import Feature, Simulation


def test_ratings_are_of_unit_variance_once_offsets_are_out(tiny: Simulation) -> None:
    ratings, feature = tiny.ratings, tiny.ratings.features["gender"]
    rng = np.random.default_rng(1)
    offset = rng.normal(size=(ratings.n_items, 2))
    made = Standardized.of(ratings, feature, offset)
    own = offset[ratings.item, feature.codes[ratings.user]]
    np.testing.assert_allclose(made.level + made.spread * made.seen.value + own, ratings.value,
                               atol=1e-4)  # fmt: skip
    assert abs(float(made.seen.value.std()) - 1) < 1e-3
    assert made.seen.known.shape == (ratings.n_users, 0)
    again = Standardized.of(ratings, None, None, like=made)
    assert (again.level, again.spread) == (made.level, made.spread)


def test_effects_of_categories_sum_to_zero_and_come_back_as_offsets() -> None:
    feature = Feature("party", ("D", "I", "R"), np.array([0, 1, 2, -1], np.int16))
    coded = effect_coding(feature)
    assert coded.tolist() == [[1, 0], [0, 1], [-1, -1], [0, 0]]
    offset = joint_offset(np.array([[0.5, 0.25]]), feature)
    np.testing.assert_allclose(offset, [[0.5, 0.25, -0.75]])
