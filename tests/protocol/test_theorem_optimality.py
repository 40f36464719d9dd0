"""Theorem 1.2, 1.3 and Lemma 1: nothing private beats MP, nor does with less disclosed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Evidence, expected_loss, least_squares
from midpoint.data import Scale
from midpoint.protocol import LearningProtocol, Population, Reports, Setting, worst_case_loss
from midpoint.user import Parameters
from midpoint.user.core.coins import REVEAL
from midpoint.wire import (
    ONE,
    Disclosure,
    FeatureNames,
    RatingScale,
    as_rows,
    from_fixed,
    to_fixed,
)
from tests.support.people.invented import Float, World, world
from tests.support.people.unadjusted import obfuscate_unadjusted

pytestmark = pytest.mark.slow

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
    scheme = LearningProtocol(name, estimator="least-squares")
    shown = scheme.disclose(made.profiles)
    sent = scheme.report(shown, made.profiles, people, coins)
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


# The proof's construction: another protocol's obfuscation Y' needs a rating and a category; feed it
# y + l of category 1 instead, which follows from what MP sent. If it is private, that is as good as
# its own output, so its estimator works on MP's output too, and is no better than the best there.

Sent = tuple[list[int], list[float]]
"""Items and values, of all people one after the other."""
Other = Callable[[World, Population, Float], Reports]


def by_name(name: str) -> Other:
    """Return the obfuscation of a protocol."""

    def report(made: World, people: Population, coins: Float) -> Reports:
        one = LearningProtocol(name)
        return one.report(one.disclose(made.profiles), made.profiles, people, coins)

    return report


def noisier(made: World, people: Population, coins: Float) -> Reports:
    """Send what MP sends, and noise on top."""
    sent = by_name("mp")(made, people, coins)
    return replace(sent, value=sent.value + 2 * (coins[:, 1] - 0.5))


def dropping(made: World, people: Population, coins: Float) -> Reports:
    """Send what MP sends of all items but the last two."""
    sent = by_name("mp")(made, people, coins)
    kept = np.flatnonzero(sent.item < M - 2)
    offsets = np.arange(PEOPLE + 1) * (M - 2)
    return Reports(sent.kept[kept], offsets, sent.item[kept], sent.value[kept])


def sent_by(reports: Reports) -> Sent:
    return reports.item.tolist(), reports.value.tolist()


def as_if_of_the_other(made: World, sent: Reports) -> Population:
    """Turn what MP (or MPSS) sent into ratings of people of category 1."""
    who = np.repeat(np.arange(PEOPLE), np.diff(sent.user_offsets))
    rating = sent.value + made.profiles.offset[sent.item, 1]
    return Population(who, sent.item, rating, np.ones(PEOPLE, dtype=int))


def mean_loss(made: World, sent: Reports, taste: Float) -> float:
    found = LearningProtocol("mp", estimator="least-squares").estimate(made.profiles, sent)
    return float(((found - taste) ** 2).sum(axis=1).mean())


TASTE = np.array([1.0, 0.5, -2.0])


@pytest.mark.parametrize(
    ("other", "private"),
    [(by_name("mpr"), True), (noisier, True), (dropping, True), (by_name("no"), False)],
    ids=["rounded", "noisier", "dropping", "no"],
)
def test_what_mp_sends_replaces_any_private_protocol_which_is_no_better(
    other: Other, private: bool
) -> None:
    made = world(M=M, scale=FAR, seed=2, noise=0.7)
    outputs = []
    for k in (0, 1):
        people, coins = ratings_of(made, TASTE, k, seed=6)
        direct = other(made, people, coins)
        by_mp = by_name("mp")(made, people, coins)
        through = other(made, as_if_of_the_other(made, by_mp), coins)
        outputs += [sent_by(direct), sent_by(through)]
        if private:
            assert mean_loss(made, direct, TASTE) > bound(made) * (1 + MARGIN)
        assert mean_loss(made, by_mp, TASTE) == pytest.approx(bound(made), rel=MARGIN)
    # The control: of a protocol that is not private the construction makes something else.
    assert all(one == outputs[0] for one in outputs) == private


def test_what_mpss_sends_replaces_sub_sampling_with_rounding_which_is_no_better() -> None:
    """The same where people rate by chance; their coins are coupled as in Lemma 4."""
    made = world(M=M, scale=FAR, seed=2, noise=0.7)
    shown = LearningProtocol("mpss").disclose(made.profiles)
    p = 0.6 / (np.array(shown.reveal)[made.profiles.message_index] / ONE)
    outputs, losses = [], []
    for k in (0, 1):
        people, coins = ratings_of(made, TASTE, k, seed=6)
        X = np.random.default_rng(7).random(PEOPLE * M)
        rated = np.flatnonzero(p[people.item, k] > X)
        coins = coins[rated]
        coins[:, REVEAL] = X[rated] / p[people.item[rated], k]
        some = Population(
            people.user[rated], people.item[rated], people.value[rated], people.category
        )
        direct = by_name("mpssr")(made, some, coins)
        by_mpss = by_name("mpss")(made, some, coins)
        through = by_name("mpr")(made, as_if_of_the_other(made, by_mpss), coins[by_mpss.kept])
        outputs += [sent_by(direct), sent_by(through)]
        losses.append([mean_loss(made, sent, TASTE) for sent in (by_mpss, direct)])
    assert all(one == outputs[0] for one in outputs)
    assert all(ours * (1 + MARGIN) < theirs for ours, theirs in losses)


def test_an_estimator_that_wins_at_one_taste_loses_at_another() -> None:
    """Only the worst case is optimal: a strong ridge on what MP sends beats it at x = 0."""
    made = world(M=M, scale=FAR, seed=2, noise=0.7)
    pulled = replace(made.profiles, profile_covariance=0.02 * np.eye(3))
    ridge = LearningProtocol("mp", estimator="map")
    losses = []
    for taste in (np.zeros(3), np.array([4.0, -3.0, 2.0])):
        people, coins = ratings_of(made, taste, 0, seed=9)
        sent = by_name("mp")(made, people, coins)
        found = ridge.estimate(pulled, sent)
        losses.append(float(((found - taste) ** 2).sum(axis=1).mean()))
        assert mean_loss(made, sent, taste) == pytest.approx(bound(made), rel=MARGIN)
    assert losses[0] < bound(made) * (1 - MARGIN)
    assert losses[1] > bound(made) * (1 + MARGIN)


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
    periodic, by_mp = [], []
    for K in (1, 10, 100, 1000):
        far = x + K * step
        same = send(V @ far + biases[0] + noise, 1, GUESS)
        assert same.tolist() == outputs[0][0]  # Lemma 1: the output is periodic
        ends = [_shifted(biases[0], V @ taste + biases[0] + noise, 1) for taste in (x, far)]
        assert ends[0].tolist() != ends[1].tolist()  # and MP's is not
        periodic.append(max(_loss(V, same, taste) for taste in (x, far)))
        by_mp.append(max(_loss(V, y, taste) for y, taste in zip(ends, (x, far), strict=True)))
    # So of x and far away one is estimated ever worse, while under MP neither is.
    assert all(more > 10 * less for less, more in pairwise(periodic[1:]))
    assert periodic[-1] > 10_000 * by_mp[-1]
    assert by_mp == pytest.approx([by_mp[0]] * 4, rel=1e-6)


def _loss(V: Float, y: Float, taste: Float) -> float:
    """Return the squared error of the analyst's least squares from what was sent."""
    found = least_squares(Evidence(V.T @ V, y @ V, len(V)), 1.0)
    return float(((found.mean - taste) ** 2).sum())


