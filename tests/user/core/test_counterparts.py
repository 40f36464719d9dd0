"""What a device makes of one person's position: the mode, her counterparts, and their limits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from midpoint.errors import MidpointError
from midpoint.user import (
    PURPOSES,
    Adjustment,
    Parameters,
    adjust,
    obfuscate,
    reveal_probability,
)
from midpoint.user.core.coins import MIX, REVEAL, SPLIT, VALUE
from midpoint.user.core.counterparts import (
    Counterparts,
    adjustment_of,
    counterparts,
    expected_of,
    stratum_of,
    value_shift,
)
from midpoint.user.core.discrete import split
from midpoint.user.parameters import PositionModel
from midpoint.wire import GRAIN, ONE, SCHEMES, to_fixed
from midpoint.wire.limits import LEAST_REVEAL, most_spread
from tests.support.people.made_up import STARS, disclosure
from tests.support.people.nature import Float, Nature, People, disclose

Index = np.ndarray[tuple[int], np.dtype[np.intp]]
MOST = most_spread(4 * ONE)


def model_of(nature: Nature, scheme: str = "cmpss") -> PositionModel:
    model = Parameters.of(disclose(nature, scheme, STARS)).positions
    assert model is not None
    return model


def minimized(model: PositionModel, cell: int, rated: Index, value: Float) -> Float:
    """Find the mode by a general minimizer: sets by the logit model, values normal, a prior."""
    d = model.selection.shape[1]
    selection, rate = model.selection / GRAIN, model.rate[:, cell] / GRAIN
    taste, rest = model.taste[rated] / GRAIN, value - model.base[rated, cell] / GRAIN

    def loss(z: Float) -> tuple[float, Float]:
        logit, error, away = (
            rate + selection @ z[:d],
            rest - taste @ z[d:],
            z - model.mean[0, cell],
        )
        pull = model.precision[0, cell] @ away
        total = away @ pull / 2 + np.logaddexp(0, logit).sum() - logit[rated].sum()
        pull[:d] += (1 / (1 + np.exp(-logit))) @ selection - selection[rated].sum(axis=0)
        pull[d:] -= taste.T @ error / model.noise
        return float(total + error @ error / model.noise / 2), pull

    start = model.mean[0, cell]
    found: Float = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7}).x
    return found


def counterparts_by_hand(model: PositionModel, cell: int, z: Float) -> Counterparts:
    d = model.selection.shape[1]
    rounded = np.floor(z * GRAIN + 0.5) / GRAIN
    others = np.stack(
        [
            model.mean[0, m] + model.map[0, cell, m] @ (rounded - model.mean[0, cell])
            for m in range(model.mean.shape[1])
        ]
    )
    move = others[:, d:].mean(axis=0) - rounded[d:]
    return Counterparts(
        np.floor(others[:, :d] * GRAIN + 0.5).astype(np.int64),
        np.floor(move * GRAIN + 0.5).astype(np.int64),
    )


def far_apart(one: Counterparts, other: Counterparts) -> int:
    """Return by how many 256ths they differ at most."""
    selection_factors, move = (
        np.abs(one.selection - other.selection),
        np.abs(one.move - other.move),
    )
    return int(max(selection_factors.max(initial=0), move.max(initial=0)))


SIZES = [(60, 2, 2, 3, -2.0), (200, 3, 4, 6, -1.0), (40, 2, 0, 3, 0.0), (80, 4, 1, 1, -3.0)]


@pytest.mark.parametrize(("M", "K", "d", "r", "usual"), SIZES)
def test_the_steps_reach_the_mode(M: int, K: int, d: int, r: int, usual: float) -> None:
    rng = np.random.default_rng(M)
    nature = Nature.draw(rng, (M, K, d, r), usual=usual)
    model = model_of(nature, "cmpss" if d else "cmp")
    people = People.draw(nature, 20, rng, STARS)
    moved = 0
    for i in range(20):
        part, cell = slice(people.starts[i], people.starts[i + 1]), int(people.category[i])
        rated, value = people.item[part], people.value[part]
        found = counterparts(model, cell, np.arange(M), rated, value)
        mode = minimized(model, cell, rated, value / ONE)
        assert far_apart(found, counterparts_by_hand(model, cell, mode)) <= 2
        start = counterparts_by_hand(model, cell, model.mean[0, cell])
        moved += far_apart(found, start) > GRAIN // 8
    assert moved > 9  # the control: where the steps start is not where they end


def active(rng: np.random.Generator) -> Nature:
    """A thousand titles, rarely rated; by a selection factor people differ a hundredfold."""
    nature = Nature.draw(rng, (1000, 2, 3, 2), usual=-4.0, contrast=0.5)
    nature.selection[:, 0] = 1 + np.rint(nature.selection[:, 0] * GRAIN / 4) / GRAIN
    return nature


@pytest.mark.slow
def test_the_steps_reach_the_mode_of_the_most_active_and_the_least() -> None:
    rng = np.random.default_rng(1)
    nature = active(rng)
    model, people = model_of(nature), People.draw(nature, 60, rng, STARS)
    number = np.diff(people.starts)
    assert number.max() > 50 * max(1, number.min())
    for i in range(60):
        part, cell = slice(people.starts[i], people.starts[i + 1]), int(people.category[i])
        rated, value = people.item[part], people.value[part]
        found = counterparts(model, cell, np.arange(1000), rated, value)
        mode = minimized(model, cell, rated, value / ONE)
        assert far_apart(found, counterparts_by_hand(model, cell, mode)) <= 2


@pytest.mark.parametrize("everything", [False, True])
def test_who_rated_nothing_or_everything_has_a_position_too(everything: bool) -> None:
    nature = Nature.draw(np.random.default_rng(4), (60, 2, 2, 3), usual=-2.0)
    model, items = model_of(nature), np.arange(60)
    rated = items[: 60 if everything else 0]
    for star in (1, 5):
        for cell in (0, 1):
            value = np.full(len(rated), star * ONE)
            found = counterparts(model, cell, items, rated, value)
            mode = minimized(model, cell, rated, value / ONE)
            assert far_apart(found, counterparts_by_hand(model, cell, mode)) <= 2


def test_who_was_asked_nothing_is_at_the_mean_of_her_category() -> None:
    model, none = model_of(Nature.draw(np.random.default_rng(4), (9, 3, 2, 2))), np.arange(0)
    for cell in range(3):
        found = counterparts(model, cell, none, none, none)
        assert far_apart(found, counterparts_by_hand(model, cell, model.mean[0, cell])) == 0
    asked = counterparts(model, 0, np.arange(9), none, none)  # asked, she left it out
    assert far_apart(asked, counterparts(model, 0, none, none, none)) > 0


def test_what_was_not_asked_about_says_nothing() -> None:
    model = model_of(Nature.draw(np.random.default_rng(4), (20, 2, 2, 2)))
    rated, value = np.arange(5), np.full(5, 4 * ONE)
    some = counterparts(model, 0, np.arange(10), rated, value)
    changed = replace(model, rate=np.where(np.arange(20)[:, None] < 10, model.rate, 2000))
    assert far_apart(counterparts(changed, 0, np.arange(10), rated, value), some) == 0
    assert far_apart(counterparts(changed, 0, np.arange(20), rated, value), some) > 0


def test_equal_priors_change_nothing_but_single_items() -> None:
    """With one prior for both, everyone is her own counterpart: only rates and levels act."""
    nature = Nature.draw(np.random.default_rng(2), (30, 2, 2, 3), contrast=0.0)
    people = People.draw(nature, 50, np.random.default_rng(3), STARS)
    own = people.adjustment(Parameters.of(disclose(nature, "cmpss", STARS)))
    assert (own.reveal == ONE).all()
    assert not own.shift.any()
    assert not own.move.any()
    rates = replace(nature, rate=nature.rate + np.array([0.0, 1.0]))
    own = people.adjustment(Parameters.of(disclose(rates, "cmpss", STARS)))
    second = people.category[people.person] == 1
    assert (own.reveal[~second] == ONE).all()
    assert (own.reveal[second] < ONE).all()


def test_a_reveal_probability_is_the_least_over_the_counterparts_against_ones_own() -> None:
    nature = Nature.draw(np.random.default_rng(6), (50, 3, 2, 1))
    model, items = model_of(nature), np.arange(50)
    selection_factors = np.array([[0, 100], [-300, 256], [50, -700]])
    logit = nature.rate + nature.selection @ (selection_factors / GRAIN).T
    p = 1 / (1 + np.exp(-logit))
    for cell in range(3):
        found = reveal_probability(model, cell, items, selection_factors)
        exact = np.maximum(p.min(axis=1) / p[:, cell] * ONE, LEAST_REVEAL)
        assert np.abs(found - exact).max() <= 0.5 + 1e-6
        assert (found == ONE).any()
        assert (found < ONE).any()


def test_rates_alone_are_levelled_too() -> None:
    nature = Nature.draw(np.random.default_rng(6), (50, 2, 0, 1))
    model, items = model_of(nature), np.arange(50)
    p = 1 / (1 + np.exp(-nature.rate))
    for cell in range(2):
        found = reveal_probability(model, cell, items, np.zeros((2, 0), dtype=np.int64))
        assert np.abs(found - p.min(axis=1) / p[:, cell] * ONE).max() <= 0.5 + 1e-6


def test_an_item_is_revealed_at_least_once_in_sixty_four_and_moves_by_a_limit() -> None:
    nature = Nature.draw(np.random.default_rng(7), (50, 2, 2, 2))
    apart = replace(nature, mean=np.array([[-30.0] * 4, [30.0] * 4]))
    for nearer, wild in ((nature, False), (apart, True)):
        people = People.draw(nature, 40, np.random.default_rng(8), STARS)
        parameters = Parameters.of(disclose(nearer, "cmpss", STARS))
        own = people.adjustment(parameters)
        assert own.reveal.min() >= LEAST_REVEAL
        assert own.reveal.max() <= ONE
        assert np.abs(own.shift).max() <= MOST
        assert (own.reveal.min() == LEAST_REVEAL) == wild
        assert (np.abs(own.shift).max() > MOST / 3) == wild
        coins = np.random.default_rng(9).random((len(people.item), 4))
        cell = people.category[people.person]
        done = obfuscate(people.item, people.value, cell, parameters, coins, own)
        assert set(done.value.tolist()) <= set(STARS)


@pytest.mark.parametrize("scheme", ["cmp", "cmpss"])
def test_nothing_is_released_for_want_of_an_adjustment(scheme: str) -> None:
    item, value, coins = np.arange(3), np.full(3, 3 * ONE), np.zeros((3, 4))
    p, plain = Parameters.of(disclosure(scheme)), Parameters.of(disclosure("dmpss"))
    adjustment = adjust(p, 0, np.arange(12), item, value)
    assert len(obfuscate(item, value, 0, p, coins, adjustment).value) == 3
    with pytest.raises(MidpointError, match="adjusts to each person"):
        Adjustment.identity(p, item, 0)
    with pytest.raises(MidpointError, match="of these 3 ratings"):
        obfuscate(item, value, 0, p, coins, adjustment.of(np.arange(2)))
    moving = given(3, ONE, ONE)
    with pytest.raises(MidpointError, match="moves no values"):
        obfuscate(item, value, 0, plain, coins, moving)
    with pytest.raises(MidpointError, match="no counterparts"):
        adjustment_of(
            plain, 0, item, Counterparts(np.zeros((2, 2), np.int64), np.zeros(2, np.int64))
        )
    with pytest.raises(MidpointError, match="moves no values"):
        value_shift(plain, np.zeros(2, np.int64), item)


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if not SCHEMES[name].counterparts])
def test_without_counterparts_the_adjustment_is_the_identity(scheme: str) -> None:
    shown, item = disclosure(scheme), np.array([3, 1, 7])
    p = Parameters.of(shown)
    for cell in (0, 1):
        found = adjust(p, cell, np.arange(12), item, np.full(3, 3 * ONE))
        wanted = [ONE] * 3 if shown.reveal is None else [shown.reveal[j][cell] for j in item]
        assert found.reveal.tolist() == wanted
        assert found.shift.tolist() == [0, 0, 0]
        assert found.move.shape == (0,)
        assert not value_shift(p, found.move, item).any()


def test_a_rating_between_levels_cannot_be_moved() -> None:
    p = Parameters.of(disclosure("cmp"))
    still = given(1, ONE, 0)
    with pytest.raises(MidpointError, match="not a level of the scale"):
        obfuscate(np.array([0]), to_fixed([2.5]), 0, p, np.zeros((1, 4)), still)


def given(n: int, reveal: int, shift: int) -> Adjustment:
    return Adjustment(np.full(n, reveal), np.full(n, shift), np.zeros(2, np.int64))


def test_a_moved_value_goes_to_its_neighbours_unbiased_by_a_coin_of_its_own() -> None:
    shown = disclose(Nature.draw(np.random.default_rng(0), (1, 2, 0, 1)), "cmp", STARS)
    p, n = Parameters.of(shown), 4096
    coins = np.full((n, len(PURPOSES)), 0.5)
    coins[:, MIX] = (np.arange(n) + 0.5) / n
    item, value = np.zeros(n, dtype=np.intp), np.full(n, 3 * ONE)
    for shift in (-ONE // 4, ONE // 3, ONE + ONE // 8, 3 * ONE):
        sent = obfuscate(item, value, 0, p, coins, given(n, ONE, shift)).value
        there = min(3 * ONE + shift, 5 * ONE)
        assert sent.mean() == pytest.approx(there, abs=ONE / n)
        assert np.abs(sent - there).max() < ONE
    for other in (VALUE, SPLIT, REVEAL):
        still = np.full((n, len(PURPOSES)), 0.5)
        still[:, other] = (np.arange(n) + 0.5) / n
        sent = obfuscate(item, value, 0, p, still, given(n, ONE, ONE // 3)).value
        assert len(set(sent.tolist())) == 1


def test_what_is_obfuscated_does_not_depend_on_how_much_is() -> None:
    """Given u_mix < alpha, u_mix / alpha is uniform; the control takes u_mix as it is."""
    shown = disclose(Nature.draw(np.random.default_rng(0), (1, 2, 0, 1)), "cmp", STARS)
    p, n, shift = Parameters.of(shown), 60_000, 3 * ONE // 5
    coins = np.random.default_rng(5).random((n, len(PURPOSES)))
    item, value = np.zeros(n, dtype=np.intp), np.full(n, 3 * ONE)
    for alpha in (1.0, 0.5, 0.2):
        chosen = coins[:, MIX] < alpha
        sent = obfuscate(item, value, 0, p, coins, given(n, ONE, shift), alpha).value
        assert (sent[~chosen] == 3 * ONE).all()
        error = 4 * np.sqrt(0.24 / chosen.sum())
        assert (sent[chosen] == 4 * ONE).mean() == pytest.approx(0.6, abs=error)
        naive = split(value + shift, np.asarray(STARS), coins[:, MIX])[chosen]
        assert ((naive == 4 * ONE).mean() > 0.6 + error) == (alpha < 1)


def in_two_strata(model: PositionModel, least: int) -> PositionModel:
    """Put heavy raters into a stratum of their own, with another prior."""
    return replace(
        model,
        least=np.array([[0] * 2, [least] * 2]),
        mean=np.concatenate([model.mean, model.mean + 0.5]),
        precision=np.repeat(model.precision, 2, axis=0),
        map=np.repeat(model.map, 2, axis=0),
    )


@pytest.mark.parametrize("cell", [0, 1])
@pytest.mark.parametrize("rated", [0, 1, 12, 40])
def test_the_stratum_is_the_last_whose_least_activity_is_reached(rated: int, cell: int) -> None:
    model = model_of(Nature.draw(np.random.default_rng(1), (40, 2, 2, 2)))
    asked, item = np.arange(40), np.arange(rated)
    value = np.full(rated, 3 * ONE)
    expected = (1 / (1 + np.exp(-model.rate[:, cell] / GRAIN))).sum()
    activity = int(np.floor(256 * (rated + 8) / (expected + 8) + 0.5))
    light, heavy = model, replace(model, mean=model.mean + 0.5)
    for least, alone in ((activity, heavy), (activity + 1, light)):
        found = counterparts(in_two_strata(model, least), cell, asked, item, value)
        wanted = counterparts(alone, cell, asked, item, value)
        assert np.array_equal(found.selection, wanted.selection)
        assert np.array_equal(found.move, wanted.move)
    assert not np.array_equal(
        counterparts(light, cell, asked, item, value).selection,
        counterparts(heavy, cell, asked, item, value).selection,
    )


def test_who_was_asked_a_handful_is_in_one_stratum_whatever_she_rated() -> None:
    """By damping; the control was asked about everything."""
    model = model_of(Nature.draw(np.random.default_rng(1), (400, 2, 2, 2)))
    two, one = in_two_strata(model, 3 * GRAIN // 2), in_two_strata(model, 2**30)
    for asked, fine in ((3, True), (400, False)):
        item = np.arange(asked)
        value = np.full(asked, 3 * ONE)
        found, light = (counterparts(m, 0, item, item, value) for m in (two, one))
        assert np.array_equal(found.selection, light.selection) == fine


def test_false_rates_do_not_part_the_strata_of_categories() -> None:
    """Asked about what one category is said to rate more, people differ by a factor of two at most.

    The control: by activity alone, as honest rates compare it, they would differ by far more.
    """
    model = model_of(Nature.draw(np.random.default_rng(1), (400, 2, 2, 2)))
    rate = np.tile([3 * GRAIN, -4 * GRAIN], (400, 1))
    rate[200:] = rate[200:, ::-1]
    two = replace(in_two_strata(model, GRAIN), rate=rate)
    expected = expected_of(two, np.arange(200))
    begins = [min(n for n in range(201) if stratum_of(two, k, n, expected) == 1) for k in (0, 1)]
    honest = np.ceil(expected).astype(int)
    assert begins[1] == honest[1] < 10
    assert begins[0] + 8 == np.ceil(2 * (expected[1] + 8)) < (honest[0] + 8) / 8
    together = stratum_of(two, np.repeat([0, 1], 201), np.tile(np.arange(201), 2), expected)
    assert [int((together[:201] == 0).sum()), int((together[201:] == 0).sum())] == begins


@pytest.mark.parametrize("shape", [(30, 2, 3, 2), (30, 3, 2, 2)])
def test_someone_and_her_counterpart_reveal_equally_often_and_move_to_one_position(
    shape: tuple[int, int, int, int],
) -> None:
    """p_jk(t_k) reveal_jk = min_m p_jm(t_m), whichever of the counterparts she is."""
    nature = Nature.draw(np.random.default_rng(3), shape)
    model = Parameters.of(disclose(nature, "cmpss", STARS)).positions
    assert model is not None
    d, items = nature.selection.shape[1], np.arange(shape[0])
    position = nature.mean[0] + np.random.default_rng(4).normal(size=nature.mean.shape[1])
    others = model.mean[0] + model.map[0, 0] @ (position - model.mean[0, 0])
    selection_factors = np.rint(others[:, :d] * GRAIN).astype(np.int64)
    p = 1 / (1 + np.exp(-(nature.rate + nature.selection @ (selection_factors / GRAIN).T)))
    for k in range(shape[1]):
        reveal = reveal_probability(model, k, items, selection_factors) / ONE
        assert p[:, k] * reveal == pytest.approx(p.min(axis=1), abs=1e-4)
        back = model.mean[0] + model.map[0, k] @ (others[k] - model.mean[0, k])
        if shape[1] == 2:  # maps that were made here do not compose among more
            assert back == pytest.approx(others, abs=1e-3)
    assert np.abs(p - p.min(axis=1, keepdims=True)).max() > 0.1  # the control: not by nature


def test_keep_probabilities_multiply_what_is_revealed() -> None:
    shown = disclosure("cmpss")
    keep = tuple(ONE * (j % 3) // 2 for j in range(len(shown.items)))
    fewer = shown.model_copy(update={"keep": keep, "leak": ONE})
    asked = np.arange(len(shown.items))
    value = np.full(len(asked), 3 * ONE)
    whole, part = (adjust(Parameters.of(d), 0, asked, asked, value).reveal for d in (shown, fewer))
    assert (part == (whole * np.array(keep) + ONE // 2) // ONE).all()
    assert (part[1::3] < whole[1::3]).all()
    assert (part[2::3] == whole[2::3]).all()
    assert (part[::3] == 0).all()
