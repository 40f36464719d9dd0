from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.data import MISSING, Feature, Ratings, Scale
from midpoint.data.simulation import (
    PRESETS,
    SimulatedFeature,
    Simulation,
    SimulationConfig,
    simulate,
)
from midpoint.data.simulation.draw import ITEMS_AT_ONCE
from midpoint.errors import MidpointError

GENDER = SimulatedFeature("gender", ("F", "M"), (0.3, 0.7), bias_sd=0.5, selection_sd=0.5)
PARTY = SimulatedFeature("party", ("D", "I", "R"), (0.5, 0.2, 0.3), bias_sd=0.5, selection_sd=0.5)
DENSE = SimulationConfig(users=20_000, items=20, features=(GENDER,))
SPARSE = replace(DENSE, ratings=120_000, popularity_sd=1.0)
TASTE = replace(SPARSE, activity_sd=1.0, selection_taste_sd=1.0)
SURE = 5.0
"""Standard errors: a right program fails one of a million such comparisons."""


def rated(simulation: Simulation) -> NDArray[np.float64]:
    """Who rated what, as 0 and 1. Shape (users, items)."""
    ratings = simulation.ratings
    table = np.zeros((ratings.n_users, ratings.n_items))
    table[ratings.user, ratings.item] = 1
    return table


def expected_ratings(simulation: Simulation) -> NDArray[np.float64]:
    """The model's sum without noise, spelled out. Shape (ratings,)."""
    i, j = simulation.ratings.user, simulation.ratings.item
    users, items = simulation.users, simulation.items
    total = items.means[j] + users.means[i]
    total = total + (users.vectors[i] * items.vectors[j]).sum(axis=1, dtype=np.float64)
    for name, categories in users.categories.items():
        total = total + items.offsets[name][j, categories[i]]
    return np.asarray(total, dtype=np.float64)


def class_means(simulation: Simulation, name: str = "gender") -> NDArray[np.float64]:
    """Mean rating of each item by category, everyone having rated. Shape (categories, items)."""
    ratings = simulation.ratings
    table = ratings.value.reshape(ratings.n_users, ratings.n_items).astype(np.float64)
    codes = simulation.users.categories[name]
    return np.array([table[codes == k].mean(axis=0) for k in range(codes.max() + 1)])


def difference_in_errors(simulation: Simulation, claimed: NDArray[np.float32]) -> float:
    """How far class mean differences are from the claimed ones, in standard errors; the worst."""
    female, male = class_means(simulation)
    counts = np.bincount(simulation.users.categories["gender"])
    config = simulation.config
    axes = np.square(simulation.items.vectors).sum(axis=1)
    error = np.sqrt((config.noise_sd**2 + axes) * (1 / counts).sum())
    return float(np.max(np.abs(male - female - claimed) / error))


def test_without_noise_a_rating_is_the_models_sum() -> None:
    config = SimulationConfig(
        users=300, items=40, features=(GENDER, PARTY), user_mean_sd=0.3, noise_sd=0.0, ratings=6000
    )
    simulation = simulate(config, seed=1)
    ratings, expected = simulation.ratings, expected_ratings(simulation)
    assert np.allclose(ratings.value, expected, atol=1e-5)
    # What the joint categories add is the sum of what each feature adds.
    joint = ratings.feature("party", "gender").codes[ratings.user]
    added = simulation.offset("party", "gender")[ratings.item, joint]
    bare = replace(simulation, users=replace(simulation.users, categories={}))
    assert np.allclose(ratings.value - added, expected_ratings(bare), atol=1e-5)
    assert not np.allclose(ratings.value, expected_ratings(bare), atol=0.1)


def test_class_means_differ_by_twice_the_bias() -> None:
    simulation = simulate(DENSE, seed=2)
    bias = simulation.items.offsets["gender"][:, 1]
    assert np.allclose(simulation.items.offsets["gender"][:, 0], -bias, atol=1e-6)
    assert difference_in_errors(simulation, 2 * bias) < SURE
    assert difference_in_errors(simulation, np.zeros_like(bias)) > 2 * SURE


