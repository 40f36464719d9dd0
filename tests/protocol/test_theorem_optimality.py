"""Theorem 1.2, 1.3 and Lemma 1: nothing private beats MP, nor does with less disclosed."""

from collections.abc import Callable

import numpy as np
import pytest
from invented import Float, World, world
from numpy.typing import NDArray

from midpoint.analyst import expected_loss
from midpoint.data import Scale
from midpoint.protocol import Population, protocol
from midpoint.wire import from_fixed, to_fixed

PEOPLE = 20_000
M = 9
MARGIN = 0.03
"""Relative; four standard errors of a Monte-Carlo loss over so many people."""
FAR = Scale.stars(-50, 50)


def ratings_of(
    made: World, taste: Float, k: int, seed: int
) -> tuple[Population, NDArray[np.float64]]:
    """Draw ratings of everything by people of one taste and category, on the wire's grid."""
    rng = np.random.default_rng(seed)
    profiles = made.profiles
    noise = np.sqrt(profiles.noise_variance) * rng.normal(size=(PEOPLE, M))
    midway = from_fixed(to_fixed(profiles.centre + profiles.vectors @ taste + noise))
    user, item = (grid.reshape(-1) for grid in np.indices((PEOPLE, M)))
    value = (midway + profiles.offset[:, k]).reshape(-1)
    return Population(user, item, value, np.full(PEOPLE, k)), rng.random((PEOPLE * M, 4))


def loss_of(name: str, made: World, people: Population, coins: Float, taste: Float) -> float:
    scheme = protocol(name, estimator="least-squares")
    told = scheme.disclose(made.profiles)
    sent = scheme.report(told, made.profiles, people, coins)
    found = scheme.estimate(made.profiles, sent)
    return float(((found - taste) ** 2).sum(axis=1).mean())


def bound(made: World) -> float:
    V = made.profiles.vectors.astype(np.float64)
    return expected_loss(V.T @ V, made.profiles.noise_variance)


@pytest.mark.parametrize("k", [0, 1])
def test_the_loss_of_mp_is_the_closed_form_whatever_taste_and_category(k: int) -> None:
    made = world(M=M, scale=FAR, seed=2, noise=0.7)
    for taste in (np.zeros(3), np.array([4.0, -3.0, 2.0])):
        people, coins = ratings_of(made, taste, k, seed=5)
        for name in ("mp", "full"):
            loss = loss_of(name, made, people, coins, taste)
            assert loss == pytest.approx(bound(made), rel=MARGIN)
        assert loss_of("no", made, people, coins, taste) > 1.2 * bound(made)


def test_mp_fed_to_another_private_protocol_is_that_protocol_and_no_better() -> None:
    """The proof's construction: Y'(y + l, +1, l') is distributed as Y'(r, x0, l')."""
    made = world(M=M, scale=FAR, seed=2, noise=0.7)
    taste = np.array([1.0, 0.5, -2.0])
    ends = []
    for k in (0, 1):
        people, coins = ratings_of(made, taste, k, seed=6)
        y = people.value - made.profiles.offset[people.item, k]
        fed = y + made.profiles.offset[people.item, 1]
        pretended = Population(people.user, people.item, fed, np.full(PEOPLE, 1))
        other = protocol("mpr", estimator="least-squares")
        told = other.disclose(made.profiles)
        direct = other.report(told, made.profiles, people, coins)
        through = other.report(told, made.profiles, pretended, coins)
        assert np.array_equal(direct.value, through.value)
        ends.append(loss_of("mpr", made, pretended, coins, taste))
    assert min(ends) > bound(made) * (1 + MARGIN)
    # The control: of a protocol that is not private, the construction makes something else.
    people, coins = ratings_of(made, taste, 0, seed=6)
    assert not np.array_equal(people.value, pretended.value)


# Theorem 1.3. Two profiles with different v_0 look the same to a protocol that withholds it. To be
# private for both it must be periodic (Lemma 1), so what follows is the most it can send.


def first_case(r: Float, x0: int, guess: tuple[float, float]) -> Float:
    """Send r - x0 v_0 modulo xi, where v_0 is one of two guesses and xi twice their distance."""
    xi = 2 * abs(guess[0] - guess[1])
    return np.append(np.mod(r[:1] - x0 * guess[0], xi), r[1:])


def second_case(r: Float, x0: int, guess: tuple[float, float]) -> Float:
    """Two items whose biases may be swapped: send their sum, and one of them modulo xi."""
    xi = 2 * abs(guess[0] - guess[1])
    total = r[0] + r[1] - x0 * (guess[0] + guess[1])
    return np.array([total, np.mod(r[0] - x0 * guess[0], xi), *r[2:]])


V1 = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
V2 = np.array([[2.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 1.0]])
GUESS = (0.25, -0.5)
XI = 2 * (GUESS[0] - GUESS[1])
CASES = [
    (first_case, V1, [np.array([g, 0.0, 0.0]) for g in GUESS], np.array([XI / 2, 0, 0])),
    (
        second_case,
        V2,
        [np.array([*GUESS, 0.0]), np.array([*GUESS[::-1], 0.0])],
        np.array([XI / 2, XI / 4, 0]),
    ),
]
Send = Callable[[Float, int, tuple[float, float]], Float]


@pytest.mark.parametrize(("send", "V", "biases", "step"), CASES)
def test_without_a_bias_the_private_report_is_periodic_and_the_loss_has_no_bound(
    send: Send, V: Float, biases: list[Float], step: Float
) -> None:
    rng = np.random.default_rng(7)
    # On a grid of eighths all arithmetic is exact.
    x = rng.integers(-16, 16, size=3) / 8
    noise = rng.integers(-16, 16, size=3) / 8
    outputs = [
        [send(V @ x + x0 * bias + noise, x0, GUESS).tolist() for x0 in (1, -1)] for bias in biases
    ]
    assert all(plus == minus for plus, minus in outputs)  # private, whichever the bias is
    for K in (1, 10, 1000, 10**6):
        far = x + K * step
        same = send(V @ far + biases[0] + noise, 1, GUESS)
        assert same.tolist() == outputs[0][0]  # Lemma 1: the output is periodic
        apart = float(((far - x) ** 2).sum())
        assert apart >= (K * XI / 4) ** 2
        # So any estimate is wrong by half the distance for one of the two at least.
        for guess in (x, far, (x + far) / 2, np.zeros(3), np.linalg.solve(V, same)):
            worst = max(((guess - x) ** 2).sum(), ((guess - far) ** 2).sum())
            assert worst >= apart / 4 * (1 - 1e-9)
    # MP, which discloses the bias, stays where it was.
    assert expected_loss(V.T @ V, 1.0) < 3


def test_sending_a_guess_at_the_bias_instead_is_accurate_and_not_private() -> None:
    """The control: without the modulus the loss is bounded, and twins are told apart."""
    x, (_, V, biases, _) = np.array([1.0, 2.0, 3.0]), CASES[0]
    sent = [V @ x + x0 * biases[1] - x0 * biases[0] for x0 in (-1, 1)]
    assert sent[0].tolist() != sent[1].tolist()
