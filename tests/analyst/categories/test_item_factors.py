"""Ratios predicted from who rates what: they help where items go together, and else do no harm."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst import CategoryEstimates, Factorizer, ItemProfiles, tally
from midpoint.analyst.categories import item_factors as module
from midpoint.analyst.categories.estimates import log_ratio_variance
from midpoint.analyst.categories.item_factors import (
    ItemFactors,
    _factors,
    _halves,
    item_factors,
    leading_factors,
    rated_sets,
)
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.disclose.leak import area_of
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.audit.attackers.auc import auc
from midpoint.data import MISSING, Ratings, Scale

Float = NDArray[np.float64]
APART = np.array([0.5, -0.4, 0.3, 0.3])
"""How far the categories' mean tastes are apart."""


class People(NamedTuple):
    """Ratings of people whose truth is known."""

    ratings: Ratings
    """What they rated; some may be of unknown category."""
    rated: NDArray[np.bool_]
    """Who of some further people rates what. Shape (n, M)."""
    category: NDArray[np.int64]
    """Their categories. Shape (n,)."""
    ratio: Float
    """True log p_0 - log p_1 of each item. Shape (M,)."""


def people(
    size: int = 600, *, together: bool = True, unlabelled: int = 0, items: int = 300, seed: int = 0
) -> People:
    """Draw people who choose by four tastes, or else item by item; categories differ in both."""
    rng = np.random.default_rng(seed)
    usual, loading = rng.normal(-3.0, 0.5, items), 0.7 * rng.normal(size=(items, 4))
    own = 0.3 * rng.normal(size=items)
    n = size + unlabelled + 8_000
    category = np.arange(n) % 2
    sign = np.where(category == 0, 0.5, -0.5)[:, None]
    taste = rng.normal(size=(n, 4)) + sign * APART
    logit = usual + (taste @ loading.T if together else 2 * sign * own)
    p = 1 / (1 + np.exp(-logit))
    rated = rng.random((n, items)) < p
    ratio = np.log(p[category == 0].mean(axis=0) / p[category == 1].mean(axis=0))
    user, item = np.nonzero(rated[: size + unlabelled])
    names = {f"u{i:05d}": "FM"[i % 2] for i in range(size)}
    ratings = Ratings.from_columns(
        [f"u{i:05d}" for i in user],
        [f"i{j:03d}" for j in item],
        rng.integers(1, 6, len(user)).astype(float),
        scale=Scale.stars(1, 5),
        features={"g": names},
    )
    rest = slice(size + unlabelled, None)
    return People(ratings, rated[rest], category[rest], ratio)


def with_factors(ratings: Ratings, found: ItemFactors | None) -> CategoryStatistics:
    counted = tally(ratings, ratings.feature("g"))
    return (
        replace(counted, factors=found.factors, disagreement=found.disagreement)
        if found
        else counted
    )


def ratios(counted: CategoryStatistics) -> Float:
    p = CategoryEstimates(counted).probability
    return np.asarray(np.log(p[:, 0] / p[:, 1]))


def read(drawn: People, found: Float) -> float:
    """Return what somebody reads of revealed sets who knows how far each ratio is off."""
    keep = np.where(
        drawn.category[:, None] == 0, np.minimum(np.exp(-found), 1), np.minimum(np.exp(found), 1)
    )
    revealed = drawn.rated & (np.random.default_rng(9).random(drawn.rated.shape) < keep)
    return auc(revealed @ (found - drawn.ratio), drawn.category)


def bound(counted: CategoryStatistics, variance: Float) -> float:
    """Return what errors of this variance let somebody read of revealed sets."""
    p = CategoryEstimates(counted).probability.min(axis=1)
    return area_of(float((p / (1 - p)) @ variance))


@pytest.mark.slow
@pytest.mark.parametrize("size", [600, 3000])
def test_ratios_are_surer_and_leak_less_where_items_go_together(size: int) -> None:
    drawn = people(size)
    found = item_factors(drawn.ratings, drawn.ratings.feature("g"))
    assert found is not None
    assert 3 <= found.factors.shape[1] <= 11
    alone, predicted = (with_factors(drawn.ratings, given) for given in (None, found))
    error = [np.mean((ratios(one) - drawn.ratio) ** 2) ** 0.5 for one in (alone, predicted)]
    assert error[1] < 0.85 * error[0]
    shown = [read(drawn, ratios(one)) for one in (alone, predicted)]
    assert shown[1] < shown[0] - 0.03  # the control: item by item, more is read
    # Who knows the errors does not pass the bound; without what halves disagree by, they would.
    variance = log_ratio_variance(predicted)[:, 0, 1]
    assert variance.sum() < log_ratio_variance(alone)[:, 0, 1].sum()
    sampling = 3 * 0.0065
    assert shown[1] < bound(predicted, variance) + sampling
    careless = log_ratio_variance(replace(predicted, disagreement=None))[:, 0, 1]
    assert shown[1] > bound(predicted, careless) + sampling


def test_factors_that_say_nothing_are_left_out() -> None:
    drawn = people(together=False, seed=2)
    assert item_factors(drawn.ratings, drawn.ratings.feature("g")) is None


def test_factors_span_what_the_whole_decomposition_does() -> None:
    """Single precision, and values to one in a thousand, leave the factors as they are."""
    rated = people(800, items=150).ratings
    sets = np.zeros((rated.n_users, rated.n_items))
    sets[rated.user, rated.item] = 1
    scaled = sets / np.sqrt((sets.sum(axis=1) + 1)[:, None] * (sets.sum(axis=0) + 5))
    right = np.linalg.svd(scaled)[2][1:5].T / np.sqrt(sets.sum(axis=0) + 5)[:, None]
    expected = (right - right.mean(axis=0)) / right.std(axis=0)
    found = _factors(rated_sets(rated, None), 4)[:, 1:]
    assert np.abs(np.mean(expected * found, axis=0)) == pytest.approx(np.ones(4), abs=1e-5)
    assert np.array_equal(found, _factors(rated_sets(rated, None), 4)[:, 1:])