def test_without_bias_class_means_do_not_differ() -> None:
    config = replace(DENSE, features=(replace(GENDER, bias_sd=0.0),))
    simulation = simulate(config, seed=2)
    assert difference_in_errors(simulation, np.zeros(config.items, dtype=np.float32)) < SURE


def test_the_noise_has_its_variance_and_no_class() -> None:
    simulation = simulate(DENSE, seed=3)
    noise = simulation.ratings.value - expected_ratings(simulation)
    count = len(noise)
    assert abs(noise.mean()) < SURE * DENSE.noise_sd / np.sqrt(count)
    assert abs(noise.std() / DENSE.noise_sd - 1) < SURE / np.sqrt(2 * count)
    gender = simulation.users.categories["gender"][simulation.ratings.user]
    assert abs(np.corrcoef(noise, gender)[0, 1]) < SURE / np.sqrt(count)
    assert abs(np.mean((noise / noise.std()) ** 4) - 3) < SURE * np.sqrt(96 / count)


def test_categories_are_drawn_in_their_shares() -> None:
    simulation = simulate(replace(DENSE, items=1, features=(GENDER, PARTY)), seed=4)
    for feature in (GENDER, PARTY):
        counts = np.bincount(simulation.users.categories[feature.name])
        error = np.sqrt(DENSE.users * np.array(feature.shares))
        assert np.all(np.abs(counts - DENSE.users * np.array(feature.shares)) < SURE * error)


def test_offsets_sum_to_nothing_and_have_their_spread_whatever_the_number() -> None:
    config = SimulationConfig(users=2, items=20_000, features=(GENDER, PARTY))
    items = simulate(config).items
    for feature in (GENDER, PARTY):
        for effects in (items.offsets[feature.name], items.selection[feature.name]):
            assert np.allclose(effects.sum(axis=1), 0, atol=1e-5)
            assert np.allclose(effects.std(axis=0), 0.5, atol=SURE * 0.5 / np.sqrt(2 * 20_000))


@pytest.mark.parametrize("config", [SPARSE, TASTE], ids=["product form", "taste"])
def test_items_are_rated_as_often_as_the_truth_says(config: SimulationConfig) -> None:
    simulation = simulate(config, seed=5)
    table, codes = rated(simulation), simulation.users.categories["gender"]
    p = simulation.probability("gender")
    frequency = np.array([table[codes == k].mean(axis=0) for k in (0, 1)]).T
    error = np.sqrt(p * (1 - p) / np.bincount(codes))
    assert np.max(np.abs(frequency - p) / error) < SURE
    # The control: the classes differ at all.
    assert np.max(np.abs(frequency - p[:, ::-1]) / error) > 2 * SURE


def test_without_selection_both_classes_rate_alike() -> None:
    feature = replace(GENDER, selection_sd=0.0)
    simulation = simulate(replace(SPARSE, features=(feature,)), seed=5)
    p = simulation.probability("gender")
    assert np.allclose(p[:, 0], p[:, 1])
    busy = simulate(replace(SPARSE, features=(replace(feature, activity=(-1.0, 1.0)),)), seed=5)
    assert np.all(busy.probability("gender")[:, 1] > busy.probability("gender")[:, 0])


@pytest.mark.parametrize("config", [SPARSE, TASTE, replace(SPARSE, features=(GENDER, PARTY))])
def test_there_are_as_many_ratings_as_asked_for(config: SimulationConfig) -> None:
    simulation = simulate(config, seed=6)
    per_user = rated(simulation).sum(axis=1)
    error = per_user.std() * np.sqrt(config.users)
    assert abs(len(simulation.ratings) - 120_000) < SURE * error


def test_sets_have_the_product_form_of_the_paper() -> None:
    config = replace(SPARSE, items=3, ratings=30_000)
    simulation = simulate(config, seed=7)
    table, codes = rated(simulation), simulation.users.categories["gender"]
    for k in (0, 1):
        p, own = simulation.probability("gender")[:, k], table[codes == k]
        off_as_printed = 0.0
        for chosen in product((0, 1), repeat=3):
            mask = np.array(chosen) == 1
            frequency = np.mean((own == mask).all(axis=1))
            right = np.prod(p[mask]) * np.prod(1 - p[~mask])
            error = np.sqrt(right * (1 - right) / len(own))
            assert abs(frequency - right) < SURE * error
            # The control: the equation as printed, its first product over all items.
            printed = np.prod(p) * np.prod(1 - p[~mask])
            off_as_printed = max(off_as_printed, abs(frequency - printed) / error)
        assert off_as_printed > 2 * SURE


