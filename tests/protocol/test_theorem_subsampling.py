"""The appendix: Lemmas 2 (at most), 3 (strict) and 4 (dominance) on the sets MPSS reveals."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.protocol import LearningProtocol
from midpoint.user import Parameters
from midpoint.user.core.coins import REVEAL
from midpoint.wire import ONE, Disclosure, FeatureNames, RatingScale
from tests.support.people.invented import World, raters, world
from tests.support.people.unadjusted import obfuscate_unadjusted

PEOPLE = 40_000
Sets = NDArray[np.bool_]


def revealed_share(made: World, name: str) -> NDArray[np.float64]:
    """Return how often each category reveals each item, of all its people. Shape (M, K)."""
    people = raters(made, PEOPLE, seed=8)
    scheme = LearningProtocol(name, estimation="plain")
    disclosure = scheme.disclose(made.profiles)
    sent = scheme.report(disclosure, made.profiles, people, np.random.default_rng(9))
    who = np.repeat(np.arange(people.n_users), np.diff(sent.user_offsets))
    cell = sent.item.astype(np.int64) * 2 + people.category[who]
    return np.bincount(cell, minlength=made.probability.size).reshape(-1, 2) / PEOPLE


@pytest.mark.parametrize("name", ["ss", "mpss", "dmpss"])
def test_lemma_2_holds_with_equality(name: str) -> None:
    made = world(M=10, seed=5)
    share, p = revealed_share(made, name), made.probability
    assert share == pytest.approx(np.repeat(p.min(axis=1, keepdims=True), 2, axis=1), abs=0.015)
    control = revealed_share(made, "mp")
    assert control == pytest.approx(p, abs=0.015)
    assert np.abs(control[:, 0] - control[:, 1]).max() > 0.2


def test_lemma_2_in_whole_numbers() -> None:
    """Over every coin of a fine grid, p_k times the share revealed is the least p."""
    disclosure = LearningProtocol("mpss", estimation="plain").disclose(world(M=6, seed=1).profiles)
    parameters = Parameters.of(disclosure)
    coins = np.zeros((ONE, 4))
    coins[:, REVEAL] = (np.arange(ONE) + 0.5) / ONE
    assert disclosure.reveal is not None
    for j, row in enumerate(disclosure.reveal):
        least = Fraction(1, 10)
        for k, reveal in enumerate(row):
            p = least * ONE / reveal
            item = np.full(ONE, j)
            keep = obfuscate_unadjusted(item, np.full(ONE, 3 * ONE), k, parameters, coins).keep
            assert p * Fraction(int(keep.sum()), ONE) == least


Pair = tuple[Fraction, Fraction]


def disclosure_of_rows(rows: Sequence[Sequence[int]]) -> Disclosure:
    """Disclose these reveal probabilities, out of 2^16, for as many items."""
    stars = tuple(ONE * star for star in range(1, 6))
    return Disclosure(
        scheme="ss",
        features=(FeatureNames(name="gender", categories=("F", "M")),),
        scale=RatingScale(low=stars[0], high=stars[-1], levels=stars),
        items=tuple(f"i{j:03d}" for j in range(len(rows))),
        reveal=tuple(map(tuple, rows)),
    )


def revealed(disclosure: Disclosure, own: int, rated: Sets, coin: NDArray[np.float64]) -> Sets:
    """Return what devices reveal of the rated sets, with these REVEAL coins. Shape (n, M)."""
    person, item = np.nonzero(rated)
    coins = np.zeros((len(item), 4))
    coins[:, REVEAL] = coin[person, item]
    value = np.full(len(item), 3 * ONE)
    found = np.zeros_like(rated)
    found[person, item] = obfuscate_unadjusted(
        item, value, own, Parameters.of(disclosure), coins
    ).keep
    return found


def test_lemma_3_who_does_not_know_the_ratio_reveals_less() -> None:
    """Two items look the same to her, so one row has to serve both: none is private for both.

    Tried are all rows (z+, z-) in sixteenths; how often devices reveal is counted over all coins.
    """
    rows = list(product(range(1, 17), repeat=2))
    disclosure = disclosure_of_rows([[z * ONE // 16 for z in row] for row in rows])
    coin = np.repeat((np.arange(16)[:, None] + 0.5) / 16, len(rows), axis=1)
    always = np.ones_like(coin, dtype=np.bool_)
    z = [revealed(disclosure, own, always, coin).sum(axis=0) for own in (0, 1)]

    def shares(pair: Pair) -> dict[tuple[int, int], Fraction]:
        """Return, of the rows that are private for this item, how often it is revealed."""
        p, q = pair
        seen = {row: (p * int(a) / 16, q * int(b) / 16) for row, a, b in zip(rows, *z, strict=True)}
        return {row: plus for row, (plus, minus) in seen.items() if plus == minus}

    first, second = (Fraction(3, 4), Fraction(3, 8)), (Fraction(3, 8), Fraction(1, 2))
    for pair in (first, second):  # who knows the ratio of an item can reveal the least p
        assert max(shares(pair).values()) == min(pair)
    assert not shares(first).keys() & shares(second).keys()
    same_ratio = (Fraction(1, 2), Fraction(1, 4))  # the control: then one row serves both
    assert shares(first).keys() == shares(same_ratio).keys()


P = np.array([[0.75, 0.375], [0.5, 0.125], [0.125, 0.5], [0.375, 0.5]])
"""Probability that x0 = +1 and -1 rate each of four items; ratios that 2^16 divides. (4, 2)."""
POSITIVE = P[:, 0] >= P[:, 1]
DISCLOSED = disclosure_of_rows([[int(ONE * min(row) / p) for p in row] for row in P.tolist()])


def rated_sets(uniform: NDArray[np.float64]) -> tuple[Sets, Sets]:
    """Return S_0+ and S_0- on one probability space: j is rated if X_j < p_j."""
    return uniform < P[:, 0], uniform < P[:, 1]


def groupwise(rated: Sets, own: int, tosses: NDArray[np.float64], *, common: bool) -> Sets:
    """Sub-sample as MPSS, then keep or drop the positive and the negative items as groups.

    Private, and dependent within a group. With one toss for both groups it is not PNI.
    """
    keep = revealed(DISCLOSED, own, rated, tosses[:, :4])
    group = np.where(POSITIVE, 0, 0 if common else 1)
    return np.asarray(keep & (tosses[:, 4:] < 0.5)[:, group])


def frequencies(sets: Sets) -> NDArray[np.float64]:
    code = sets @ (1 << np.arange(4))
    return np.bincount(code, minlength=16) / len(sets)


def test_in_the_lemmas_coupling_devices_of_both_categories_reveal_the_coupled_set() -> None:
    """Given that X_j < p_j, the coin X_j / p_j is uniform; with it they reveal X_j < least p."""
    X = np.random.default_rng(10).random((2 * PEOPLE, 4))
    plus, minus = rated_sets(X)
    coupled = np.where(POSITIVE, minus, plus)
    for own, rated in enumerate((plus, minus)):
        assert np.array_equal(revealed(DISCLOSED, own, rated, X / P[:, own]), coupled)
        # The control: with the other category's probability, as if she lied, it is another set.
        assert not np.array_equal(revealed(DISCLOSED, own, rated, X / P[:, 1 - own]), coupled)
    assert not np.array_equal(plus, minus)


@pytest.mark.parametrize("common", [False, True])
def test_lemma_4_mpss_reveals_all_that_another_private_protocol_does(common: bool) -> None:
    rng = np.random.default_rng(10)
    X, tosses = rng.random((2 * PEOPLE, 4)), rng.random((2, 2 * PEOPLE, 6))
    plus, minus = rated_sets(X)
    mpss = revealed(DISCLOSED, 0, plus, X / P[:, 0])
    q_plus, q_minus = (
        groupwise(rated, own, tosses[own], common=common) for own, rated in enumerate((plus, minus))
    )
    combined = np.where(POSITIVE, q_minus, q_plus)
    assert (combined <= mpss).all()
    assert (mpss.sum(axis=1) > combined.sum(axis=1)).any()
    private = np.abs(frequencies(q_plus) - frequencies(q_minus)).max()
    distance = np.abs(frequencies(combined) - frequencies(q_plus)).max()
    assert private < 0.01
    # The control: without positive-negative independence the coupled set is another one.
    assert distance > 0.03 if common else distance < 0.01


def test_with_coins_of_their_own_devices_reveal_sets_of_the_coupled_distribution() -> None:
    exact = np.array([
        np.prod(np.where(chosen, P.min(axis=1), 1 - P.min(axis=1)))
        for chosen in (tuple(bits[::-1]) for bits in product((False, True), repeat=4))
    ])  # fmt: skip
    rng = np.random.default_rng(11)
    for own in (0, 1):
        rated = rng.random((PEOPLE, 4)) < P[:, own]
        keep = revealed(DISCLOSED, own, rated, rng.random((PEOPLE, 4)))
        assert np.abs(frequencies(keep) - exact).max() < 0.01
        assert np.abs(frequencies(rated) - exact).max() > 0.05
