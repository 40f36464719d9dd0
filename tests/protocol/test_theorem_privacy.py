"""Theorem 1.1, and Theorem 2.1 of the appendix: what is reported does not depend on the feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midpoint.protocol import LearningProtocol, Population
from midpoint.user.core.coins import REVEAL
from midpoint.wire import ONE, from_fixed, to_fixed
from tests.support.people.invented import GENDER, WIDE, Float, World, auc, two_sided, world

AGE = ("age", ("young", "middle", "old"))
PEOPLE = 3000
CHANCE = 0.04
"""More than four standard errors of an AUC over so many people of each category."""


def coupled_reports(
    name: str, made: World, taste: Float, seed: int, *, all_rated: bool
) -> list[tuple[list[int], list[float]]]:
    """Return what twins who differ only in their category report, with the same noise.

    The coins are coupled as in Lemma 4: item j is rated by category k if X_j < p_jk, so that the
    coin X_j / p_jk is uniform given that it was.
    """
    profiles, scheme = made.profiles, LearningProtocol(name)
    disclosure = scheme.disclose(profiles)
    rng = np.random.default_rng(seed)
    M, K = profiles.offset.shape
    clean = profiles.centre + profiles.vectors @ taste + 5 * rng.standard_t(2, size=M)
    s = from_fixed(to_fixed(np.clip(clean, -500, 500)))
    coins, uniform = rng.random((M, 4)), rng.random((M, 1))[:, 0]
    ratio = np.ones((M, K))
    if disclosure.reveal is not None or not all_rated:
        sub_sampled = LearningProtocol("mpss").disclose(profiles).reveal
        ratio[np.argsort(profiles.item_ids)] = np.array(sub_sampled) / ONE
    p = np.ones((M, K)) if all_rated else 0.3 / ratio
    found = []
    for k in range(K):
        rated = np.flatnonzero(uniform < p[:, k])
        mine = coins[rated]
        mine[:, REVEAL] = uniform[rated] / p[rated, k]
        nobody = np.zeros(len(rated), dtype=int)
        people = Population(nobody, rated, s[rated] + profiles.offset[rated, k], np.array([k]))
        sent = scheme.report(disclosure, profiles, people, mine)
        found.append((sent.item.tolist(), sent.value.tolist()))
    return found


def alike(found: list[tuple[list[int], list[float]]]) -> bool:
    return all(one == found[0] for one in found)


@settings(max_examples=min(40, settings().max_examples))
@given(
    st.integers(0, 10**6),
    st.sampled_from([(GENDER,), (AGE,), (GENDER, AGE)]),
    st.lists(st.floats(-30, 30), min_size=3, max_size=3),
)
def test_twins_report_the_same_under_mp_and_mpss(
    seed: int, features: tuple[tuple[str, tuple[str, ...]], ...], taste: list[float]
) -> None:
    made = world(features=features, scale=WIDE, seed=seed)
    x = np.array(taste)
    assert alike(coupled_reports("mp", made, x, seed, all_rated=True))
    assert alike(coupled_reports("mpss", made, x, seed, all_rated=False))


def test_twins_differ_where_a_part_of_the_protocol_is_missing() -> None:
    """The controls: nothing done, only the set, only the ratings."""
    made, x = world(M=40, scale=WIDE), np.array([1.0, -1.0, 0.5])
    (items, plain), (_, other) = coupled_reports("no", made, x, 1, all_rated=True)
    assert items == list(range(40))
    assert plain != other
    (first, values), (second, other) = coupled_reports("ss", made, x, 1, all_rated=False)
    assert first == second
    assert values != other
    (first, _), (second, _) = coupled_reports("mp", made, x, 1, all_rated=False)
    assert first != second


def attacks(name: str) -> tuple[float, float]:
    """Return what likelihood-ratio attackers read from values and from sets, two-sided."""
    made = world(M=30, scale=WIDE, seed=3)
    profiles, rng = made.profiles, np.random.default_rng(4)
    scheme = LearningProtocol(name, estimation="plain")
    disclosure = scheme.disclose(profiles)
    category = np.repeat([0, 1], PEOPLE)
    x = rng.normal(size=(2 * PEOPLE, 3)) * 0.3
    user, item = np.nonzero(rng.random((2 * PEOPLE, 30)) < made.probability.T[category])
    value = (
        (profiles.centre + x @ profiles.vectors.T)[user, item]
        + profiles.offset[item, category[user]]
        + 0.5 * rng.normal(size=len(user))
    )
    sent = scheme.report(disclosure, profiles, Population(user, item, value, category), rng)
    who = np.repeat(np.arange(2 * PEOPLE), np.diff(sent.user_offsets))
    gap = profiles.offset[:, 1] - profiles.offset[:, 0]
    rest = sent.value - profiles.centre[sent.item]
    by_value = np.bincount(who, gap[sent.item] * rest, 2 * PEOPLE)
    p = made.probability
    odds = np.log(p[:, 1] / p[:, 0]) - np.log((1 - p[:, 1]) / (1 - p[:, 0]))
    by_set = np.bincount(who, odds[sent.item], 2 * PEOPLE)
    return two_sided(auc(by_value, category == 1)), two_sided(auc(by_set, category == 1))


@pytest.mark.parametrize(
    ("name", "values_leak", "sets_leak"),
    [
        ("no", True, True),
        ("ss", True, False),
        ("mp", False, True),
        ("mpss", False, False),
    ],
)
def test_over_many_people_attackers_read_what_is_not_protected_and_nothing_else(
    name: str, values_leak: bool, sets_leak: bool
) -> None:
    by_value, by_set = attacks(name)
    assert by_value > 0.7 if values_leak else by_value < 0.5 + CHANCE
    assert by_set > 0.7 if sets_leak else by_set < 0.5 + CHANCE
