"""Positions of sets: devices arrive at the mode, and what it says goes to the scores."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.user import Parameters, PrivateCategory, adjust, correct, value_shift
from midpoint.user.core import counterparts as steps
from midpoint.user.core.counterparts import chance, evidence_of, own_part
from midpoint.user.parameters import PositionModel
from midpoint.wire import GRAIN, ONE, Scores
from tests.support.people.made_up import disclosure
from tests.support.people.made_up_positions import counterparts_disclosure
from tests.support.vectors.positions import with_weight

ITEMS, FACTORS, PEOPLE = 600, 36, 40
HER = PrivateCategory({"gender": "F"})


def many_factors() -> PositionModel:
    """Rare items, and as many selection factors as real sets have."""
    sets = counterparts_disclosure(n_items=ITEMS, selection_factors=FACTORS, taste_factors=0)
    model = Parameters.of(with_weight(sets, ONE)).positions
    assert model is not None
    drawn = np.random.default_rng(0).normal(size=(ITEMS, FACTORS))
    return replace(
        model,
        rate=np.full_like(model.rate, -6 * GRAIN),
        selection=np.rint(GRAIN * drawn).astype(np.int64),
        precision=np.tile(2 * np.eye(FACTORS), (1, 2, 1, 1)),
    )


def slopes(model: PositionModel) -> NDArray[np.float64]:
    """Return the steepest slope where each person's steps end: 0 at the mode."""
    steepest, selection = [], model.selection / GRAIN
    for person in range(PEOPLE):
        rng = np.random.default_rng(person)
        p = chance((model.rate[:, 0] + model.selection @ rng.normal(0, 0.7, FACTORS)) / GRAIN)
        rated = np.flatnonzero(rng.random(ITEMS) < p)
        evidence = evidence_of(model, 0, 0, rated, np.full(len(rated), ONE))
        z = steps._mode(model, 0, 0, np.arange(ITEMS), evidence)
        p = chance(model.rate[:, 0] / GRAIN + selection @ z)
        steepest.append(np.abs(evidence.pull - evidence.curvature @ z - p @ selection).max())
    return np.array(steepest)


def test_devices_of_sets_arrive_at_the_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    model = many_factors()
    assert slopes(model).max() < 1e-6
    monkeypatch.setattr(steps, "MOST_CHANGE", 64.0)
    assert slopes(model).max() > 1  # the control: by whole steps some people never do


def test_a_device_keeps_its_position_and_adds_what_it_says() -> None:
    shown = with_weight(
        counterparts_disclosure(n_items=30, selection_factors=3, taste_factors=0), ONE // 2
    )
    parameters, rated = Parameters.of(shown), np.array([1, 4, 7, 9])
    hers = adjust(parameters, 0, np.arange(30), rated, np.full(4, ONE))
    assert hers.move.shape == (3,)
    assert not hers.shift.any()
    assert not value_shift(parameters, hers.move, rated).any()
    assert shown.rate is not None
    assert shown.selection is not None
    logit = np.array(shown.rate)[:, 0] / GRAIN
    logit += np.array(shown.selection) @ hers.move / GRAIN**2
    added = own_part(parameters, 0, hers.move, np.arange(30))
    assert added == pytest.approx(ONE / 2 / (1 + np.exp(-logit)), abs=1)

    flat = Scores(disclosure=shown.digest, items=shown.items, score=(0,) * 30, deviation=(1,) * 30)
    bare = {one.item: one.score for one in correct(flat, shown, HER, (), ())}
    full = {one.item: one.score for one in correct(flat, shown, HER, (), hers.move.tolist())}
    known = {item: j for j, item in enumerate(shown.items)}
    assert all(full[item] - bare[item] == added[known[item]] for item in shown.items)


def test_nothing_is_added_before_she_gave_anything_or_without_a_weight() -> None:
    sets = counterparts_disclosure(n_items=5, selection_factors=2, taste_factors=0)
    weighed = Parameters.of(with_weight(sets, ONE))
    none = adjust(weighed, 0, np.arange(5), np.zeros(0, np.intp), np.zeros(0, np.int64))
    assert none.move.tolist() == [0, 0]
    assert not own_part(weighed, 0, np.zeros(0, np.int64), np.arange(5)).any()
    plain = Parameters.of(disclosure("dmpss", n_items=5))
    assert not own_part(plain, 0, np.array([1, 2]), np.arange(5)).any()
    with pytest.raises(MidpointError, match="moves no values"):
        value_shift(plain, np.array([1, 2]), np.arange(5))