def test_items_are_rated_independently_unless_taste_or_activity_decide() -> None:
    worst = []
    for config in (SPARSE, TASTE):
        simulation = simulate(config, seed=8)
        own = rated(simulation)[simulation.users.categories["gender"] == 1]
        correlation = np.corrcoef(own.T)[~np.eye(config.items, dtype=np.bool_)]
        worst.append(np.max(np.abs(correlation)) * np.sqrt(len(own)))
    assert worst[0] < SURE
    assert worst[1] > 2 * SURE


def test_people_rate_what_they_like_where_the_settings_say_so() -> None:
    liked = []
    for liking in (0.0, 1.0):
        simulation = simulate(replace(TASTE, items=200, liking=liking), seed=9)
        i, j = simulation.ratings.user, simulation.ratings.item
        taste = np.einsum("rd,rd->r", simulation.users.vectors[i], simulation.items.vectors[j])
        liked.append(float(taste.mean()))
    assert abs(liked[0]) < 0.1
    assert liked[1] > 0.3


def test_levels_are_the_nearest_to_what_was_drawn() -> None:
    free = simulate(SPARSE, seed=10).ratings
    for scale in (Scale.stars(1, 5), Scale.stars(0.5, 5, 0.5), Scale.discrete([1, 2, 10])):
        held = simulate(replace(SPARSE, scale=scale), seed=10).ratings
        assert scale.contains(held.value).all()
        assert np.array_equal(held.item, free.item)
        levels = np.array(scale.levels, dtype=np.float32)
        distance = np.abs(levels - free.value[:, None]).min(axis=1)
        assert np.allclose(np.abs(held.value - free.value), distance, atol=1e-6)
    assert not Scale.stars(1, 5).contains(free.value).any()


def test_a_continuous_scale_clips_and_none_does_not() -> None:
    free = simulate(SPARSE, seed=10).ratings
    assert free.scale == Scale.continuous(float(free.value.min()), float(free.value.max()))
    assert free.scale.contains(free.value).all()
    held = simulate(replace(SPARSE, scale=Scale.continuous(2, 5)), seed=10).ratings
    assert np.array_equal(held.value, np.clip(free.value, 2, 5))
    assert free.value.min() < 2


@pytest.mark.parametrize("items", [1, ITEMS_AT_ONCE - 1, ITEMS_AT_ONCE, 2 * ITEMS_AT_ONCE + 1])
def test_everyone_rates_everything_where_no_number_is_given(items: int) -> None:
    simulation = simulate(SimulationConfig(users=150, items=items))
    assert rated(simulation).all()
    assert np.all(simulation.probability("gender") == 1)


def test_ratings_are_sorted_and_named_as_a_loader_would() -> None:
    ratings = simulate(PRESETS["simulated-tiny"]).ratings
    gender = ratings.feature("gender")
    again = Ratings.from_columns(
        ratings.user_ids[ratings.user],
        ratings.item_ids[ratings.item],
        ratings.value,
        scale=ratings.scale,
        features={
            "gender": {
                str(user): gender.categories[k]
                for user, k in zip(ratings.user_ids, gender.codes, strict=True)
            }
        },
    )
    assert again.digest == ratings.digest
    assert ratings.item_names[0] == "Film 0001"


def test_the_seed_decides() -> None:
    config = PRESETS["simulated-tiny"]
    assert simulate(config, seed=1).ratings.digest == simulate(config, seed=1).ratings.digest
    assert simulate(config, seed=1).ratings.digest != simulate(config, seed=2).ratings.digest


