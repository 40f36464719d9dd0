import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import CategoryEstimates, tally
from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.shrinkage import shrink_effects
from midpoint.data import (
    Feature,
    Ratings,
    Scale,
    Simulation,
    SimulationConfig,
    simulate,
    split_at_random,
)
from midpoint.data.simulation import SimulatedFeature

ROWS = [
    *[("f1", "x", 1), ("f2", "x", 2), ("m1", "x", 5), ("m2", "x", 5), ("m3", "x", 2)],
    *[("f1", "only-f", 3), ("f2", "only-f", 4), ("m1", "y", 2), ("f1", "y", 4), ("?1", "y", 1)],
]
GENDER = {user: user[0] for user, _, _ in ROWS if user[0] != "?"}


def table() -> Ratings:
    users, items, values = zip(*[*ROWS, ("?1", "nobody", 5)], strict=True)
    return Ratings.from_columns(
        users, items, values, scale=Scale.stars(1, 5), features={"g": GENDER}
    )


def error(found: NDArray[np.float64], truth: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def test_plain_offsets_are_half_differences_of_class_means() -> None:
    ratings = table()
    found = CategoryEstimates(tally(ratings, ratings.feature("g")), "plain")
    x, y = (int(np.flatnonzero(ratings.item_ids == name)[0]) for name in ("x", "y"))
    assert found.offset[x] == pytest.approx([(1.5 - 4) / 2, (4 - 1.5) / 2])
    assert found.centre[x] == pytest.approx((1.5 + 4) / 2)
    assert found.offset[y] == pytest.approx([1, -1])
    assert found.centre[y] == pytest.approx(3)  # the one who does not tell has no say
    assert found.probability[x] == pytest.approx([2 / 2, 3 / 3])
    assert found.probability[y] == pytest.approx([1 / 2, 1 / 3])
    assert found.levels is not None
    assert found.levels[x, 1] == pytest.approx([0, 1 / 3, 0, 0, 2 / 3])


def test_plain_estimates_of_what_a_class_never_rated() -> None:
    ratings = table()
    found = CategoryEstimates(tally(ratings, ratings.feature("g")), "plain")
    half, none = (int(np.flatnonzero(ratings.item_ids == n)[0]) for n in ("only-f", "nobody"))
    assert found.offset[half].tolist() == found.offset[none].tolist() == [0, 0]
    assert found.centre[half] == pytest.approx(3.5)
    known = [value for user, _, value in ROWS if user[0] != "?"]
    assert found.centre[none] == pytest.approx(np.mean(known))
    assert found.probability[half] == pytest.approx([1, 0])
    assert found.levels is not None
    assert found.levels[half].tolist() == [[0, 0, 0.5, 0.5, 0]] * 2
    assert found.levels[none, 0] == pytest.approx(np.bincount(known, minlength=6)[1:] / len(known))


def test_plain_offsets_of_three_categories_are_centred_class_means() -> None:
    ratings = Ratings.from_columns(
        ["a", "b", "c", "c2"],
        ["x"] * 4,
        [1, 2, 5, 4],
        features={"f": {"a": "A", "b": "B", "c": "C", "c2": "C"}},
    )
    found = CategoryEstimates(tally(ratings, ratings.feature("f")), "plain")
    assert found.centre == pytest.approx([2.5])
    assert found.offset == pytest.approx(np.array([[-1.5, -0.5, 2.0]]))


def test_shrunken_estimates_are_finite_everywhere() -> None:
    ratings = table()
    found = CategoryEstimates(tally(ratings, ratings.feature("g")))
    assert found.levels is not None
    for part in (found.centre, found.offset, found.probability, found.levels):
        assert np.isfinite(part).all()
    assert (found.probability > 0).all()
    assert (found.probability <= 1).all()
    assert (found.levels > 0).all()
    none = int(np.flatnonzero(ratings.item_ids == "nobody")[0])
    assert 1 <= found.centre[none] <= 5


def rare_and_frequent(simulated: Simulation) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    count = np.diff(simulated.ratings.by_item.offsets)
    return count < np.quantile(count, 0.25), count > np.quantile(count, 0.75)


@pytest.mark.parametrize("seed", range(3))
def test_shrinkage_is_closer_to_the_truth_most_of_all_for_rare_items(seed: int) -> None:
    feature = SimulatedFeature("gender", ("F", "M"), (0.3, 0.7), bias_sd=0.15)
    config = SimulationConfig(
        users=500, items=200, ratings=10_000, features=(feature,), popularity_sd=1.5
    )
    simulated = simulate(config, seed=seed)
    statistics = tally(simulated.ratings, simulated.ratings.feature("gender"))
    plain, shrunken = (CategoryEstimates(statistics, method) for method in ("plain", "shrunken"))
    truth = simulated.offset("gender")
    rare, frequent = rare_and_frequent(simulated)
    assert error(shrunken.offset, truth) < 0.7 * error(plain.offset, truth)
    assert error(shrunken.offset[rare], truth[rare]) < 0.45 * error(plain.offset[rare], truth[rare])
    assert error(shrunken.offset[frequent], truth[frequent]) < 1.02 * error(
        plain.offset[frequent], truth[frequent]
    )


def test_of_no_effect_none_is_left() -> None:
    feature = SimulatedFeature("gender", ("F", "M"), bias_sd=0, selection_sd=0)
    config = SimulationConfig(
        users=500, items=300, ratings=20_000, features=(feature,), popularity_sd=1.0
    )
    simulated = simulate(config, seed=4)
    statistics = tally(simulated.ratings, simulated.ratings.feature("gender"))
    plain, shrunken = (CategoryEstimates(statistics, method) for method in ("plain", "shrunken"))
    assert np.abs(shrunken.offset).max() < 0.05
    assert np.abs(plain.offset).max() > 0.5
    assert np.abs(np.diff(np.log(shrunken.probability))).max() < 0.15
    seen = (statistics.count > 0).all(axis=1)
    assert np.abs(np.diff(np.log(plain.probability[seen]))).max() > 0.5


def test_shrunken_probabilities_are_closer_in_log_space() -> None:
    feature = SimulatedFeature("gender", ("F", "M"), (0.3, 0.7), selection_sd=0.2)
    config = SimulationConfig(
        users=800, items=200, ratings=12_000, features=(feature,), popularity_sd=1.2
    )
    simulated = simulate(config, seed=5)
    statistics = tally(simulated.ratings, simulated.ratings.feature("gender"))
    truth = np.log(simulated.probability("gender"))
    ratio = truth[:, 1] - truth[:, 0]

    def miss(probability: NDArray[np.float64]) -> float:
        smallest = np.log(np.maximum(probability, 0.5 / statistics.users))
        return float(np.sqrt(np.mean((smallest[:, 1] - smallest[:, 0] - ratio) ** 2)))

    plain, shrunken = (
        CategoryEstimates(statistics, method).probability for method in ("plain", "shrunken")
    )
    assert miss(shrunken) < 0.7 * miss(plain)
    assert error(np.log(shrunken), truth) < 0.3


@pytest.mark.parametrize(("ratings", "bias"), [(6_000, 0.1), (20_000, 0.4)])
def test_level_distributions_predict_held_out_ratings(ratings: int, bias: float) -> None:
    feature = SimulatedFeature("gender", ("F", "M"), bias_sd=bias)
    config = SimulationConfig(
        users=600,
        items=200,
        ratings=ratings,
        features=(feature,),
        scale=Scale.stars(1, 5),
        popularity_sd=1.3,
    )
    given, hidden = split_at_random(simulate(config, seed=6).ratings, 0.7, seed=0)
    statistics = tally(given, given.feature("gender"))
    later = tally(hidden, hidden.feature("gender")).level_count
    assert later is not None

    def log_loss(levels: NDArray[np.float64] | None) -> float:
        assert levels is not None
        assert np.abs(levels.sum(axis=2) - 1).max() < 1e-9
        return float(-(later * np.log(np.maximum(levels, 1e-3))).sum() / later.sum())

    plain, shrunken = (
        CategoryEstimates(statistics, method).levels for method in ("plain", "shrunken")
    )
    assert shrunken is not None
    pooled = np.repeat(shrunken.mean(axis=1, keepdims=True), 2, axis=1)
    assert log_loss(shrunken) < log_loss(plain) - 0.05
    assert log_loss(shrunken) < log_loss(pooled) + (0.0 if bias > 0.2 else 1e-3)


def test_rating_better_items_is_no_effect_on_the_levels() -> None:
    """Women rate the items everyone likes: their levels differ overall, but not item by item."""
    rng = np.random.default_rng(0)
    good = rng.random((400, 60)) < np.linspace(0.2, 0.8, 60)  # taste of all, by item
    woman = np.arange(400) % 2 == 0
    chance = np.where(woman[:, None], np.linspace(0.02, 0.4, 60), np.linspace(0.4, 0.02, 60))
    user, item = np.nonzero(rng.random(good.shape) < chance)
    ratings = Ratings.from_columns(
        user,
        item,
        np.where(good[user, item], 5, 1),
        scale=Scale.discrete([1, 5]),
        features={"g": {str(u): "F" if woman[u] else "M" for u in range(400)}},
    )
    feature = ratings.feature("g")
    found = CategoryEstimates(tally(ratings, feature))
    assert found.levels is not None
    by_class = [ratings.value[feature.codes[ratings.user] == k].mean() for k in (0, 1)]
    assert by_class[0] - by_class[1] > 0.7
    assert np.abs(found.levels[:, 0] - found.levels[:, 1]).max() < 0.1


def test_a_category_without_users_changes_nothing_for_the_others(stars: Simulation) -> None:
    ratings = stars.ratings
    feature = ratings.feature("gender")
    wider = Feature("gender", ("F", "M", "X"), feature.codes)
    two, three = (CategoryEstimates(tally(ratings, f)) for f in (feature, wider))
    assert two.levels is not None
    assert three.levels is not None
    assert np.diff(three.offset[:, :2]) == pytest.approx(np.diff(two.offset), abs=0.01)
    assert three.offset[:, 2] == pytest.approx(np.zeros(ratings.n_items), abs=1e-6)
    assert three.probability[:, :2] == pytest.approx(two.probability, rel=0.02)
    between = np.sqrt(two.probability.prod(axis=1))  # midway in log space
    assert three.probability[:, 2] == pytest.approx(between, rel=0.02)
    assert three.levels[:, :2] == pytest.approx(two.levels, abs=0.01)


def test_what_the_same_people_share_is_no_noise_of_a_single_item() -> None:
    """Everyone rates everything, by taste: how items stand to each other is known very well."""
    rng = np.random.default_rng(3)
    people, items = 600, 60
    taste_factors, own = rng.normal(0, 1.5, (items, 2)), rng.normal(0, 0.1, items)
    sign = np.where(np.arange(people) % 2, 1.0, -1.0)
    value = rng.normal(size=(people, 2)) @ taste_factors.T + np.outer(sign, own)
    value += rng.normal(0, 0.5, value.shape)
    user, item = (each.ravel().astype(str) for each in np.indices(value.shape))
    gender = {str(i): "fm"[i % 2] for i in range(people)}
    ratings = Ratings.from_columns(
        user, item, value.ravel(), scale=Scale.continuous(-30, 30), features={"g": gender}
    )
    order = ratings.item_ids.astype(int)
    counted, along, truth = tally(ratings, ratings.feature("g")), taste_factors[order], own[order]

    def beside_tastes(effect: NDArray[np.float64]) -> NDArray[np.float64]:
        fit, *_ = np.linalg.lstsq(along, effect, rcond=None)
        return np.asarray(effect - along @ fit)

    found = mean_effects(counted, along=along).effect[:, 1]
    in_full = counted.within_variance / counted.count  # the control
    shrunken = shrink_effects(counted.mean, in_full, counted.crossed, along).effect[:, 1]
    right = beside_tastes(truth)
    assert error(beside_tastes(found), right) < 0.5 * error(beside_tastes(shrunken), right)
    assert error(beside_tastes(found), right) < 0.3 * float(right.std())
