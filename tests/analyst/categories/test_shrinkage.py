import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.analyst import CategoryEstimates, tally
from midpoint.analyst.categories.shrinkage import (
    MOST_RUNS,
    _runs,
    centred,
    shrink_distributions,
    shrink_effects,
    tilt,
)
from midpoint.data import Feature, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature

Float = NDArray[np.float64]
ONE = ((0, 1),)
CROSSED = ((0, 0, 0, 1, 1, 1), (0, 1, 2, 0, 1, 2))


def drawn(
    seed: int, items: int, crossed: tuple[tuple[int, ...], ...], t: tuple[float, ...]
) -> tuple[Float, Float, Float]:
    """Draw from the model of `shrink_effects`: table, sampling variances, true effects."""
    rng = np.random.default_rng(seed)
    size = len(crossed[0])
    truth = np.zeros((items, size))
    for cells, own in zip(crossed, t, strict=True):
        common = rng.normal(0, 0.1, max(cells) + 1)
        truth += (common + rng.normal(0, np.sqrt(own), (items, len(common))))[:, list(cells)]
    variance = rng.uniform(0.02, 0.5, (items, size))
    level = rng.normal(3.5, 0.5, (items, 1))
    return level + truth + rng.normal(0, np.sqrt(variance)), variance, centred(truth).effect


def error(found: Float, truth: Float) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


@pytest.mark.parametrize("t", [0.01, 0.1, 0.5])
def test_it_is_the_posterior_mean_under_the_true_variances(t: float) -> None:
    """Binary: the difference is shrunk by its own variance over that plus its noise's."""
    observed, variance, truth = drawn(0, 4000, ONE, (t,))
    found = shrink_effects(observed, variance, ONE).effect
    noise = variance.sum(axis=1)
    difference = observed[:, 1] - observed[:, 0]
    common = np.average(difference, weights=1 / (noise + 2 * t))
    ideal = common + (difference - common) * 2 * t / (2 * t + noise)
    assert found[:, 1] - found[:, 0] == pytest.approx(ideal, abs=0.3 * np.sqrt(2 * t))
    assert error(found, truth) < 1.01 * error(np.stack([-ideal, ideal], axis=1) / 2, truth)
    assert error(found, truth) < error(centred(observed).effect, truth)


def test_effects_sum_to_zero_and_the_centre_is_the_midpoint() -> None:
    observed, variance, _ = drawn(1, 300, CROSSED, (0.1, 0.2))
    found = shrink_effects(observed, variance, CROSSED)
    assert np.abs(found.effect.sum(axis=1)).max() < 1e-9
    assert found.centre == pytest.approx(observed.mean(axis=1), abs=1.0)
    assert error(found.centre, observed.mean(axis=1)) < 0.2


@pytest.mark.parametrize("t", [(0.2, 0.0), (0.0, 0.2), (0.2, 0.2)])
def test_each_crossed_feature_has_its_own_variance(t: tuple[float, float]) -> None:
    observed, variance, truth = drawn(2, 1500, CROSSED, t)
    found = shrink_effects(observed, variance, CROSSED).effect
    assert error(found, truth) < 0.6 * error(centred(observed).effect, truth)
    table = found - found.mean(axis=0)
    by_first = table.reshape(-1, 2, 3).mean(axis=2)
    by_second = table.reshape(-1, 2, 3).mean(axis=1)
    for part, expected, share in ((by_first, t[0], 1 / 2), (by_second, t[1], 2 / 3)):
        if expected:
            assert part.var() == pytest.approx(expected * share, rel=0.4)
        else:
            assert part.var() < 0.005


def test_main_effects_recover_an_additive_truth_better_than_cells() -> None:
    features = (
        SimulatedFeature("gender", ("F", "M"), (0.3, 0.7), bias_sd=0.3),
        SimulatedFeature("age", ("old", "middle", "young"), (0.2, 0.5, 0.3), bias_sd=0.2),
    )
    config = SimulationConfig(users=600, items=150, ratings=20_000, features=features)
    simulated = simulate(config, seed=3)
    ratings = simulated.ratings
    truth = simulated.offset("gender", "age").astype(np.float64)
    statistics = tally(ratings, ratings.feature("gender", "age"))
    found = CategoryEstimates(statistics).offset
    assert error(found, truth) < 0.6 * error(CategoryEstimates(statistics, "plain").offset, truth)
    as_one = shrink_effects(
        statistics.mean,
        statistics.within_variance / np.where(statistics.count > 0, statistics.count, np.nan),
        (tuple(range(6)),),
    )
    assert error(found, truth) < 0.9 * error(as_one.effect, truth)
    flipped = CategoryEstimates(tally(ratings, ratings.feature("age", "gender")))
    order = np.arange(6).reshape(2, 3).T.ravel()
    for ours, theirs in (
        (found, flipped.offset),
        (CategoryEstimates(statistics).probability, flipped.probability),
    ):
        assert ours[:, order] == pytest.approx(theirs, rel=1e-6)
    assert found != pytest.approx(flipped.offset, rel=1e-3)


