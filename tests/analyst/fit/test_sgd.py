import numpy as np
import pytest

from midpoint.analyst import Factorizer, Progress, estimate_profiles
from midpoint.analyst.fit.sgd import _pass
from midpoint.data import Simulation, split_at_random
from midpoint.errors import MidpointError


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
    x = estimate_profiles(found, few.user_offsets, few.item, few.value)
    assert np.isfinite(x).all()


def test_a_pass_is_one_step_of_the_gradient_after_the_other() -> None:
    """x += step (e v - ridge x) and v += step (e x - ridge v), at once, levels alike."""
    rng = np.random.default_rng(0)
    n, step, ridge = 40, 0.3, 0.1
    user, item = (rng.integers(0, 4, n).astype(np.int32) for _ in range(2))
    value = rng.normal(size=n).astype(np.float32)
    order = rng.permutation(n).astype(np.int32)
    x, v = (rng.normal(0, 0.5, (4, 3)).astype(np.float32) for _ in range(2))
    X, V = x.astype(np.float64), v.astype(np.float64)
    expected = 0.0
    for t in order:
        i, j = user[t], item[t]
        error = value[t] - X[i, 0] - V[j, 0] - X[i, 1:] @ V[j, 1:]
        expected += error**2
        on_x, on_v = np.append(1.0, V[j, 1:]), np.append(1.0, X[i, 1:])
        X[i], V[j] = (
            X[i] + step * (error * on_x - ridge * X[i]),
            V[j] + step * (error * on_v - ridge * V[j]),
        )
    squares = _pass(
        order, user, item, value, x, v, np.float32(step), np.float32(step), np.float32(ridge)
    )
    assert squares == pytest.approx(expected, rel=1e-3)
    assert x == pytest.approx(X, abs=1e-4)
    assert v == pytest.approx(V, abs=1e-4)


def test_factors_alone_have_no_means(simulated: Simulation) -> None:
    """Eq. 1: r = <x, v> and what the category adds; nobody and nothing has a level."""
    given, hidden = split_at_random(simulated.ratings, 0.9, seed=0)
    factorizer = Factorizer(dimension=4, method="factors", iterations=20, biases="plain")
    trained = factorizer.train(given, "gender")
    assert not trained.items.centre.any()
    assert not trained.items.vectors[:, 0].any()
    assert not trained.users[:, 0].any()
    guess = np.einsum("nd,nd->n", trained.users[hidden.user], trained.items.vectors[hidden.item])
    guess += trained.items.offset[hidden.item, hidden.feature("gender").codes[hidden.user]]
    errors = guess - hidden.value
    assert abs(errors.mean()) < 0.15  # the factors have the level
    assert np.sqrt(np.mean(errors**2)) < 0.95 * hidden.value.std()
    x = estimate_profiles(trained.items, given.user_offsets, given.item, given.value)
    assert np.isfinite(x).all()


def test_factors_alone_are_no_joint_fit() -> None:
    with pytest.raises(MidpointError, match="method als"):
        Factorizer(method="factors", biases="joint")
    assert Factorizer(method="factors").iterations == 20
    assert Factorizer(method="factors").regularization == Factorizer(method="sgd").regularization
