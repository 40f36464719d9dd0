import numpy as np
import pytest

from midpoint.analyst import Factorizer, tune
from midpoint.analyst.fit.tuning import new_user_errors
from midpoint.data import Simulation, SimulationConfig, simulate


@pytest.fixture(scope="module")
def planted() -> Simulation:
    config = SimulationConfig(users=300, items=60, dimension=4, taste_sd=0.9, ratings=9_000)
    return simulate(config, seed=1)


@pytest.mark.slow
def test_the_planted_dimension_and_a_sane_ridge_win(planted: Simulation) -> None:
    calls: list[tuple[int, int]] = []
    found = tune(
        planted.ratings,
        "gender",
        Factorizer(iterations=10, seed=3),
        dimensions=(1, 4),
        regularizations=("learned", 5.0),
        folds=3,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(k, 12) for k in range(1, 13)]
    assert (found.best.dimension, found.best.regularization) == (4, "learned")
    assert found.best.rmse == min(trial.rmse for trial in found.trials)
    assert found.best.rmse < max(trial.rmse for trial in found.trials) - 3 * found.best.error
    assert found.factorizer == Factorizer(4, 10, "learned", seed=3)
    settings = [(trial.dimension, trial.regularization) for trial in found.trials]
    assert settings == [(1, "learned"), (1, 5.0), (4, "learned"), (4, 5.0)]


def test_errors_are_of_hidden_ratings_of_new_people(planted: Simulation) -> None:
    new = planted.ratings.select_users(np.arange(250, 300))
    profiles = Factorizer(dimension=4).fit(planted.ratings.select_users(np.arange(250)), "gender")
    found = new_user_errors(profiles, new, seed=0)
    assert len(found) == pytest.approx(0.3 * len(new), rel=0.05)
    assert np.array_equal(found, new_user_errors(profiles, new, seed=0))
    noise = planted.noise_sd
    assert noise < np.sqrt(np.mean(found**2)) < 1.4 * noise
