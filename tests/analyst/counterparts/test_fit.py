from dataclasses import fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from midpoint.analyst import (
    Factorizer,
    ItemProfiles,
    PositionModel,
    Training,
    disclose,
    fit_positions,
    usual_selection_factors,
)
from midpoint.analyst.counterparts import fit as placing
from midpoint.analyst.counterparts import people as people_module
from midpoint.analyst.counterparts import selection as selection_module
from midpoint.analyst.counterparts import strata as place_strata
from midpoint.analyst.counterparts.model import STEP, rounded, transports
from midpoint.analyst.counterparts.people import BLOCK, People, in_parallel
from midpoint.analyst.counterparts.prior import (
    WIDEST,
    Guess,
    Model,
    Prior,
    fit_prior,
    locate,
    prior_of,
)
from midpoint.analyst.kernels.logistic import CHUNK, LogisticSums
from midpoint.analyst.kernels.simd import WIDTH
from midpoint.data import Feature, Ratings, Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol.positions import adjust_population
from midpoint.user import Adjustment
from midpoint.user.parameters import Parameters
from midpoint.wire import GRAIN, from_fixed, to_fixed
from midpoint.wire.positions import STEPS

Float = NDArray[np.float64]
STARS = np.arange(1.0, 10.0)


class World(NamedTuple):
    """People drawn from the model itself."""

    ratings: Ratings
    model: Model
    prior: Prior


def nothing() -> None:
    """Is called after a round."""


def draw_people(model: Model, prior: Prior, category: NDArray[np.intp], seed: int = 0) -> Ratings:
    """Draw places, then what is rated, then how, on a scale of one to nine."""
    draws = np.random.default_rng(seed)
    roots = np.linalg.cholesky(prior.covariance)
    d = model.selection.shape[1]
    z = prior.mean[category] + np.einsum(
        "nde,ne->nd", roots[category], draws.normal(size=(len(category), prior.mean.shape[1]))
    )
    p = expit(model.rate.T[category] + z[:, :d] @ model.selection.T)
    user, item = np.nonzero(draws.random(p.shape) < p)
    value = model.base[item, category[user]] + (z[user, d:] * model.taste[item]).sum(axis=1)
    value += draws.normal(size=len(value)) * np.sqrt(model.noise)
    return made_ratings(user, item, np.clip(np.rint(value), 1, 9), category, len(model.rate))


def made_ratings(
    user: NDArray[Any], item: NDArray[Any], value: Float, category: NDArray[Any], items: int
) -> Ratings:
    names = np.array([f"i{j:03}" for j in range(items)])
    kinds = tuple("abcdefgh"[: max(int(category.max()) + 1, 2)])
    return Ratings(
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=value.astype(np.float32),
        scale=Scale.stars(1, 9),
        user_ids=np.array([f"u{i:05}" for i in range(len(category))]),
        item_ids=names,
        item_names=names,
        features={"kind": Feature("kind", kinds, category.astype(np.int16))},
    )


def make_truth(items: int = 80, seed: int = 3) -> tuple[Model, Prior]:
    draws = np.random.default_rng(seed)
    selection = np.column_stack([np.ones(items), draws.normal(size=items)])
    plain = draws.normal(-1.2, 0.7, items)
    model = Model(
        rate=plain[:, None] + 0.25 * draws.normal(size=(items, 2)),
        selection=selection,
        base=5.2 + 0.5 * draws.normal(size=(items, 1)) + 0.1 * draws.normal(size=(items, 2)),
        taste=draws.normal(size=(items, 2)) * 0.6,
        noise=0.5,
    )
    mean = np.array([[0.3, -0.4, 0.4, 0.2], [-0.3, 0.4, -0.4, -0.2]])
    a = np.array([[1.2, 0.3, 0.0, 0.4], [0, 0.7, 0, 0], [0, 0, 1.2, -0.4], [0, 0, 0, 0.8]])
    b = np.array([[0.7, -0.2, 0.0, 0.0], [0, 1.2, 0.3, 0], [0, 0, 0.7, 0.2], [0, 0, 0, 1.1]])
    return model, Prior(mean, np.stack([a @ a.T, b @ b.T]))


@pytest.fixture(scope="module")
def world() -> World:
    model, prior = make_truth()
    category = np.random.default_rng(4).integers(0, 2, 3000)
    return World(draw_people(model, prior, category), model, prior)


learned = Factorizer(dimension=3, iterations=6)
"""Enough to know two tastes and a level."""


@pytest.fixture(scope="module")
def profiles(world: World) -> ItemProfiles:
    return learned.fit(world.ratings, "kind")