def _shifted(bias: Float, ratings: Float, k: int) -> Float:
    """Run MP on a device under this disclosed bias, of a person of category k (x0 = -1 or 1)."""
    offset = to_fixed(np.stack([-bias, bias], axis=1))
    disclosure = Disclosure(
        scheme="mp",
        features=(FeatureNames(name="gender", categories=("F", "M")),),
        scale=RatingScale(low=-(2**31), high=2**31),
        items=tuple("abc"),
        offset=as_rows(offset),
    )
    parameters = Parameters.of(disclosure)
    done = obfuscate_unadjusted(np.arange(3), to_fixed(ratings), k, parameters, np.zeros((3, 4)))
    return from_fixed(done.value)


def test_sending_a_guess_at_the_bias_instead_is_accurate_and_not_private() -> None:
    """The control: by another bias MP stays accurate, within a bound, and distinguishes twins."""
    x, (_, V, biases, _) = np.array([1.0, 2.0, 3.0]), CASES[0]
    right, wrong = (
        [_shifted(bias, V @ x + x0 * biases[0], k).tolist() for k, x0 in enumerate((-1, 1))]
        for bias in biases
    )
    assert right[0] == right[1]
    assert wrong[0] != wrong[1]
    mp = LearningProtocol("mp", estimator="least-squares")
    twins = np.stack([-biases[0], biases[0]], axis=1)
    true = Setting(vectors=V, offset=twins, noise_variance=1.0)
    misled = replace(true, disclosed=np.stack([-biases[1], biases[1]], axis=1))
    best, off = (worst_case_loss(mp, setting).most for setting in (true, misled))
    assert best < off < 2 * best
