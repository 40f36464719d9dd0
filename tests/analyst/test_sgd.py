import numpy as np
import pytest

from midpoint.analyst import Factorizer, Progress
from midpoint.data import Simulation, split_at_random


def test_the_error_falls_and_beats_item_means(simulated: Simulation) -> None:
    given, hidden = split_at_random(simulated.ratings, 0.9, seed=0)
    seen: list[Progress] = []
    factorizer = Factorizer(dimension=4, method="sgd", iterations=20)
    trained = factorizer.train(given, "gender", seen.append)
    errors = [progress.rmse for progress in seen]
    assert len(errors) == 20
    assert errors[-1] < errors[4] < errors[0]
    guess = trained.items.centre[hidden.item] + np.einsum(
        "nd,nd->n", trained.users[hidden.user], trained.items.vectors[hidden.item]
    )
    category = hidden.feature("gender").codes[hidden.user]
    guess += trained.items.offset[hidden.item, category]
    offsets = np.array([given.value[given.of_item(j)].mean() for j in range(given.n_items)])
    by_item = np.sqrt(np.mean((offsets[hidden.item] - hidden.value) ** 2))
    assert np.sqrt(np.mean((guess - hidden.value) ** 2)) < 0.95 * by_item


def test_the_seed_decides_everything(simulated: Simulation) -> None:
    one, same, other = (
        Factorizer(dimension=3, method="sgd", iterations=2, seed=seed).fit(simulated.ratings)
        for seed in (1, 1, 2)
    )
    assert one.vectors.tobytes() == same.vectors.tobytes()
    assert one.centre.tobytes() == same.centre.tobytes()
    assert not np.array_equal(one.vectors, other.vectors)


def test_fewer_users_than_dimensions_leave_a_usable_prior(simulated: Simulation) -> None:
    few = simulated.ratings.select_users(np.arange(5))
    found = Factorizer(dimension=12, method="sgd", iterations=3).fit(few)
    assert np.linalg.eigvalsh(found.profile_covariance)[0] > 0
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(np.zeros((2, 2)))