def test_correlated_features_are_separated() -> None:
    """Age has an effect, gender none of its own, but the old are mostly women."""
    rng = np.random.default_rng(4)
    count = np.array([40, 5, 5, 40])  # old women, young women, old men, young men
    effect = rng.normal(0, 0.5, (800, 1)) * np.array([1, -1, 1, -1])
    variance = np.tile(1.0 / count, (800, 1))
    observed = effect + rng.normal(0, np.sqrt(variance))
    found = shrink_effects(observed, variance, ((0, 0, 1, 1), (0, 1, 0, 1))).effect
    gender = found.reshape(-1, 2, 2).mean(axis=2)
    one_at_a_time = ((observed * count).reshape(-1, 2, 2).sum(axis=2)) / 45
    assert np.abs(gender).std() < 0.05
    assert np.diff(one_at_a_time).std() > 0.5


def test_empty_cells_say_nothing() -> None:
    observed, variance, _ = drawn(5, 400, ONE, (0.2,))
    observed[:50, 0] = np.nan
    half = shrink_effects(observed, variance, ONE)
    alone = shrink_effects(observed[50:], variance[50:], ONE)
    assert half.effect[50:] == pytest.approx(alone.effect, abs=1e-3)
    common = half.effect[:50]
    assert np.ptp(common, axis=0) == pytest.approx([0, 0], abs=1e-9)  # what all items have
    assert np.ptp(half.effect[50:]) > 0.5


@pytest.mark.parametrize("shift", [0.0, 3.5, 100.0])
def test_a_category_nobody_has_gets_no_effect_of_its_own(shift: float) -> None:
    """Nor does the level of the others depend on it, wherever the scale is."""
    observed, variance, _ = drawn(6, 300, ((0, 1),), (0.2,))
    with_empty = np.column_stack([observed + shift, np.full(300, np.nan)])
    found = shrink_effects(with_empty, np.column_stack([variance, variance[:, 0]]), ((0, 1, 2),))
    two = shrink_effects(observed, variance, ONE)
    difference = found.effect[:, 1] - found.effect[:, 0]
    assert difference == pytest.approx(two.effect[:, 1] - two.effect[:, 0], abs=1e-3)
    assert found.effect[:, 2] == pytest.approx(np.zeros(300), abs=1e-9)


def test_where_no_item_has_all_cells_nothing_breaks() -> None:
    observed = np.array([[1.0, np.nan], [np.nan, 4.0], [np.nan, np.nan]])
    found = shrink_effects(observed, np.ones((3, 2)), ONE)
    assert found.effect == pytest.approx(np.zeros((3, 2)))
    assert found.centre == pytest.approx([1.0, 4.0, 2.5])  # nobody rated it: as the others


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_level_and_unit_of_the_scale_do_not_matter(seed: int) -> None:
    observed, variance, _ = drawn(seed, 40, CROSSED, (0.1, 0.2))
    plain = shrink_effects(observed, variance, CROSSED)
    other = shrink_effects(20 * observed + 7, 400 * variance, CROSSED)
    assert other.effect == pytest.approx(20 * plain.effect, abs=1e-5)
    assert other.centre == pytest.approx(20 * plain.centre + 7, abs=1e-5)


