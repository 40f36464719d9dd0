from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, Progress, predict
from midpoint.data import (
    MISSING,
    Feature,
    Ratings,
    Scale,
    Simulation,
    SimulationConfig,
    simulate,
    split_at_random,
)
from midpoint.errors import MidpointError


@pytest.mark.slow
def test_a_validation_slice_ends_training_and_all_ratings_are_used_then(
    simulated: Simulation,
) -> None:
    seen: list[Progress] = []
    # with hardly any regularization and many dimensions the fit soon learns the noise
    factorizer = Factorizer(dimension=12, regularization=0.002, iterations=30, validation=0.2)
    found = factorizer.fit(simulated.ratings, "gender", seen.append)
    restart = next(k for k in range(1, len(seen)) if seen[k].iteration == 1)
    watched, again = seen[:restart], seen[restart:]
    best = int(np.argmin([progress.rmse for progress in watched])) + 1
    assert best < len(watched) < 30
    assert len(again) == best == again[0].iterations
    plain = replace(factorizer, validation=0.0, iterations=best).fit(simulated.ratings, "gender")
    assert np.array_equal(found.vectors, plain.vectors)
    assert not np.array_equal(
        found.vectors, replace(factorizer, validation=0.0).fit(simulated.ratings).vectors
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimension": 0}, "at least 1"),
        ({"iterations": -1}, "at least 1"),
        ({"threads": 0}, "threads"),
        ({"validation": 1.0}, "share"),
        ({"validation": -0.1}, "share"),
        ({"regularization": 0.0}, "positive"),
        ({"regularization": -1.0}, "positive"),
        ({"regularization": float("nan")}, "positive"),
        ({"regularization": "0.1"}, "positive"),
        ({"biases": "none"}, "biases are one of"),
        ({"method": "newton"}, "the method one of"),
        ({"biases": "joint", "method": "sgd"}, "alternating least squares"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        Factorizer(**options)


def test_a_feature_that_is_not_there_is_named(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="no user feature 'age'; it has gender"):
        Factorizer(dimension=2).fit(tiny.ratings, "age")
    one_class = Feature("gender", ("F", "M"), np.zeros(tiny.ratings.n_users, np.int16))
    with pytest.raises(MidpointError, match="1 category only"):
        Factorizer(dimension=2).fit(tiny.ratings.with_feature(one_class), "gender")


@pytest.mark.parametrize("feature", [None, "gender"])
def test_no_ratings_are_refused(tiny: Simulation, feature: str | None) -> None:
    empty = tiny.ratings.select_ratings(np.zeros(len(tiny.ratings), np.bool_))
    for validation in (0.0, 0.1):
        with pytest.raises(MidpointError, match="no ratings to learn from"):
            Factorizer(dimension=2, validation=validation).fit(empty, feature)


def test_without_a_feature_there_are_no_offsets(tiny: Simulation) -> None:
    nothing: tuple[None, list[str]] = (None, [])
    for feature in nothing:
        found = Factorizer(dimension=2).fit(tiny.ratings, feature)
        assert found.offset.shape == (tiny.ratings.n_items, 0)
        assert found.categories == ()
        assert found.statistics is None


@pytest.mark.parametrize("biases", ["shrunken", "plain", "joint"])
def test_people_who_do_not_tell_still_teach_taste(simulated: Simulation, biases: str) -> None:
    ratings = simulated.ratings
    feature = ratings.feature("gender")
    silent = np.random.default_rng(0).random(ratings.n_users) < 0.5
    partly = replace(feature, codes=np.where(silent, MISSING, feature.codes).astype(np.int16))
    factorizer = Factorizer(dimension=3, biases=biases)  # type: ignore[arg-type]
    trained = factorizer.train(ratings.with_feature(partly), "gender")
    assert trained.users.shape == (ratings.n_users, 4)
    assert np.isfinite(trained.users).all()
    without = factorizer.train(ratings.select_users(~silent), "gender")

    def error(vectors: NDArray[np.float32]) -> float:
        """Return what of the true item profiles the span of the found ones leaves open."""
        truth = simulated.items.vectors.astype(np.float64)
        fit = vectors @ np.linalg.lstsq(vectors.astype(np.float64), truth, rcond=None)[0]
        return float(np.linalg.norm(fit - truth) / np.linalg.norm(truth))

    assert error(trained.items.vectors[:, 1:]) < error(without.items.vectors[:, 1:])
    assert np.corrcoef(trained.items.offset[:, 1], simulated.offset("gender")[:, 1])[0, 1] > 0.7


SMALLEST: dict[str, Callable[[], Ratings]] = {
    "two users": lambda: Ratings.from_columns(
        ["a", "a", "a", "b", "b"],
        ["x", "y", "z", "y", "z"],
        [1, 5, 3, 2, 4],
        features={"g": {"a": "F", "b": "M"}},
    ),
    "nothing in common": lambda: Ratings.from_columns(
        ["a", "b"], ["x", "y"], [1, 5], features={"g": {"a": "F", "b": "M"}}
    ),
    "no spread": lambda: Ratings.from_columns(
        ["a", "b", "a"],
        ["x", "x", "y"],
        [3, 3, 3],
        scale=Scale.stars(1, 5),
        features={"g": {"a": "F", "b": "M"}},
    ),
}


@pytest.mark.parametrize("name", SMALLEST)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"validation": 0.05},
        {"regularization": 0.1},
        {"biases": "plain"},
        {"biases": "joint"},
        {"biases": "joint", "regularization": 0.1},
        {"method": "sgd"},
    ],
)
def test_hardly_any_ratings_are_no_crash(name: str, options: dict[str, Any]) -> None:
    ratings = SMALLEST[name]()
    trained = Factorizer(dimension=5, iterations=6, **options).train(ratings, "g")
    found = trained.items
    for part in (found.vectors, found.centre, found.offset, found.profile_covariance):
        assert np.isfinite(part).all()
    assert np.isfinite(trained.users).all()
    assert found.noise_variance > 0
    assert np.linalg.eigvalsh(found.profile_covariance)[0] > 0
    guess = predict(found, trained.users, ratings.user, ratings.item)
    assert ((guess >= ratings.scale.low) & (guess <= ratings.scale.high)).all()


