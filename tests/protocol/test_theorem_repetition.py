"""Section 6.3: over repeated, adaptive interactions the joint report says nothing of x0."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented import WIDE, World, raters, world
from numpy.typing import NDArray

from midpoint.analyst.estimates import Estimation
from midpoint.protocol import Population, protocol
from midpoint.user import Parameters, obfuscate
from midpoint.user.coins import REVEAL
from midpoint.wire import ONE, Disclosure, from_fixed, to_fixed

M, ROUNDS = 24, 4


def conversation(made: World, k: int, name: str, seed: int) -> list[tuple[list[int], list[float]]]:
    """Return all rounds of one person; each asks what the answers so far suggest.

    A decision is final: an item asked again is answered as before, or stays withheld.
    """
    profiles, scheme = made.profiles, protocol(name)
    told = scheme.disclose(profiles)
    assert told.reveal is not None
    rng = np.random.default_rng(seed)
    s = from_fixed(to_fixed(profiles.centre + rng.normal(size=M)))
    X, coins = rng.random(M), rng.random((M, 4))
    ratio = np.empty((M, 2))
    ratio[np.argsort(profiles.item_ids)] = np.array(told.reveal) / ONE
    p = 0.4 / ratio[:, k]
    coins[:, REVEAL] = X / p
    order, rounds = np.arange(M), []
    for _ in range(ROUNDS):
        asked = np.sort(order[:8])
        rated = asked[X[asked] < p[asked]]
        value = s[rated] + profiles.offset[rated, k]
        people = Population(np.zeros(len(rated), dtype=int), rated, value, np.array([k]))
        sent = scheme.report(told, profiles, people, coins[rated])
        rounds.append((sent.item.tolist(), sent.value.tolist()))
        # The next question depends on what was said, and on what was left out.
        order = np.roll(order, 5 + len(sent.item) + (sent.value > 3).sum())
    return rounds


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_twins_hold_the_same_conversation(seed: int) -> None:
    made = world(M=M, scale=WIDE, seed=seed)
    first = conversation(made, 0, "mpss", seed)
    assert first == conversation(made, 1, "mpss", seed)


def test_without_the_shift_their_conversations_part() -> None:
    made = world(M=M, scale=WIDE)
    assert conversation(made, 0, "ss", 1) != conversation(made, 1, "ss", 1)


def seen_at_least_once(
    made: World, people: Population, tosses: list[tuple[Disclosure, NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """Return per category how often an item shows up in any of several tosses, of all people."""
    place = np.argsort(np.argsort(made.profiles.item_ids))[people.item]
    cell, fixed = people.category[people.user].astype(np.intp), to_fixed(people.value)
    seen = np.zeros(len(people.user), dtype=bool)
    for told, coins in tosses:
        seen |= obfuscate(place, fixed, cell, Parameters.of(told), coins).keep
    flat = people.item[seen] * 2 + cell[seen]
    return np.bincount(flat, minlength=2 * M).reshape(M, 2) / (people.n_users / 2)


@pytest.mark.parametrize("estimation", ["plain", "shrunken"])
def test_a_withheld_item_that_is_tossed_again_tells(estimation: Estimation) -> None:
    """Fresh coins on a repeated question tell, under the same disclosure or under a new one."""
    made = world(M=M, seed=6)
    people = raters(made, 20_000, seed=7)
    rng = np.random.default_rng(8)
    first, second = (rng.random((len(people.user), 4)) for _ in range(2))
    told = protocol("dmpss", estimation="plain").disclose(made.profiles)
    later = protocol("dmpss", estimation=estimation).disclose(made.profiles)
    assert (told == later) == (estimation == "plain")
    final = seen_at_least_once(made, people, [(told, first)])
    again = seen_at_least_once(made, people, [(told, first), (later, second)])
    assert np.abs(final[:, 0] - final[:, 1]).max() < 0.02
    assert np.abs(again[:, 0] - again[:, 1]).max() > 0.05
    # As computed: p (1 - (1 - rho)^2) = least p (2 - rho), which differs between the categories.
    p = made.probability
    rho = p.min(axis=1, keepdims=True) / p
    assert again == pytest.approx(p.min(axis=1, keepdims=True) * (2 - rho), abs=0.02)


def pairs(*, reopened: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count, per category, what people say first and after their rating fell to the least."""
    made = world(M=1, seed=3)
    told = protocol("dmp", estimation="plain").disclose(made.profiles)
    parameters = Parameters.of(told)
    people = raters(made, 20_000, seed=4, all_rated=True)
    coins = np.random.default_rng(5).random((len(people.user), 4))
    item, fixed = np.zeros(len(people.user), dtype=np.intp), to_fixed(people.value)
    own = people.category.astype(np.intp)
    said = obfuscate(item, fixed, own, parameters, coins).value // ONE
    lower = np.full(len(item), ONE)
    later = obfuscate(item, lower, own, parameters, coins).value // ONE
    code = said * 6 + (later if reopened else said)
    first, second = (np.bincount(code[own == k], minlength=36) for k in (0, 1))
    return first, second


@pytest.mark.parametrize("reopened", [False, True])
def test_a_changed_rating_under_the_same_coin_tells(reopened: bool) -> None:
    first, second = pairs(reopened=reopened)
    distance = np.abs(first - second).sum() / (2 * first.sum())
    assert distance > 0.1 if reopened else distance < 0.02