@pytest.mark.parametrize("crossed", [ONE, ((0, 1, 2),), ((0, 0, 1, 1), (0, 1, 0, 1))])
def test_effects_along_taste_are_separated_from_those_of_the_item_alone(
    crossed: tuple[tuple[int, ...], ...],
) -> None:
    observed, variance, truth = drawn(4, 1500, crossed, (0.05,) * len(crossed))
    rng = np.random.default_rng(5)
    taste_factors = rng.normal(size=(1500, 4))
    along = taste_factors @ rng.normal(0, 0.25, (4, len(crossed[0])))
    if len(crossed) > 1:  # main effects only
        along = (along[:, [0, 0, 1, 1]] + along[:, [2, 3, 2, 3]]) / 2
    observed, truth = observed + along, truth + centred(along).effect
    knowing = shrink_effects(observed, variance, crossed, taste_factors).effect
    without = shrink_effects(observed, variance, crossed).effect
    assert error(knowing, truth) < 0.9 * error(without, truth)

    def slope(found: Float) -> float:
        """Regress the truth on what was found, both without what tastes explain: 1 is right."""
        basis, _ = np.linalg.qr(np.column_stack([np.ones(1500), taste_factors]))
        x, y = (one - basis @ (basis.T @ one) for one in (found, truth))
        return float((x * y).sum() / (x * x).sum())

    assert slope(knowing) == pytest.approx(1, abs=0.2)
    assert slope(without) < 0.8


def test_tastes_that_tell_nothing_change_nothing() -> None:
    observed, variance, truth = drawn(6, 1500, ONE, (0.1,))
    taste_factors = np.random.default_rng(7).normal(size=(1500, 4))
    knowing, without = (
        shrink_effects(observed, variance, ONE, one).effect for one in (taste_factors, None)
    )
    assert error(knowing, without) < 0.1 * error(without, truth)


def test_an_item_that_nobody_rated_follows_its_tastes() -> None:
    observed, variance, _ = drawn(8, 400, ONE, (0.01,))
    taste_factors = np.random.default_rng(9).normal(size=(400, 1))
    observed += np.outer(taste_factors[:, 0], [-0.5, 0.5])
    observed[:5] = np.nan
    found = shrink_effects(observed, variance, ONE, taste_factors).effect
    common = shrink_effects(observed, variance, ONE).effect[0, 1]
    assert found[:5, 1] - common == pytest.approx(0.5 * taste_factors[:5, 0], abs=0.1)


def test_the_shift_between_distributions_is_the_effect_exactly() -> None:
    rng = np.random.default_rng(3)
    count, values = rng.integers(0, 60, (50, 2, 5)), np.arange(1.0, 6.0)
    effect = np.outer(rng.normal(0, 0.2, 50), [-1, 1])
    found = shrink_distributions(count, values, effect) @ values
    assert found[:, 1] - found[:, 0] == pytest.approx(2 * effect[:, 1], abs=1e-6)


@given(
    st.lists(st.floats(0.01, 1), min_size=5, max_size=5),
    st.floats(-1, 1),
    st.sampled_from([(1.0, 2.0, 3.0, 4.0, 5.0), (0.0, 0.25, 0.5, 0.75, 1.0), (0, 1, 5, 50, 100)]),
)
@example([1, 0.01, 0.01, 0.01, 0.01], 1.0, (1, 2, 3, 4, 5))  # full Newton steps overflow
@example([1, 0.01, 0.01, 0.01, 0.01], 0.5, (1, 2, 3, 4, 5))
def test_a_tilt_has_the_mean_asked_for(
    weights: list[float], shift: float, levels: tuple[float, ...]
) -> None:
    values, start = np.array(levels), np.array(weights) / sum(weights)
    span = values[-1] - values[0]
    goal = np.clip(
        start @ values + shift * span, values[0] + 0.002 * span, values[-1] - 0.002 * span
    )
    found = tilt(start, values, np.asarray(goal))
    assert found.sum() == pytest.approx(1)
    assert found @ values == pytest.approx(goal, abs=1e-6 * values[-1])
    ratio = np.log(found / start)
    slope = np.diff(ratio) / np.diff(values)
    assert slope == pytest.approx(np.full(4, slope[0]), abs=1e-6 * (1 + abs(slope[0])))


def test_distributions_have_the_shift_and_the_shape_of_their_ratings() -> None:
    rng = np.random.default_rng(7)
    base = rng.dirichlet(np.full(5, 3.0), 100)
    values = np.arange(1.0, 6.0)
    effect = np.outer(rng.normal(0, 0.4, 100), [-1, 1])
    truth = tilt(base[:, None], values, (base @ values)[:, None] + effect)
    size = np.where(rng.random((100, 2)) < 0.5, 8, 200)
    count = rng.multinomial(size, truth)
    found = shrink_distributions(count, values, effect)
    raw = count / size[..., None]
    assert error(found, truth) < 0.6 * error(raw, truth)
    assert found.sum(axis=2) == pytest.approx(np.ones((100, 2)))
    shift = np.diff(found @ values)[:, 0]
    assert error(shift, 2 * effect[:, 1]) < 0.5 * error(
        np.diff(raw @ values)[:, 0], 2 * effect[:, 1]
    )
    without = shrink_distributions(count, values, 0 * effect)
    assert error(found, truth) < 0.9 * error(without, truth)


