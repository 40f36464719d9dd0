"""What sets say of taste, on people whose taste decides what they rate, and on people whose not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import (
    Evidence,
    Factorizer,
    GivenFactors,
    ItemProfiles,
    estimate_profiles,
    posterior,
    predict,
)
from midpoint.analyst.categories.item_factors import rated_sets
from midpoint.analyst.fit.priors.item_prior import set_factors
from midpoint.analyst.fit.priors.set_prior import learn_set_prior, size_class
from midpoint.data import Ratings, Scale, split_ratings
from tests.support.tables.people_who_choose import ITEMS, TASTES, people_who_choose

STRENGTH = 1.5
"""How much taste decides what is rated."""


@pytest.fixture(scope="module")
def drawn() -> tuple[ItemProfiles, Ratings, Ratings]:
    """Item profiles learned from most people, and what the others give and hide."""
    ratings = people_who_choose(STRENGTH)
    new = np.arange(ratings.n_users) % 5 == 0
    given, hidden = split_ratings(ratings.select_users(new), 0.25, seed=1)
    return Factorizer(dimension=TASTES).fit(ratings.select_users(~new)), given, hidden


def error(profiles: ItemProfiles, x: NDArray[np.float64], hidden: Ratings) -> float:
    wrong = predict(profiles, x, hidden.user, hidden.item) - hidden.value
    return float(np.sqrt(np.mean(np.square(wrong))))


def rows(
    ratings: Ratings,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating]]:
    return ratings.user_offsets, ratings.item, ratings.value


def test_sets_lower_the_error_for_new_people_where_taste_decides_what_is_rated(
    drawn: tuple[ItemProfiles, Ratings, Ratings],
) -> None:
    profiles, given, hidden = drawn
    assert profiles.set_prior is not None
    with_sets = error(profiles, estimate_profiles(profiles, *rows(given)), hidden)
    without = error(profiles, estimate_profiles(profiles, *rows(given), sets=False), hidden)
    assert with_sets < 0.985 * without


def test_sets_teach_taste_in_the_factors_of_another_recommender(
    drawn: tuple[ItemProfiles, Ratings, Ratings],
) -> None:
    """Control: of people who choose at random they say nothing there, either."""
    ours, given, hidden = drawn
    ratings = people_who_choose(STRENGTH)
    panel = ratings.select_users(np.arange(ratings.n_users) % 5 != 0)
    factors = GivenFactors.of(ours.vectors[:, 1:], item_ids=ours.item_ids.tolist())
    profiles = factors.fit(panel)
    assert profiles.set_prior is not None
    with_sets = error(profiles, estimate_profiles(profiles, *rows(given)), hidden)
    without = error(profiles, estimate_profiles(profiles, *rows(given), sets=False), hidden)
    assert with_sets < 0.99 * without
    assert factors.fit(people_who_choose(0.0)).set_prior is None


def test_sets_of_people_who_choose_at_random_say_nothing() -> None:
    ratings = people_who_choose(0.0)
    assert Factorizer(dimension=TASTES).fit(ratings).set_prior is None


def test_where_everyone_rated_everything_there_is_nothing_to_learn() -> None:
    user, item = np.divmod(np.arange(60 * 40), 40)
    value = 1 + (user * item) % 5
    names = [f"p{i}" for i in user], [f"i{j}" for j in item]
    ratings = Ratings.from_columns(*names, value.astype(float), scale=Scale.stars(1, 5))
    assert Factorizer(dimension=2).fit(ratings).set_prior is None


def test_the_prior_says_how_wrong_it_is(drawn: tuple[ItemProfiles, Ratings, Ratings]) -> None:
    """Predictions from the set alone are off by their stated variance, which sets make smaller."""
    profiles, given, hidden = drawn
    assert profiles.set_prior is not None
    variance = {}
    for name, known in (("sets", profiles), ("nobody", replace(profiles, set_prior=None))):
        squares: list[float] = []
        stated: list[float] = []
        for user in range(given.n_users):
            own = given.of_user(user)
            said = Evidence.of(known, given.item[own], given.value[own])
            silent = replace(said, information=0 * said.information, moment=0 * said.moment)
            mean, deviation = posterior(silent, known).predict(known)
            at = hidden.of_user(user)
            squares.extend((mean[hidden.item[at]] - hidden.value[at]) ** 2)
            stated.extend(deviation[hidden.item[at]] ** 2)
        variance[name] = float(np.mean(squares)), float(np.mean(stated))
    assert variance["sets"][0] < 0.93 * variance["nobody"][0]
    assert variance["sets"][1] == pytest.approx(variance["sets"][0], rel=0.15)


def test_many_one_and_sums_agree(drawn: tuple[ItemProfiles, Ratings, Ratings]) -> None:
    profiles, given, _ = drawn
    many = estimate_profiles(profiles, *rows(given))
    sums = []
    for user in range(40):
        own = given.of_user(user)
        item, value = given.item[own], given.value[own]
        alone = estimate_profiles(profiles, np.array([0, len(item)]), item, value)
        said = Evidence.of(profiles, item[:2], value[:2]) + Evidence.of(
            profiles, item[2:], value[2:]
        )
        assert many[user] == pytest.approx(alone[0], abs=1e-4)
        assert posterior(said, profiles).mean == pytest.approx(alone[0], abs=1e-4)
        sums.append(said)
    stacked = Evidence(
        *(
            np.stack([getattr(said, name) for said in sums])
            for name in ("information", "moment", "count", "chosen")
        )
    )
    assert posterior(stacked, profiles).mean == pytest.approx(many[:40], abs=1e-4)


def test_somebody_who_revealed_nothing_has_the_prior_of_everyone(
    drawn: tuple[ItemProfiles, Ratings, Ratings],
) -> None:
    profiles, *_ = drawn
    nothing = posterior(Evidence.none(profiles), profiles)
    assert nothing.mean == pytest.approx(profiles.profile_mean)
    assert nothing.covariance == pytest.approx(profiles.profile_covariance)
    empty = np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0)
    assert estimate_profiles(profiles, *empty)[0] == pytest.approx(profiles.profile_mean)


def test_larger_sets_leave_less_open(drawn: tuple[ItemProfiles, Ratings, Ratings]) -> None:
    profiles, *_ = drawn
    left = [np.linalg.eigvalsh(profiles.after(n).profile_covariance) for n in (0, 4, 40)]
    assert (left[0] >= left[1]).all()
    assert (left[1] >= left[2]).all()
    assert (left[2] > 0).all()
    assert np.array_equal(size_class(np.array([0, 1, 3, 5, 6])), [0, 0, 2, 2, 3])


def test_it_is_kept_with_the_profiles(
    drawn: tuple[ItemProfiles, Ratings, Ratings], tmp_path: Path
) -> None:
    profiles, given, _ = drawn
    profiles.save(tmp_path / "model")
    read = ItemProfiles.load(tmp_path / "model")
    expected = estimate_profiles(profiles, *rows(given))
    assert np.array_equal(estimate_profiles(read, *rows(given)), expected)


def test_an_item_that_is_not_there_is_refused(
    drawn: tuple[ItemProfiles, Ratings, Ratings],
) -> None:
    profiles, *_ = drawn
    for item in (-1, ITEMS):
        with pytest.raises(ValueError, match="outside"):
            estimate_profiles(
                profiles, np.array([0, 1]), np.array([item], np.int32), np.array([3.0])
            )


def test_people_without_ratings_are_learned_from_where_sets_leave_no_doubt() -> None:
    """Half of the people rate one half of the items, the others the other; the last have none."""
    people, items = 400, 40
    user, item = np.meshgrid(np.arange(people), np.arange(items), indexing="ij")
    theirs = (item < items // 2) == (user % 2 == 0)
    names = [f"p{i:03}" for i in user[theirs]], [f"i{j:02}" for j in item[theirs]]
    ratings = Ratings.from_columns(*names, np.full(theirs.sum(), 4.0), scale=Scale.stars(1, 5))
    some = ratings.select_ratings(ratings.user < people - 10)
    taste = np.where(np.arange(people) % 2 == 0, 1.0, -1.0)[:, None]
    factors = set_factors(rated_sets(some))
    prior = learn_set_prior(some, factors, taste, np.zeros(1), np.ones((items, 1)), seed=0)
    assert prior is not None
    assert np.isfinite(prior.weights).all()
    nothing = prior.shift(np.zeros(len(prior.pseudo_count)), 0)
    assert nothing.tolist() == [0.0]
    assert abs(float(prior.shift(prior.sums(np.arange(10)), 10)[0]) - 1.0) < 0.3
