"""Populations are adjusted as each person's own device adjusts: the contract between the two.

The two add up in another order, so that modes may differ in their last bits. They are rounded to
1/256 (1/65536 for probabilities) before they are used, and a difference would show only where a
mode lies within 1e-12 or so of the middle between two multiples. So the integers are held equal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.protocol import positions
from midpoint.protocol.positions import adjust_population, spread_factors
from midpoint.user import Parameters, adjust
from midpoint.user.core.counterparts import Counterparts, counterparts, spread_factor
from midpoint.wire import SCHEMES, Disclosure
from tests.support.people.made_up import AGE, GENDER, STARS, disclosure
from tests.support.people.made_up_positions import counterparts_disclosure, real_size
from tests.support.people.nature import Nature, People, disclose

Index = NDArray[np.intp]
PEOPLE = 24
DISCLOSURES = {
    "values": counterparts_disclosure("cmp", n_items=40, seed=1),
    "sets": counterparts_disclosure("cmpss", n_items=40, seed=2),
    "joint cells": counterparts_disclosure("cmpss", (GENDER, AGE), n_items=40, seed=3),
    "strata": counterparts_disclosure("cmpss", (AGE,), n_items=40, seed=4, strata=2),
    "taste selects": counterparts_disclosure("cmpss", n_items=40, seed=5, choose=True),
    "strong": counterparts_disclosure("cmpss", n_items=40, seed=6, reach=8.0),
    "log spreads": counterparts_disclosure("cmp", n_items=40, seed=7, spread=True),
    "log spreads in strata": counterparts_disclosure(
        "cmpss", (AGE,), n_items=40, seed=8, strata=2, spread=True
    ),
    "real size": real_size(),
    **{name: disclosure(name, n_items=40) for name in SCHEMES if not SCHEMES[name].counterparts},
}


@dataclass(frozen=True, eq=False)
class Crowd:
    """People who were asked about some items each, and rated some of those."""

    category: Index
    starts: Index
    item: Index
    value: NDArray[np.int64]
    asked: list[Index]

    @classmethod
    def draw(cls, shown: Disclosure, seed: int, *, everything: bool) -> "Crowd":
        rng, M = np.random.default_rng(seed), len(shown.items)
        size = np.full(PEOPLE, M) if everything else rng.integers(1, M + 1, PEOPLE)
        asked = [np.sort(rng.permutation(M)[:n]) for n in size]
        share = np.append([0.0, 1.0], rng.uniform(0, 1, PEOPLE - 2))
        rated = [a[rng.random(len(a)) < p] for a, p in zip(asked, share, strict=True)]
        item = np.concatenate(rated)
        starts = np.append(0, np.cumsum([len(r) for r in rated]))
        value = rng.choice(np.asarray(shown.scale.levels), len(item))
        return cls(rng.integers(0, shown.n_cells, PEOPLE), starts, item, value, asked)


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("name", DISCLOSURES)
def test_a_population_is_adjusted_as_each_of_its_people_is(name: str, everything: bool) -> None:
    shown = DISCLOSURES[name]
    crowd, p = Crowd.draw(shown, 7, everything=everything), Parameters.of(shown)
    asked = None if everything else crowd.asked
    rated = crowd.starts, crowd.item, crowd.value, crowd.category
    together = adjust_population(p, *rated, asked)
    for i in range(PEOPLE):
        part = slice(crowd.starts[i], crowd.starts[i + 1])
        cell, about = int(crowd.category[i]), crowd.asked[i]
        alone = adjust(p, cell, about, crowd.item[part], crowd.value[part])
        assert np.array_equal(alone.reveal, together.reveal[part])
        assert np.array_equal(alone.shift, together.shift[part])
        assert np.array_equal(alone.move, together.move[i])
    if SCHEMES[shown.scheme].counterparts:  # the control: it is about something
        assert together.move.any()
        assert len(np.unique(together.shift)) > PEOPLE
    else:
        assert together.move.shape == (PEOPLE, 0)


@pytest.mark.parametrize(("at_once", "near"), [(256, 4e-3), (7, 4e-3), (1, 4e-3), (256, 0.0)])
def test_the_size_of_groups_changes_nothing(
    at_once: int, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are taken together, and whether or not they are left to the one-person code."""
    monkeypatch.setattr(positions, "AT_ONCE", at_once)
    monkeypatch.setattr(positions, "NEAR", near)
    nature = Nature.draw(np.random.default_rng(3), (30, 3, 2, 2))
    people = People.draw(nature, 30, np.random.default_rng(4), STARS)
    p = Parameters.of(disclose(nature, "cmpss", STARS))
    together = people.adjustment(p)
    for i in range(30):
        part = slice(people.starts[i], people.starts[i + 1])
        rated, value = people.item[part], people.value[part]
        alone = adjust(p, int(people.category[i]), np.arange(30), rated, value)
        assert np.array_equal(alone.reveal, together.reveal[part])
        assert np.array_equal(alone.shift, together.shift[part])
        assert np.array_equal(alone.move, together.move[i])


def test_what_was_asked_counts() -> None:
    """The control: asked about all of it, the same ratings say something else."""
    shown = DISCLOSURES["sets"]
    crowd, p = Crowd.draw(shown, 8, everything=False), Parameters.of(shown)
    rated = crowd.starts, crowd.item, crowd.value, crowd.category
    some, everything = adjust_population(p, *rated, crowd.asked), adjust_population(p, *rated)
    assert not np.array_equal(some.move, everything.move)


def test_people_near_their_mode_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody of usual size, or far off, is left to the one-person code; all are if none is near."""
    alone: list[int] = []

    def counted(*given: Any) -> Counterparts:
        alone.append(1)
        return counterparts(*given)

    monkeypatch.setattr(positions, "counterparts", counted)
    for near in (positions.NEAR, 0.0):
        monkeypatch.setattr(positions, "NEAR", near)
        for name in ("real size", "strong"):
            shown = DISCLOSURES[name]
            crowd, p = Crowd.draw(shown, 7, everything=True), Parameters.of(shown)
            alone.clear()
            adjust_population(p, crowd.starts, crowd.item, crowd.value, crowd.category)
            assert bool(alone) == (not near)


def test_single_precision_alone_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: positions that are near their modes only give other integers here and there."""
    crowd, p = (
        Crowd.draw(DISCLOSURES["real size"], 7, everything=True),
        Parameters.of(DISCLOSURES["real size"]),
    )
    rated = crowd.starts, crowd.item, crowd.value, crowd.category
    exact = adjust_population(p, *rated)
    monkeypatch.setattr(positions, "NEAR", 1.0)
    monkeypatch.setattr(positions, "STILL", 1.0)
    rough = adjust_population(p, *rated)
    assert not np.array_equal(exact.move, rough.move)


def test_everyone_has_the_spread_factor_of_her_own_device() -> None:
    rng = np.random.default_rng(3)
    spread = np.column_stack([rng.normal(0, 0.3, 9), rng.uniform(0.1, 0.5, 9)])
    count, square = rng.integers(1, 300, 200), rng.exponential(100, 200)
    for cell in (0, 8):
        alone = [
            spread_factor(spread, cell, n, s)
            for n, s in zip(count.tolist(), square.tolist(), strict=True)
        ]
        assert spread_factors(spread, cell, count, square).tolist() == alone
        assert len(set(alone)) > 2