@pytest.mark.parametrize("biases", ["shrunken", "joint"])
def test_the_unit_of_ratings_does_not_matter(simulated: Simulation, biases: str) -> None:
    ratings = simulated.ratings
    larger = replace(
        ratings,
        value=20 * ratings.value,
        scale=Scale.continuous(20 * ratings.scale.low, 20 * ratings.scale.high),
    )
    factorizer = Factorizer(dimension=3, biases=biases)  # type: ignore[arg-type]
    one, twenty = factorizer.train(ratings, "gender"), factorizer.train(larger, "gender")

    def guess(trained: Any) -> NDArray[np.float64]:
        category = ratings.feature("gender").codes
        added = trained.items.offset[ratings.item, category[ratings.user]]
        return predict(trained.items, trained.users, ratings.user, ratings.item, added)

    assert guess(twenty) == pytest.approx(20 * guess(one), abs=0.02)
    assert twenty.items.noise_variance == pytest.approx(400 * one.items.noise_variance, rel=1e-3)
    assert twenty.items.offset == pytest.approx(20 * one.items.offset, abs=0.01)


@pytest.mark.parametrize(
    ("scale", "mean", "unit"),
    [(Scale.stars(0, 1), 0.5, 0.25), (Scale.stars(0, 100), 60.0, 20.0)],
)
def test_other_scales_are_learned_as_well(scale: Scale, mean: float, unit: float) -> None:
    def explained(config: SimulationConfig) -> float:
        """Return the share of held-out variance that is explained."""
        given, hidden = split_at_random(simulate(config, seed=3).ratings, 0.9, seed=0)
        trained = Factorizer(dimension=4).train(given, "gender")
        category = given.feature("gender").codes
        added = trained.items.offset[hidden.item, category[hidden.user]]
        guess = predict(trained.items, trained.users, hidden.user, hidden.item, added)
        return 1 - float(np.mean((guess - hidden.value) ** 2) / np.var(hidden.value))

    stars = SimulationConfig(
        users=500, items=80, ratings=15_000, dimension=2, taste_sd=0.8, scale=Scale.stars(1, 5)
    )
    other = replace(
        stars,
        scale=scale,
        mean=mean,
        item_mean_sd=0.5 * unit,
        taste_sd=0.8 * unit,
        noise_sd=0.8 * unit,
    )
    # two levels tell less than five, a hundred more
    assert explained(other) > explained(stars) - (0.12 if scale.high == 1 else 0.02)
    assert explained(stars) > 0.4


def test_what_made_it_is_written_down(tiny: Simulation) -> None:
    found = Factorizer(dimension=2, seed=9).fit(tiny.ratings, "gender").provenance
    assert found.data == "simulated-tiny"
    assert found.data_digest == tiny.ratings.digest
    assert found.configuration["seed"] == 9
    assert "threads" not in found.configuration
    assert {"midpoint", "numpy", "numba", "python"} <= set(found.versions)