@pytest.fixture(scope="module")
def placed(world: World, profiles: ItemProfiles) -> PositionModel:
    return the_positions(
        fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    )


def the_positions(profiles: ItemProfiles) -> PositionModel:
    assert profiles.positions is not None
    return profiles.positions


@pytest.fixture(scope="module")
def few(world: World) -> Ratings:
    """Return a moment's worth of people."""
    return world.ratings.select_users(np.arange(150))


def require_equal(one: Any, other: Any) -> None:
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            assert a.tobytes() == b.tobytes(), field.name
        else:
            assert a == b, field.name


# The law is found again.


class Contrast(NamedTuple):
    """What the categories differ in, whatever the coordinates of a place; M items."""

    logit: Float
    """Mean logit of being rated. Shape (M,)."""
    logits: Float
    """Covariances of two logits. Shape (M, M)."""
    rating: Float
    """Mean rating. Shape (M,)."""
    ratings: Float
    """Covariances of two ratings. Shape (M, M)."""


def of_all_strata(found: PositionModel) -> Prior:
    """Return the law of all strata together, each of which holds the same share of people."""
    mean = found.mean.mean(axis=0)
    away = found.mean - mean
    between = np.einsum("gkd,gke->kde", away, away) / len(away)
    return Prior(mean, found.covariance.mean(axis=0) + between)


def contrast(model: Model | PositionModel, prior: Prior) -> Contrast:
    selection = model.choosing if isinstance(model, PositionModel) else model.selection
    d = selection.shape[1]
    t, x = prior.mean[:, :d], prior.mean[:, d:]
    logit = model.rate + selection @ t.T
    rating = model.base + model.taste @ x.T
    S = prior.covariance[1] - prior.covariance[0]
    return Contrast(
        logit[:, 1] - logit[:, 0],
        selection @ S[:d, :d] @ selection.T,
        rating[:, 1] - rating[:, 0],
        model.taste @ S[d:, d:] @ model.taste.T,
    )


def slope_and_match(found: Float, true: Float) -> tuple[float, float]:
    """Return the slope of a line through 0 and the correlation."""
    x, y = true.reshape(-1), found.reshape(-1)
    return float(x @ y / (x @ x)), float(np.corrcoef(x, y)[0, 1])


@pytest.mark.slow
def test_the_law_is_found_again(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "SHARES", (1.0, 1.0))  # a part of the ratings has other rates
    placed = the_positions(
        fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    )
    true, found = contrast(world.model, world.prior), contrast(placed, of_all_strata(placed))
    for name, least in (("logit", 0.97), ("logits", 0.95), ("rating", 0.95), ("ratings", 0.9)):
        slope, match = slope_and_match(getattr(found, name), getattr(true, name))
        assert match > least, name
        assert 0.75 < slope < 1.25, name


@pytest.mark.slow
def test_without_a_difference_none_is_found(world: World) -> None:
    feature = world.ratings.feature("kind")
    codes = np.random.default_rng(0).permutation(feature.codes)
    shuffled = world.ratings.with_feature(replace(feature, codes=codes))
    found = the_positions(
        fit_positions(learned.fit(shuffled, "kind"), shuffled, selection_factors=2, taste_factors=3)
    )
    true, none = contrast(world.model, world.prior), contrast(found, of_all_strata(found))
    for name in Contrast._fields:
        share = np.std(getattr(none, name)) / np.std(getattr(true, name))
        assert share < 0.2, name


@pytest.mark.slow
def test_what_is_revealed_is_alike_in_all_categories(
    world: World, profiles: ItemProfiles, placed: PositionModel
) -> None:
    everyone = People.of(world.ratings, world.ratings.feature("kind"))
    people = everyone.thinned(*placing.SHARES, np.random.default_rng(9))
    reveal = as_devices_do(replace(profiles, positions=placed), people).reveal
    cell = people.item * 2 + people.category[people.person]
    raw, left = (np.bincount(cell, weight, 160).reshape(-1, 2) for weight in (None, reveal))
    assert apart(left / people.sizes) < 0.25 * apart(raw / people.sizes)


def apart(table: Float) -> float:
    """Return the root mean square difference of two categories, relative to the mean."""
    return float(np.sqrt(np.mean((table[:, 1] - table[:, 0]) ** 2)) / table.mean())


def test_no_law_is_wider_than_devices_accept(few: Ratings) -> None:
    people = People.of(few, few.feature("kind"))
    far = np.random.default_rng(0).normal(0, 100, (len(people), 3))
    found = prior_of(people, Guess(far, np.zeros((2, 3, 3)), np.zeros_like(far)))
    assert np.linalg.eigvalsh(found.covariance).max() == pytest.approx(WIDEST)
    near = prior_of(people, Guess(far / 100, np.zeros((2, 3, 3)), np.zeros_like(far)))
    assert np.linalg.eigvalsh(near.covariance).max() < 10


