"""The appendix: Lemmas 2 (at most), 3 (strict) and 4 (dominance) on the sets MPSS reveals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from invented import World, raters, world
from numpy.typing import NDArray

from midpoint.protocol import protocol
from midpoint.user import Parameters, obfuscate
from midpoint.user.coins import REVEAL
from midpoint.wire import ONE

PEOPLE = 40_000
Sets = NDArray[np.bool_]


def revealed_share(made: World, name: str) -> NDArray[np.float64]:
    """Return how often each category reveals each item, of all its people. Shape (M, K)."""
    people = raters(made, PEOPLE, seed=8)
    scheme = protocol(name, estimation="plain")
    told = scheme.disclose(made.profiles)
    sent = scheme.report(told, made.profiles, people, np.random.default_rng(9))
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
    told = protocol("mpss", estimation="plain").disclose(world(M=6, seed=1).profiles)
    parameters = Parameters.of(told)
    coins = np.zeros((ONE, 4))
    coins[:, REVEAL] = (np.arange(ONE) + 0.5) / ONE
    assert told.reveal is not None
    for j, row in enumerate(told.reveal):
        least = Fraction(1, 10)
        for k, reveal in enumerate(row):
            p = least * ONE / reveal
            item = np.full(ONE, j)
            keep = obfuscate(item, np.full(ONE, 3 * ONE), k, parameters, coins).keep
            assert p * Fraction(int(keep.sum()), ONE) == least


def test_lemma_3_who_does_not_know_the_ratio_reveals_less() -> None:
    """Two items look the same; rates z+ and z- must be private for both, and then reveal less."""
    looks_same = ((0.8, 0.4), (0.5, 0.6))  # (p+, p-) with ratios 1/2 and 6/5
    grid = np.linspace(0, 1, 201)
    plus, minus = np.meshgrid(grid, grid)
    gap = np.max([np.abs(plus * p - minus * q) for p, q in looks_same], axis=0)
    private = gap < 1e-9
    assert private.any()
    shares = [np.where(private, plus * p, 0).max() for p, _ in looks_same]
    assert any(share < min(pair) for share, pair in zip(shares, looks_same, strict=True))
    # The lemma's own bound: z+ <= min(1, rho, rho'), so the second item falls short.
    assert min(1, 0.5, 1.2) * 0.5 < min(looks_same[1])
    # The control: who knows the ratio of one item reveals the least p.
    p, q = looks_same[0]
    known = np.abs(plus * p - minus * q) < 1e-9
    assert np.where(known, plus * p, 0).max() == pytest.approx(min(p, q))


P = np.array([[0.8, 0.4], [0.6, 0.3], [0.2, 0.7], [0.4, 0.5]])
"""Probability that x0 = +1 and -1 rate each of four items. Shape (4, 2)."""
POSITIVE = P[:, 0] >= P[:, 1]


def rated_sets(uniform: NDArray[np.float64]) -> tuple[Sets, Sets]:
    """Return S_0+ and S_0- on one probability space: j is rated if X_j <= p_j."""
    return uniform <= P[:, 0], uniform <= P[:, 1]


def groupwise(rated: Sets, own: int, tosses: NDArray[np.float64], *, common: bool) -> Sets:
    """Sub-sample as MPSS, then keep or drop the positive and the negative items as groups.

    Private, and dependent within a group. With one toss for both groups it is not PNI.
    """
    keep = rated & (tosses[:, :4] * P[:, own] < P.min(axis=1))
    group = np.where(POSITIVE, 0, 0 if common else 1)
    return np.asarray(keep & (tosses[:, 4:] < 0.5)[:, group])


def frequencies(sets: Sets) -> NDArray[np.float64]:
    code = sets @ (1 << np.arange(4))
    return np.bincount(code, minlength=16) / len(sets)


@pytest.mark.parametrize("common", [False, True])
def test_lemma_4_mpss_reveals_all_that_another_private_protocol_does(common: bool) -> None:
    rng = np.random.default_rng(10)
    X, tosses = rng.random((2 * PEOPLE, 4)), rng.random((2, 2 * PEOPLE, 6))
    plus, minus = rated_sets(X)
    mpss = np.where(POSITIVE, minus, plus)
    q_plus, q_minus = (
        groupwise(rated, own, tosses[own], common=common) for own, rated in enumerate((plus, minus))
    )
    combined = np.where(POSITIVE, q_minus, q_plus)
    assert (combined <= mpss).all()
    assert (mpss <= plus).all()
    assert (mpss <= minus).all()
    assert (mpss.sum(axis=1) > combined.sum(axis=1)).any()
    private = np.abs(frequencies(q_plus) - frequencies(q_minus)).max()
    distance = np.abs(frequencies(combined) - frequencies(q_plus)).max()
    assert private < 0.01
    # The control: without positive-negative independence the coupled set is another one.
    assert distance > 0.05 if common else distance < 0.01


def test_mpss_is_distributed_as_the_coupled_set() -> None:
    """What devices reveal of S_0 by coins is what the lemma constructs, for both categories."""
    exact = np.array([
        np.prod(np.where(chosen, P.min(axis=1), 1 - P.min(axis=1)))
        for chosen in (tuple(bits[::-1]) for bits in product((False, True), repeat=4))
    ])  # fmt: skip
    rng = np.random.default_rng(11)
    for own in (0, 1):
        rated = rng.random((PEOPLE, 4)) < P[:, own]
        keep = rated & (rng.random((PEOPLE, 4)) * P[:, own] < P.min(axis=1))
        assert np.abs(frequencies(keep) - exact).max() < 0.01
        assert np.abs(frequencies(rated) - exact).max() > 0.05