def test_few_items_have_few_factors_or_none() -> None:
    drawn = people(items=24)
    found = item_factors(drawn.ratings, drawn.ratings.feature("g"))
    assert found is None or found.factors.shape[1] <= 4
    few = people(items=7)
    assert item_factors(few.ratings, few.ratings.feature("g")) is None


def test_where_everyone_rates_everything_there_are_none() -> None:
    rows = [(f"u{i:03d}", f"i{j:02d}", 3.0) for i in range(120) for j in range(20)]
    users, items, values = zip(*rows, strict=True)
    names = {f"u{i:03d}": "FM"[i % 2] for i in range(120)}
    ratings = Ratings.from_columns(
        users, items, values, scale=Scale.stars(1, 5), features={"g": names}
    )
    assert item_factors(ratings, ratings.feature("g")) is None


@pytest.mark.slow
def test_people_of_unknown_category_teach_which_items_go_together() -> None:
    errors: dict[int, list[float]] = {0: [], 3000: []}
    for seed in range(3):
        for unlabelled, found in errors.items():
            drawn = people(300, unlabelled=unlabelled, seed=seed)
            factors = item_factors(drawn.ratings, drawn.ratings.feature("g"))
            off = ratios(with_factors(drawn.ratings, factors)) - drawn.ratio
            found.append(float(np.sqrt(np.mean(off**2))))
    assert np.mean(errors[3000]) < np.mean(errors[0])


def test_a_model_keeps_them(tmp_path: Path) -> None:
    drawn = people(seed=4)
    small = Factorizer(dimension=2, iterations=2, threads=1)
    profiles = small.fit(drawn.ratings, "g")
    assert profiles.statistics is not None
    assert profiles.statistics.factors is not None
    profiles.save(tmp_path / "model")
    again = ItemProfiles.load(tmp_path / "model")
    assert again.statistics is not None
    sure = log_ratio_variance(profiles.statistics)[:, 0, 1]
    assert np.array_equal(log_ratio_variance(again.statistics)[:, 0, 1], sure)
    assert np.array_equal(again.estimates().probability, profiles.estimates().probability)
    plain = replace(small, biases="plain").fit(drawn.ratings, "g")
    assert plain.statistics is not None
    assert plain.statistics.factors is None


def test_what_devices_withhold_is_not_taken_for_what_nobody_rates() -> None:
    ratings, rng = people(1_500, items=120).ratings, np.random.default_rng(4)
    revealed = rng.uniform(0.15, 1.0, ratings.n_items)
    thinned = ratings.select_ratings(rng.random(len(ratings)) < revealed[ratings.item])
    presence = 1 / revealed[thinned.item]

    def popularity(rated: Ratings, stands_for: Float | None) -> Float:
        return _factors(rated_sets(rated, stands_for), 2)[:, 0]

    whole = popularity(ratings, None)
    repaired = np.corrcoef(whole, popularity(thinned, presence))[0, 1]
    taken_for_dislike = np.corrcoef(whole, popularity(thinned, None))[0, 1]
    assert repaired > 0.9
    assert taken_for_dislike < repaired - 0.1


def test_each_half_has_half_of_the_reports() -> None:
    feature = people(200, unlabelled=101).ratings.feature("g")
    half = _halves(feature, 0)
    for k in (MISSING, 0, 1):
        sizes = np.bincount(half[feature.codes == k], minlength=2)
        assert sizes.sum() > 90
        assert abs(int(sizes[0]) - int(sizes[1])) <= 1


def test_who_reports_a_share_weighs_no_more_than_others() -> None:
    rng = np.random.default_rng(0)
    parity, end = np.tile([-1.0, 1.0], 20), np.repeat([-1.0, 1.0], 20)

    def sets(by: Float, people: int, stands_for: float) -> sparse.csr_matrix:
        """Draw people who rate what lies on one side, half of it."""
        side = rng.choice([-1.0, 1.0], people)[:, None]
        rated = (by == side) & (rng.random((people, len(by))) < 0.5)
        return sparse.csr_matrix(stands_for * rated)

    def leads(reporting: int) -> float:
        """Return how far the first factor after popularity is that of those who report."""
        rows = sparse.vstack([sets(parity, reporting, 4.0), sets(end, 450, 1.0)]).tocsr()
        first = leading_factors(rows, 2)[:, 1]
        return abs(float(np.corrcoef(first, parity)[0, 1]))

    assert leads(300) < 0.2
    assert leads(700) > 0.9  # the control: there may be more of them


def test_ratios_and_priors_share_one_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = people(300, unlabelled=200, items=80).ratings
    made, counted = list[int](), module.leading_factors

    def count(sets: sparse.csr_matrix, k: int) -> Float:
        made.append(sets.shape[0])
        return counted(sets, k)

    monkeypatch.setattr(module, "leading_factors", count)
    monkeypatch.setattr("midpoint.analyst.fit.priors.item_prior.leading_factors", count)
    noise = ReportNoise.of(np.zeros(len(ratings)), np.full(len(ratings), 2.0))
    Factorizer(dimension=2, iterations=2, threads=1).fit(ratings, "g", None, noise)
    everyone = ratings.n_users
    assert sorted(made) == [everyone // 2, everyone - everyone // 2, everyone]