# Where people are, and who their counterparts are.


def covariances(count: int, size: int, seed: int) -> Float:
    root = np.random.default_rng(seed).normal(size=(count, size, size))
    return np.asarray(root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(size))


@given(st.integers(2, 4), st.integers(1, 6), st.integers(0, 99))
def test_transports_take_one_law_to_the_other(count: int, size: int, seed: int) -> None:
    S = covariances(count, size, seed)
    T = transports(S)
    near = 1e-6 * np.abs(T).max() ** 2 * np.abs(S).max()
    carried = T @ S[:, None] @ np.swapaxes(T, 2, 3)
    np.testing.assert_allclose(carried, np.broadcast_to(S, T.shape), atol=near)
    for k, m in product(range(count), repeat=2):  # one after the other, from any category
        np.testing.assert_allclose(T[m] @ T[k, m], T[k], atol=near)
    if count == 2:  # the optimal transport itself
        np.testing.assert_allclose(T, np.swapaxes(T, 2, 3), atol=near)
        assert (np.linalg.eigvalsh(T) > 0).all()
    for k in range(count):
        assert (T[k, k] == np.eye(size)).all()


def test_counterparts_lie_as_people_of_the_other_category_do() -> None:
    _, prior = make_truth()
    draws = np.random.default_rng(0)
    z = draws.multivariate_normal(prior.mean[0], prior.covariance[0], 20_000)
    maps = transports(prior.covariance)
    found = prior.mean[1] + (z - prior.mean[0]) @ maps[0, 1].T
    np.testing.assert_allclose(found.mean(axis=0), prior.mean[1], atol=0.03)
    np.testing.assert_allclose(np.cov(found.T), prior.covariance[1], atol=0.05)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(np.cov(z.T), prior.covariance[1], atol=0.05)


def slope_at(z: Float, k: int, rated: Any, value: Float, model: Model, prior: Prior) -> Float:
    """Return the slope of the log posterior, item by item."""
    d = model.selection.shape[1]
    p = expit(model.rate[:, k] + model.selection @ z[:d])
    rest = value - model.base[rated, k] - model.taste[rated] @ z[d:]
    of_sets = model.selection[rated].sum(axis=0) - p @ model.selection
    of_values = rest @ model.taste[rated] / model.noise
    pull = np.linalg.solve(prior.covariance[k], prior.mean[k] - z)
    return np.asarray(pull + np.concatenate([of_sets, of_values]))


@pytest.mark.parametrize("selection_factors", [0, 2])
def test_people_are_where_the_posterior_is_highest(world: World, selection_factors: int) -> None:
    model, prior = world.model, world.prior
    cut = 2 - selection_factors
    model = model._replace(selection=model.selection[:, cut:])
    prior = Prior(prior.mean[:, cut:], prior.covariance[:, cut:, cut:])
    people = People.of(world.ratings, world.ratings.feature("kind"))
    start = prior.mean[people.category]
    found = locate(people, model, prior, start, 8, None).position
    for i in (0, 1, 1000, len(people) - 1):
        mine = slice(people.offsets[i], people.offsets[i + 1])
        k = int(people.category[i])
        slope = partial(slope_at, k=k, rated=people.item[mine], value=people.value[mine])
        assert np.abs(slope(found[i], model=model, prior=prior)).max() < 2e-3
        assert np.abs(slope(start[i], model=model, prior=prior)).max() > 0.1
    assert (np.abs(locate(people, model, prior, start, 1, 1).position - start) <= 3).all()


def test_the_doubt_is_the_inverse_curvature(few: Ratings, world: World) -> None:
    people = People.of(few, few.feature("kind"))
    start = world.prior.mean[people.category]
    doubt = locate(people, world.model, world.prior, start, 1, None).doubt
    total = np.zeros_like(doubt)
    for i, k in enumerate(people.category):
        rated = people.item[people.offsets[i] : people.offsets[i + 1]]
        t = start[i, :2]
        p = expit(world.model.rate[:, k] + world.model.selection @ t)
        curve = np.linalg.inv(world.prior.covariance[k])
        curve[:2, :2] += (world.model.selection.T * p * (1 - p)) @ world.model.selection
        curve[2:, 2:] += world.model.taste[rated].T @ world.model.taste[rated] / world.model.noise
        total[k] += np.linalg.inv(curve)
    np.testing.assert_allclose(doubt, total, rtol=1e-3, atol=1e-3)