@pytest.mark.slow
def test_what_a_category_does_on_all_items_is_kept_however_few_ratings_an_item_has() -> None:
    """Men avoid the ends on all items, at the same means: no one item shows it."""
    rng = np.random.default_rng(12)
    values = np.arange(1.0, 6.0)
    truth = np.array([[0.25, 0.15, 0.2, 0.15, 0.25], [0.05, 0.25, 0.4, 0.25, 0.05]])
    count = rng.multinomial(10, truth, (300, 2))
    found = shrink_distributions(count, values, np.zeros((300, 2)))
    assert found.mean(axis=0) == pytest.approx(truth, abs=0.02)
    assert error(found, truth) < 0.5 * error(count / 10, truth)
    alike = rng.multinomial(
        10, truth[0], (300, 2)
    )  # where there is no selection factor, none is seen
    ends = shrink_distributions(alike, values, np.zeros((300, 2)))[:, :, [0, 4]].mean(axis=(0, 2))
    assert ends[0] == pytest.approx(ends[1], abs=0.02)


@pytest.mark.slow
def test_of_many_levels_neighbours_tell_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """On some items men keep to the middle of a hundred levels, on others they avoid it."""
    rng, values = np.random.default_rng(6), np.arange(101.0)
    outer = np.where(np.abs(values - 50) > 30, 1.0, -1.0)
    base = rng.dirichlet(np.full(101, 1.0), 60)[:, None]
    selection = rng.normal(0, 0.3, (60, 1, 1)) * np.array([[-1.0], [1.0]])
    truth = base * np.exp(selection * outer)
    truth /= truth.sum(axis=2, keepdims=True)
    effect = truth @ values - (truth @ values).mean(axis=1, keepdims=True)
    count = rng.multinomial(300, truth)

    def miss() -> float:
        ends = shrink_distributions(count, values, effect)[:, :, outer > 0].sum(axis=2)
        return error(np.diff(ends), np.diff(truth[:, :, outer > 0].sum(axis=2)))

    together = miss()
    monkeypatch.setattr("midpoint.analyst.categories.shrinkage.MOST_RUNS", 1000)  # the control
    assert together < 0.7 * miss()


def test_the_category_that_rates_most_weighs_most_in_the_common_distribution() -> None:
    """Eight women rate about 3.5, two men about 1.5: neither is moved away from there."""
    rng = np.random.default_rng(9)
    values = np.arange(1.0, 6.0)
    truth = np.array([[0, 0.1, 0.4, 0.4, 0.1], [0.6, 0.3, 0.1, 0, 0]])
    count = rng.multinomial([8, 2], truth, (300, 2))
    effect = np.tile([1.0, -1.0], (300, 1))
    found = shrink_distributions(count, values, effect) @ values
    assert found.mean(axis=0) == pytest.approx(truth @ values, abs=0.1)
    aside = shrink_distributions(count, values, effect + 0.6) @ values  # no shift, no change
    assert aside == pytest.approx(found, abs=1e-6)


def test_one_extreme_rating_does_not_make_a_certainty() -> None:
    rng = np.random.default_rng(8)
    usual = rng.multinomial(50, [0.1, 0.2, 0.3, 0.2, 0.2], (40, 2))
    count = np.concatenate([usual, [[[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]]])
    found = shrink_distributions(count, np.arange(1.0, 6.0), np.zeros((41, 2)))
    assert found[-1].min() > 0.05
    assert found[-1, 0, 0] > found[0, 0, 0] - 0.05


def test_features_cross_in_row_major_order() -> None:
    joint = Feature.joint(
        [Feature.from_labels("a", ["x", "y"]), Feature.from_labels("b", ["p", "q"])]
    )
    assert joint.crossed == ((0, 0, 1, 1), (0, 1, 0, 1))


def test_long_scales_have_at_most_ten_runs_of_levels_used_or_not() -> None:
    used = np.array([*np.arange(1.0, 81.0), *np.zeros(21)])
    for count in (used, used[::-1], np.ones(101), np.zeros(101)):
        runs = _runs(count)
        assert runs.shape[1] <= MOST_RUNS
        assert (runs.sum(axis=1) == 1).all()
    assert (_runs(np.ones(5)) == np.eye(5)).all()