def test_missing_categories_are_kept_in_the_truth_alone() -> None:
    config = replace(DENSE, items=1, features=(replace(GENDER, missing=0.25), PARTY))
    simulation = simulate(config, seed=11)
    feature, truth = simulation.ratings.feature("gender"), simulation.users.categories["gender"]
    assert np.array_equal(feature.codes[feature.known], truth[feature.known])
    assert truth.min() > MISSING
    assert abs(np.mean(~feature.known) - 0.25) < SURE * np.sqrt(0.25 * 0.75 / config.users)
    assert simulation.ratings.feature("party").known.all()


def test_joint_truth_is_in_the_order_of_the_joint_feature() -> None:
    simulation = simulate(replace(SPARSE, users=50, ratings=300, features=(GENDER, PARTY)))
    assert simulation.ratings.feature("gender", "party").categories[1] == "F+I"
    offsets = simulation.items.offsets
    both = simulation.offset("gender", "party")
    assert np.allclose(both[:, 1], offsets["gender"][:, 0] + offsets["party"][:, 1])
    p = simulation.probability("gender", "party").reshape(-1, 2, 3)
    turned = simulation.probability("party", "gender").reshape(-1, 3, 2)
    assert np.allclose(p, turned.transpose(0, 2, 1))
    assert np.allclose(p @ PARTY.shares, simulation.probability("gender"))
    assert np.allclose(np.tensordot(GENDER.shares, p, (0, 1)), simulation.probability("party"))
    assert simulation.probability("gender").shape == (20, 2)


def test_there_may_be_no_feature_at_all() -> None:
    simulation = simulate(replace(SPARSE, users=100, ratings=500, features=()))
    assert dict(simulation.ratings.features) == {}
    assert simulation.probability().shape == (20, 1)


def test_the_truth_cannot_be_written() -> None:
    simulation = simulate(PRESETS["simulated-tiny"])
    for array in (simulation.items.vectors, simulation.users.vectors, simulation.items.popularity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        simulation.items.offsets["gender"][0] = 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SimulatedFeature("f", ("only",)),
        lambda: SimulatedFeature("f", ("a", "b"), (0.5, 0.6)),
        lambda: SimulatedFeature("f", ("a", "b"), (-0.5, 1.5)),
        lambda: SimulatedFeature("f", ("a", "b"), (0.2, 0.3, 0.5)),
        lambda: SimulatedFeature("f", ("a", "b"), missing=1.5),
        lambda: SimulationConfig(users=0),
        lambda: SimulationConfig(users=10, items=10, ratings=100),
        lambda: SimulationConfig(liking=2.0),
        lambda: SimulationConfig(noise_sd=-1.0),
        lambda: SimulationConfig(features=(GENDER, GENDER)),
    ],
)
def test_impossible_simulations_are_refused(wrong: type) -> None:
    with pytest.raises(MidpointError):
        wrong()


def test_presets_are_named_and_tell_classes_apart() -> None:
    for name, config in PRESETS.items():
        assert name == config.name
        assert name.startswith("simulated-")
    ratings = simulate(PRESETS["simulated-tiny"]).ratings
    ratings.feature("gender").require_classes()
    assert isinstance(ratings.feature("gender"), Feature)


@pytest.mark.parametrize(
    ("name", "users", "items", "count", "within"),
    [
        ("simulated-ptv", 365, 50, 18_000, 0.01),
        pytest.param("simulated-movielens-1m", 6040, 3706, 1e6, 0.06, marks=pytest.mark.slow),
        pytest.param("simulated-flixster", 26_000, 9921, 5.6e6, 0.04, marks=pytest.mark.slow),
    ],
)
def test_presets_have_the_sizes_of_table_1(
    name: str, users: int, items: int, count: float, within: float
) -> None:
    ratings = simulate(PRESETS[name], seed=12).ratings
    assert (ratings.n_users, ratings.n_items) == (users, items)
    assert abs(len(ratings) / count - 1) < within
    assert np.all(np.diff(ratings.user) >= 0)
    per_item = np.sort(np.diff(ratings.by_item.offsets))[::-1]
    if users > 1000:  # the popular tenth of the items gets nearly half of the ratings or more
        assert per_item[: items // 10].sum() > 0.4 * len(ratings)