def test_a_law_is_learned_from_a_far_start(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    start = Prior(np.zeros((2, 4)), np.tile(np.eye(4), (2, 1, 1)))
    found = fit_prior(people, world.model, start, None, nothing)
    np.testing.assert_allclose(found.mean, world.prior.mean, atol=0.12)
    np.testing.assert_allclose(found.covariance, world.prior.covariance, atol=0.25)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found.covariance, world.prior.covariance[::-1], atol=0.25)


# The sums that Newton's method asks for.


@given(
    st.integers(1, 6),
    st.integers(1, 2 * WIDTH + 1),
    st.sampled_from([0, 1, 7, CHUNK, CHUNK + 1, 3 * CHUNK - 1]),
    st.integers(0, 9),
)
def test_logistic_sums_are_what_they_say(size: int, rows: int, width: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    columns, weights = draws.normal(size=(width, size)), draws.normal(size=(rows, size))
    bias = draws.normal(-3, 3, width)
    first, second = LogisticSums(columns)(weights, bias)
    p = expit(bias + weights @ columns.T)
    np.testing.assert_allclose(first, p @ columns, atol=1e-4)
    expected = np.einsum("rc,ce,cf->ref", p * (1 - p), columns, columns)
    np.testing.assert_allclose(second, expected, atol=1e-4)


def test_logistic_sums_bear_any_logit() -> None:
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    for logit in (-1e30, -1000.0, -50.0, -20.0, -1.0, 0.0, 1.0, 20.0, 50.0, 1000.0, 1e30):
        first, second = LogisticSums(one)(none, np.array([logit]))
        p = expit(logit)
        assert first[0, 0] == pytest.approx(p, rel=1e-5, abs=1e-30)
        assert second[0, 0, 0] == pytest.approx(p * expit(-logit), rel=1e-5, abs=1e-30)


def test_the_law_keeps_up_with_the_rates(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control is the law that was learned beside the rates: it lags behind them."""
    priors: list[Prior] = []

    def watched(people: People, model: Model, prior: Prior, *how: Any) -> Prior:
        found = fit_prior(people, model, prior, *how)
        priors[:] = prior, found, fit_prior(people, model, found, *how)
        return found

    monkeypatch.setattr(place_strata, "fit_prior", watched)
    monkeypatch.setattr(placing, "STRATA", 1)
    fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    beside, told, further = (prior.mean for prior in priors)
    assert np.abs(further - told).max() < 0.02
    assert np.abs(further - beside).max() > 0.04


def test_work_in_parallel_comes_in_order() -> None:
    parts = list(range(40))
    for threads in (1, 3, None):
        assert in_parallel(lambda part: part**2, parts, threads) == [part**2 for part in parts]
    assert in_parallel(str, [], None) == []


# What devices make of ratings.


@pytest.mark.parametrize(("selection_factors", "strata"), [(0, 1), (2, 1), (2, 2)])
def test_devices_place_people_where_training_did(
    few: Ratings, selection_factors: int, strata: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "MANY", 150 if strata == 1 else 10)
    profiles = fit_positions(learned.fit(few, "kind"), few, selection_factors=selection_factors)
    found = the_positions(profiles)
    assert len(found.least) == strata
    people = People.of(few, few.feature("kind"))
    model = Model(found.rate, found.choosing, found.base, found.taste, found.noise_variance)
    expected = expit(found.rate).sum(axis=0)[people.category]
    activity = rounded((np.diff(people.offsets) + 8) / (expected + 8))
    stratum = (activity >= found.least[:, people.category]).sum(axis=0) - 1
    where, start = np.zeros((2, len(people), found.mean.shape[2]))
    others = np.zeros((len(people), *found.mean.shape[1:]))
    for g, maps in enumerate(found.maps()):
        prior, own = Prior(found.mean[g], found.covariance[g]), stratum == g
        start[own] = prior.mean[people.category[own]]
        located = locate(people, model, prior, prior.mean[people.category], STEPS, None).position
        where[own] = rounded(located[own])
        away = np.einsum("nmde,ne->nmd", maps[people.category], where - start)
        others[own] = (prior.mean + away)[own]
    d = found.choosing.shape[1]
    theirs = as_devices_do(profiles, people)
    # What is near a half of 1/256 may be rounded to either side.
    move = (others.mean(axis=1) - where)[:, d:]
    np.testing.assert_allclose(theirs.move / GRAIN, move, atol=0.02)
    assert np.abs(move).max() > 0.1
    logit = model.rate[people.item] + np.einsum(
        "nd,nmd->nm", found.choosing[people.item], others[people.person][:, :, :d]
    )
    p = expit(logit)
    reveal = p.min(axis=1) / p[np.arange(len(p)), people.category[people.person]]
    wanted = np.maximum(reveal, 1 / 64) if selection_factors else np.ones(len(p))
    np.testing.assert_allclose(from_fixed(theirs.reveal), wanted, atol=0.01)
    assert (wanted.min() < 0.9) == (selection_factors > 0)


def as_devices_do(profiles: ItemProfiles, people: People) -> Adjustment:
    """Return what devices make of people's ratings, told what was learned."""
    told = Parameters.of(disclose(profiles))
    item, value = profiles.message_index[people.item], to_fixed(people.value)
    return adjust_population(told, people.offsets, item, value, people.category)


# Strata.


def two_kinds_of_raters() -> Ratings:
    """Draw light raters, of whom `a` differ much in a selection factor, and heavy ones, of whom `b` do.

    On the whole the categories have one law: means and covariances do not tell them apart.
    """
    model, _ = make_truth()
    category = np.random.default_rng(6).integers(0, 2, 2000)
    parts = []
    for kind, activity in enumerate((-1.0, 1.0)):
        spread = np.tile(np.eye(4) * 0.2, (2, 1, 1))
        spread[kind, 1, 1], spread[1 - kind, 1, 1] = 1.4, 0.05
        rate = np.full_like(model.rate, activity - 1.0)
        prior = Prior(np.zeros((2, 4)), spread)
        parts.append(draw_people(model._replace(rate=rate), prior, category, seed=kind))
    light, heavy = parts
    return made_ratings(
        np.concatenate([light.user, heavy.user + light.n_users]),
        np.concatenate([light.item, heavy.item]),
        np.concatenate([light.value, heavy.value]),
        np.tile(category, 2),
        len(model.rate),
    )


@pytest.mark.slow
def test_light_and_heavy_raters_are_carried_each_by_their_own_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among heavy raters one category differs more in what it rates, and one law cannot say so."""
    ratings, (model, _) = two_kinds_of_raters(), make_truth()
    profiles = learned.fit(ratings, "kind")
    people = People.of(ratings, ratings.feature("kind"))
    heavy = np.diff(people.offsets) > np.median(np.diff(people.offsets))

    def wider(weight: Float) -> float:
        """Return how much wider a category's mean selection factors spread than the other's, as a log."""
        sums = np.bincount(people.person, weight * model.selection[people.item, 1], len(people))
        mean = sums / np.bincount(people.person, weight, len(people))
        a, b = (mean[heavy & (people.category == k)].std() for k in (0, 1))
        return float(np.log(b / a))

    left = {}
    for strata in (1, 2):
        monkeypatch.setattr(placing, "STRATA", strata)
        placed = fit_positions(profiles, ratings, selection_factors=2, taste_factors=3)
        assert len(the_positions(placed).least) == strata
        left[strata] = wider(as_devices_do(placed, people).reveal.astype(np.float64))
    raw = wider(np.ones(len(people.item)))
    assert raw > 0.5
    assert abs(left[2]) < 0.6 * raw
    assert left[1] > 0.9 * raw


def test_every_stratum_holds_the_same_share_of_every_category(
    world: World, placed: PositionModel
) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    people = people.thinned(*placing.SHARES, np.random.default_rng(2))
    expected = expit(placed.rate).sum(axis=0)[people.category]
    activity = (np.diff(people.offsets) + 8) / (expected + 8)
    heavy = activity >= placed.least[1, people.category]
    shares = [heavy[people.category == k].mean() for k in (0, 1)]
    assert shares == pytest.approx([0.5, 0.5], abs=0.06)
    assert (placed.least[0] == 0).all()
    assert (placed.least * GRAIN == np.rint(placed.least * GRAIN)).all()


def test_strata_are_told_apart_of_many_people_only(few: Ratings, world: World) -> None:
    assert (
        len(the_positions(fit_positions(learned.fit(few, "kind"), few, selection_factors=1)).least)
        == 1
    )
    some = world.ratings.select_users(np.arange(800))
    profiles = learned.fit(some, "kind")
    assert len(the_positions(fit_positions(profiles, some, selection_factors=1)).least) == 2
    assert len(the_positions(fit_positions(profiles, some, selection_factors=0)).least) == 1


def test_people_who_all_rated_equally_many_are_one_stratum() -> None:
    draws = np.random.default_rng(0)
    user = np.repeat(np.arange(700), 12)
    item = np.concatenate([np.sort(draws.permutation(40)[:12]) for _ in range(700)])
    ratings = made_ratings(
        user, item, draws.integers(1, 10, len(user)).astype(float), np.arange(700) % 2, 40
    )
    people = People.of(ratings, ratings.feature("kind"))
    model = Model(np.zeros((40, 2)), np.ones((40, 1)), np.full((40, 2), 5.0), np.ones((40, 1)), 6.0)
    prior = Prior(np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1)))
    assert len(place_strata.fit_strata(people, model, prior, 2, 1, nothing).least) == 1
    some = people.thinned(0.3, 1.0, draws)
    assert len(place_strata.fit_strata(some, model, prior, 2, 1, nothing).least) == 2


# Whom it is learned from.


def test_people_stand_in_the_order_of_their_categories(world: World) -> None:
    feature = world.ratings.feature("kind")
    people = People.of(world.ratings, feature)
    rated = np.diff(world.ratings.user_offsets) > 0
    assert people.sizes.tolist() == feature.select(rated).counts.tolist()
    user = int(np.flatnonzero(rated & (feature.codes == 1))[5])
    mine = slice(people.offsets[people.bounds[1] + 5], people.offsets[people.bounds[1] + 6])
    hers = world.ratings.of_user(user)
    assert people.item[mine].tolist() == world.ratings.item[hers].tolist()
    assert people.value[mine].tolist() == world.ratings.value[hers].tolist()
    blocks = people.blocks()
    assert [block.begin for block in blocks[1:]] == [block.end for block in blocks[:-1]]
    assert blocks[-1].end == len(people)
    assert all(block.end - block.begin <= BLOCK for block in blocks)
    assert all((people.category[b.begin : b.end] == b.category).all() for b in blocks)


def test_samples_and_thinning_keep_who_is_who(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    some = people.sample(700, np.random.default_rng(0))
    assert len(some) == 700
    pairs = {(tuple(people.item[a:b]), k) for a, b, k in told(people)}
    assert {(tuple(some.item[a:b]), k) for a, b, k in told(some)} < pairs
    thin = people.thinned(0.5, 1.0, np.random.default_rng(0))
    share = np.diff(thin.offsets) / np.maximum(np.diff(people.offsets), 1)
    assert len(thin) == len(people)
    assert 0.7 < len(thin.item) / len(people.item) < 0.8
    assert 0.5 < np.quantile(share[np.diff(people.offsets) > 30], 0.1) < 0.6
    for i in (0, 17, 2000):
        kept = thin.item[thin.offsets[i] : thin.offsets[i + 1]]
        assert set(kept) <= set(people.item[people.offsets[i] : people.offsets[i + 1]])
    assert (np.diff(people.thinned(0.0, 0.0, np.random.default_rng(0)).offsets) == 1).all()
    assert people.thinned(1.0, 1.0, np.random.default_rng(0)).item.tolist() == people.item.tolist()


def told(people: People) -> list[tuple[int, int, int]]:
    return list(zip(people.offsets[:-1], people.offsets[1:], people.category.tolist(), strict=True))


def test_the_unknown_and_the_silent_have_no_part(few: Ratings) -> None:
    base = learned.fit(few, "kind")
    feature = few.feature("kind")
    hidden = replace(feature, codes=np.where(np.arange(150) % 3 == 0, -1, feature.codes))
    partly = few.with_feature(replace(hidden, codes=hidden.codes.astype(np.int16)))
    of_some = few.select_users(np.flatnonzero(hidden.codes >= 0))
    silent = partly.select_ratings(partly.user % 3 > 0)
    expected = the_positions(fit_positions(base, of_some, selection_factors=1))
    for ratings in (partly, silent):
        require_equal(the_positions(fit_positions(base, ratings, selection_factors=1)), expected)
    with pytest.raises(AssertionError):
        require_equal(the_positions(fit_positions(base, few, selection_factors=1)), expected)


def test_of_many_people_a_sample_is_taken(few: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    base = learned.fit(few, "kind")
    monkeypatch.setattr(placing, "MOST", 100 * few.n_items)
    taken: list[int] = []

    def sample(self: People, size: int, draws: np.random.Generator) -> People:
        taken.append(size)
        return whole(self, size, draws)

    whole = People.sample
    monkeypatch.setattr(People, "sample", sample)
    require_sound(the_positions(fit_positions(base, few, selection_factors=1)))
    fit_positions(base, few, selection_factors=0)  # costs no more with more people
    assert taken == [100]


# Odd data.


def require_sound(places: PositionModel) -> None:
    for field in fields(places):
        value = getattr(places, field.name)
        if isinstance(value, np.ndarray):
            assert np.isfinite(value).all(), field.name
            assert not value.flags.writeable, field.name
    assert (np.linalg.eigvalsh(places.covariance) > 0).all()
    assert np.isfinite(places.maps()).all()
    for name in ("rate", "selection", "base", "taste"):
        value = getattr(places, name)
        assert (value == np.rint(value / STEP) * STEP).all(), name


def test_what_devices_are_told_is_on_the_grid(placed: PositionModel) -> None:
    require_sound(placed)
    assert placed.rate.shape == placed.base.shape == (80, 2)
    assert placed.selection.shape == (80, 2)
    assert placed.taste.shape == (80, 3)
    assert placed.mean.shape == (2, 2, 2 + 2 * 3)
    assert placed.covariance.shape == (2, 2, 8, 8)
    assert placed.maps().shape == (2, 2, 2, 8, 8)
    assert placed.selection_factors == 2
    assert rounded(np.array([0.001, -0.003, 0.25])).tolist() == [0.0, -STEP, 0.25]


def test_without_habits_only_values_move(few: Ratings) -> None:
    found = the_positions(
        fit_positions(learned.fit(few, "kind"), few, selection_factors=0, taste_factors=2)
    )
    require_sound(found)
    assert found.selection.shape == (80, 0)
    assert found.mean.shape == (1, 2, 2)


@pytest.mark.parametrize("selection_factors", [1, 4])
def test_an_item_that_nobody_rated_is_rare_and_says_nothing(
    few: Ratings, selection_factors: int
) -> None:
    ratings = few.select_ratings((few.item != 7) & (few.item != 79))
    found = the_positions(
        fit_positions(learned.fit(ratings, "kind"), ratings, selection_factors=selection_factors)
    )
    require_sound(found)
    assert (found.rate[[7, 79]] < -5).all()
    assert not found.selection[[7, 79]].any()
    assert not found.taste[[7, 79]].any()
    assert found.selection[8].any()


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_category_of_few_people_has_a_law(few: Ratings, size: int) -> None:
    codes = (np.arange(150) % 2).astype(np.int16)
    codes[:size] = 2
    ratings = few.with_feature(Feature("kind", ("a", "b", "c"), codes))
    found = the_positions(fit_positions(learned.fit(ratings, "kind"), ratings))
    require_sound(found)
    assert np.abs(found.mean).max() < 5


def test_crossed_features_have_a_law_for_each_cell(few: Ratings) -> None:
    other = Feature("side", ("l", "r", "m"), (np.arange(150) // 2 % 3).astype(np.int16))
    ratings = few.with_feature(other)
    found = the_positions(
        fit_positions(learned.fit(ratings, ["kind", "side"]), ratings, selection_factors=2)
    )
    require_sound(found)
    assert found.mean.shape == (1, 6, 2 + 2 * 4)


def test_a_handful_of_ratings_is_enough() -> None:
    user, item = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 0, 1, 2])
    value = np.array([1.0, 5.0, 3.0, 9.0, 2.0])
    ratings = made_ratings(user, item, value, np.array([0, 1, 0, 1]), 3)
    base = learned.fit(ratings, "kind")
    for selection_factors, seed in product((0, 1, 4), range(2)):
        require_sound(
            the_positions(
                fit_positions(base, ratings, selection_factors=selection_factors, seed=seed)
            )
        )


def test_everyone_may_rate_everything() -> None:
    user, item = (axis.reshape(-1) for axis in np.mgrid[:60, :20])
    value = np.random.default_rng(0).integers(1, 10, 1200).astype(np.float64)
    ratings = made_ratings(user, item, value, np.arange(60) % 2, 20)
    require_sound(the_positions(fit_positions(learned.fit(ratings, "kind"), ratings)))


def test_habits_are_told_apart_where_people_choose(
    few: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, item = (axis.reshape(-1) for axis in np.mgrid[:6, :5])
    full = made_ratings(user, item, np.tile([1.0, 9.0], 15), np.arange(6) % 2, 5)
    assert usual_selection_factors(few, "kind") is None  # too few people
    assert usual_selection_factors(full, "kind") is None
    monkeypatch.setattr(placing, "ENOUGH", 3)
    assert usual_selection_factors(few, "kind") == placing.SELECTION_FACTORS
    assert usual_selection_factors(full, "kind") == 0
    assert usual_selection_factors(full.select_ratings(np.arange(30) > 0), "kind") == 0
    assert (
        usual_selection_factors(full.select_ratings(np.arange(30) % 4 == 0), "kind")
        == placing.SELECTION_FACTORS
    )
    # What most people answer was not chosen one by one.
    assert usual_selection_factors(full.select_ratings(np.arange(30) % 4 > 0), "kind") is None
    # On a fine scale a moved value is seen.
    fine = replace(full, scale=Scale.stars(1, 11))
    assert usual_selection_factors(fine, "kind") is None
    assert usual_selection_factors(few) is None  # nothing to hide


# The same again.


@pytest.mark.slow
def test_the_seed_decides_and_threads_do_not(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (people_module, selection_module):
        monkeypatch.setattr(module, "BLOCK", 64)
    ratings = world.ratings.select_users(np.arange(400))
    run = partial(fit_positions, profiles, ratings, selection_factors=2, taste_factors=2)
    one = the_positions(run(seed=5, threads=1))
    for threads in (3, None):
        require_equal(the_positions(run(seed=5, threads=threads)), one)
    assert (the_positions(run(seed=6, threads=1)).rate != one.rate).any()


@pytest.mark.parametrize(
    ("selection_factors", "taste_factors", "rounds"), [(1, 2, 30), (0, 2, 12), (1, 9, 24)]
)
def test_progress_counts_to_the_end(
    few: Ratings, selection_factors: int, taste_factors: int, rounds: int
) -> None:
    seen: list[tuple[int, int]] = []
    fit_positions(
        learned.fit(few, "kind"),
        few,
        selection_factors=selection_factors,
        taste_factors=taste_factors,
        progress=lambda *so_far: seen.append(so_far),
    )
    assert seen == [(k + 1, rounds) for k in range(rounds)]


# What is refused.


def test_what_positions_cannot_be_learned_from_is_refused(
    few: Ratings, trained: Training, simulated: Simulation, stars: Simulation
) -> None:
    base = learned.fit(few, "kind")
    feature = few.feature("kind")
    renamed = few.with_feature(replace(feature, categories=("x", "y"), parts=()))
    alone = few.select_ratings(feature.codes[few.user] == 0)
    cases: list[tuple[str, Any]] = [
        ("discrete scale", lambda: fit_positions(trained.items, simulated.ratings)),
        ("private feature", lambda: fit_positions(learned.fit(few), few)),
        ("other items", lambda: fit_positions(base, stars.ratings)),
        ("other categories", lambda: fit_positions(base, renamed)),
        ("1 category only", lambda: fit_positions(base, alone)),
        ("no user feature", lambda: fit_positions(base, replace(few, features={}))),
        ("at least 0", lambda: fit_positions(base, few, selection_factors=-1)),
        ("at least 1", lambda: fit_positions(base, few, taste_factors=0)),
        (
            "at most 64 dimensions",
            lambda: fit_positions(base, few, selection_factors=60, taste_factors=3),
        ),
        ("ask for fewer", lambda: fit_positions(base, few, selection_factors=63)),
    ]
    for message, attempt in cases:
        with pytest.raises(MidpointError, match=message):
            attempt()


@pytest.mark.slow
def test_with_many_categories_there_are_fewer_tastes(
    few: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = learned.fit(few, "kind")
    assert (
        the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1]
        == base.dimension
    )
    monkeypatch.setattr(placing, "MOST_NUMBERS", 16**2)  # of two categories eight dimensions
    assert the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1] == 2
    monkeypatch.setattr(placing, "CHOOSING", 1)
    assert the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1] == 1
    assert (
        the_positions(fit_positions(base, few, selection_factors=0)).taste.shape[1]
        == base.dimension
    )


# On disk.


def test_positions_are_saved_with_the_profiles(few: Ratings, tmp_path: Path) -> None:
    plain = learned.fit(few, "kind")
    full = fit_positions(plain, few, selection_factors=2, taste_factors=2)
    assert plain.positions is None
    full.save(tmp_path / "full")
    found = ItemProfiles.load(tmp_path / "full")
    require_equal(the_positions(found), the_positions(full))
    assert found.statistics is not None
    assert plain.statistics is not None
    assert found.statistics.count.tolist() == plain.statistics.count.tolist()
    with pytest.raises(ValueError, match="read-only"):
        the_positions(found).rate[0] = 0
    plain.save(tmp_path / "full")  # replaces it, and nothing of the places is left
    assert ItemProfiles.load(tmp_path / "full").positions is None
    assert not list((tmp_path / "full").glob("places*"))


def test_damaged_positions_are_refused(few: Ratings, tmp_path: Path) -> None:
    fit_positions(learned.fit(few, "kind"), few, selection_factors=0, taste_factors=1).save(
        tmp_path / "model"
    )
    ItemProfiles.load(tmp_path / "model")
    (tmp_path / "model" / "positions_taste.npy").write_bytes(b"")
    with pytest.raises(MidpointError, match=r"positions_taste\.npy is damaged"):
        ItemProfiles.load(tmp_path / "model")
