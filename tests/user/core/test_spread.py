"""Scale use: residuals are carried to the counterparts' spread, and no further than the limits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from midpoint.audit.attackers.auc import auc
from midpoint.protocol import LearningProtocol
from midpoint.user import Parameters, adjust, check_numbers
from midpoint.user.core.counterparts import most_shift, spread_factor, stretched
from midpoint.wire import ONE, Disclosure, RefusedError, as_rows
from tests.support.people.made_up_positions import counterparts_disclosure
from tests.support.people.scale_use import (
    learned_from,
    population,
    reported,
    spread_of,
    spread_people,
)

SPREAD = np.array([[0.05, 0.2], [-0.1, 0.4]])


def read(protocol: LearningProtocol, *, learned: tuple[float, float], people: int = 2400) -> float:
    """Attack by how far people's spread is from the usual one."""
    profiles = learned_from(spread_people(people, 0, learned), "cmp")
    attacked = population(spread_people(people, 1, learned))
    spread = spread_of(reported(protocol, profiles, attacked), profiles)
    return auc(np.abs(spread - np.median(spread)), attacked.category)


def test_how_far_people_use_the_scale_is_hidden_and_without_it_is_read() -> None:
    wide = (0.1, 0.45)
    assert read(LearningProtocol("no"), learned=wide) > 0.7
    assert read(LearningProtocol("dmp"), learned=wide) > 0.65
    assert read(LearningProtocol("cmp"), learned=wide) > 0.65
    assert read(LearningProtocol("cmp", spread=True), learned=wide) < 0.56


def test_where_categories_use_the_scale_alike_nothing_changes_for_the_worse() -> None:
    alike = (0.3, 0.3)
    assert read(LearningProtocol("cmp"), learned=alike) == pytest.approx(0.5, abs=0.04)
    assert read(LearningProtocol("cmp", spread=True), learned=alike) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("cell", [0, 1])
@pytest.mark.parametrize(("count", "square"), [(10, 4.0), (40, 60.0), (200, 150.0), (3, 0.0)])
def test_the_factor_is_the_one_of_the_docstring(cell: int, count: int, square: float) -> None:
    (mean, deviation), K = SPREAD[cell], len(SPREAD)

    def loss(w: float) -> float:
        return float(count * w + square * np.exp(-2 * w) / 2 + ((w - mean) / deviation) ** 2 / 2)

    w = minimize_scalar(loss, bounds=(-6, 6), method="bounded", options={"xatol": 1e-9}).x
    w = np.floor(w * 256 + 0.5) / 256
    there = sum(mu + s / deviation * (w - mean) for mu, s in SPREAD) / K
    change = np.floor(np.clip(there - w, -0.25, 0.25) * 256 + 0.5) / 256
    factor = spread_factor(SPREAD, cell, count, square)
    assert factor == np.floor(np.exp(change) * ONE + 0.5)


def test_categories_of_one_spread_leave_residuals_as_they_are() -> None:
    same = np.array([[0.1, 0.3], [0.1, 0.3], [0.1, 0.3]])
    for count, square in ((5, 1.0), (50, 300.0)):
        factor = spread_factor(same, 1, count, square)
        assert factor == ONE
        assert not stretched(np.array([-70_000, 12_345]), factor).any()


def test_whatever_is_disclosed_a_factor_and_a_move_have_limits() -> None:
    wild = np.array([[-4.0, 2.0], [4.0, 2**-6]])
    for cell in (0, 1):
        for count, square in ((1, 0.0), (10, 1.0), (1000, 1e9)):
            factor = spread_factor(wild, cell, count, square) / ONE
            assert abs(np.log(factor)) <= 0.25 + 1e-4
    shown = counterparts_disclosure("cmp", n_items=30, reach=8.0, spread=True)
    p, everything = Parameters.of(shown), np.arange(30)
    levels = np.asarray(shown.scale.levels)
    value = levels[np.random.default_rng(1).integers(0, len(levels), 30)]
    for cell in (0, 1):
        shift = adjust(p, cell, everything, everything, value).shift
        assert np.abs(shift).max() <= most_shift(p)


def lying(shown: Disclosure, **changes: object) -> Disclosure:
    """Say something else, and see that devices would accept it."""
    false = shown.model_copy(update=changes)
    check_numbers(false)
    return false


def test_a_lie_about_spreads_reads_no_more_than_one_about_levels() -> None:
    """People who are alike in all; the analyst says otherwise, as far as devices let it."""
    profiles = learned_from(spread_people(1200, 0, (0.1, 0.1)), "cmp")
    everyone = population(spread_people(1200, 1, (0.1, 0.1)))
    few = everyone.item < 8
    people = replace(
        everyone, user=everyone.user[few], item=everyone.item[few], value=everyone.value[few]
    )
    protocol = LearningProtocol("cmp", spread=True)
    honest = protocol.disclose(profiles)
    assert honest.prior is not None

    def reads(shown: Disclosure) -> float:
        sent = protocol.report(shown, profiles, people, np.random.default_rng(2))
        of_person = np.add.reduceat(sent.value, sent.user_offsets[:-1])
        found = [auc(x, people.category) for x in (of_person, spread_of(sent, profiles))]
        return max(abs(area - 0.5) for area in found)

    apart = as_rows(np.array([[[-ONE // 8, ONE // 8], [ONE // 8, ONE // 8]]]))
    spreads = lying(honest, prior=honest.prior.model_copy(update={"spread": apart}))
    levels = np.array(honest.levels)
    for cell, ends in ((0, slice(2)), (1, slice(-2, None))):  # two levels down, and two up
        beyond = levels[:, cell, ends].sum(axis=1)
        levels[:, cell, ends] = 0
        levels[:, cell] = np.roll(levels[:, cell], -2 if cell == 0 else 2, axis=1)
        levels[:, cell, 0 if cell == 0 else -1] += beyond
    assert reads(honest) < 0.05
    assert reads(spreads) > 0.1  # a lie within the limits is one that still reads something
    assert reads(spreads) < reads(lying(honest, levels=as_rows(levels)))
    farther = as_rows(np.array([[[-ONE // 8 - 1, ONE // 8], [ONE // 8, ONE // 8]]]))
    with pytest.raises(RefusedError, match="too far apart"):
        lying(honest, prior=honest.prior.model_copy(update={"spread": farther}))
