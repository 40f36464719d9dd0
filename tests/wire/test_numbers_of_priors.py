"""A prior that no honest analyst sends is refused; one that is accepted stops no device."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from midpoint.user import DeviceSecret, Ledger, PrivateCategory, check_numbers, decide
from midpoint.wire import GRAIN, ONE, Disclosure, Prior, Refusal, RefusedError, as_rows, numbers
from tests.support.people.made_up import STARS, accepted, solicitation
from tests.support.people.nature import Nature, disclose

HONEST = disclose(Nature.draw(np.random.default_rng(1), (6, 2, 2, 2)), "cmpss", STARS)
LEAST = ONE // 64
"""The least precision, in fixed point."""


def prior(**changes: Any) -> Prior:
    assert HONEST.prior is not None
    return HONEST.prior.model_copy(update=changes)


def array(name: str) -> Any:
    return np.array(getattr(HONEST.prior, name))


def code_of(**changes: Any) -> Refusal | None:
    try:
        check_numbers(HONEST.model_copy(update=changes))
    except RefusedError as refused:
        return refused.code
    return None


def first_of(name: str, number: int) -> Any:
    """Return a column whose first number is another."""
    rows = np.array(getattr(HONEST, name))
    rows[0, 0] = number
    return as_rows(rows)


def entry(name: str, index: tuple[int, ...], number: int) -> Prior:
    """Return the prior with one other number."""
    numbers = array(name)
    numbers[index] = number
    return prior(**{name: as_rows(numbers)})


def test_an_honest_prior_is_accepted() -> None:
    assert code_of() is None
    assert code_of(prior=prior()) is None


@pytest.mark.parametrize(
    ("column", "most"),
    [
        ("rate", 32 * GRAIN),
        ("rate", -32 * GRAIN),
        ("selection", 32 * GRAIN),
        ("selection", -32 * GRAIN),
        ("taste", 8 * GRAIN),
        ("taste", -8 * GRAIN),
        ("base", 9 * GRAIN),
        ("base", -3 * GRAIN),
    ],
)
def test_numbers_of_items_have_their_limits(column: str, most: int) -> None:
    """Bases up to a range of 4 beyond the scale of 1 to 5, tastes up to twice that."""
    beyond = most + (1 if most > 0 else -1)
    assert code_of(**{column: first_of(column, most)}) is None
    assert code_of(**{column: first_of(column, beyond)}) == Refusal.BAD_POSITIONS
    with pytest.raises(RefusedError, match="'item-0000'"):
        check_numbers(HONEST.model_copy(update={column: first_of(column, beyond)}))


@pytest.mark.parametrize("sign", [1, -1])
def test_means_have_theirs(sign: int) -> None:
    assert code_of(prior=entry("mean", (0, 0, 0), sign * 64 * ONE)) is None
    assert code_of(prior=entry("mean", (0, 0, 0), sign * (64 * ONE + 1))) == Refusal.BAD_POSITIONS


@pytest.mark.parametrize(
    ("number", "fine"),
    [(4 * ONE, True), (4 * ONE + 1, False), (ONE // 8 + 1, True), (ONE // 8, False), (-ONE, False)],
)
def test_a_map_stretches_little_and_reverses_nothing(number: int, fine: bool) -> None:
    plain = array("map")
    plain[:] = np.eye(plain.shape[-1], dtype=np.int64) * ONE
    plain[0, 1, 0, 2, 2] = number
    assert code_of(prior=prior(map=as_rows(plain))) == (None if fine else Refusal.BAD_POSITIONS)


@pytest.mark.parametrize("noise", [0, -1, -ONE])
def test_noise_is_positive(noise: int) -> None:
    assert code_of(prior=prior(noise=noise)) == Refusal.BAD_POSITIONS
    assert code_of(prior=prior(noise=ONE // 4)) is None


def test_a_map_to_ones_own_category_changes_nothing() -> None:
    for k in (0, 1):
        for index, number in (((0, k, k, 0, 0), ONE - 1), ((0, k, k, 0, 1), 1)):
            assert code_of(prior=entry("map", index, number)) == Refusal.BAD_POSITIONS
    assert code_of(prior=entry("map", (0, 0, 1, 0, 0), ONE - 1)) is None


def test_a_precision_is_symmetric() -> None:
    number = int(array("precision")[0, 1, 0, 2])
    assert code_of(prior=entry("precision", (0, 1, 0, 2), number + 1)) == Refusal.BAD_POSITIONS
    both = array("precision")
    both[0, 1, 0, 2] = both[0, 1, 2, 0] = number + 1
    assert code_of(prior=prior(precision=as_rows(both))) is None


def test_a_precision_has_a_least_in_all_directions() -> None:
    unit = np.eye(4, dtype=np.int64)
    tilted = ONE * unit
    tilted[0, 1] = tilted[1, 0] = ONE - LEAST
    for precision, fine in (
        (ONE * unit, True),
        ((LEAST + 1) * unit, True),
        (LEAST * unit, False),
        (0 * unit, False),
        (-ONE * unit, False),
        (tilted - unit * (LEAST // 2), False),
        (tilted + unit, True),
        (ONE - ONE * unit, False),  # symmetric, with positive and negative directions
    ):
        for k in (0, 1):
            both = array("precision")
            both[0, k] = precision
            assert code_of(prior=prior(precision=as_rows(both))) == (
                None if fine else Refusal.BAD_POSITIONS
            )


@pytest.mark.parametrize(
    ("least", "fine"),
    [
        ((0, 0), True),
        ((2**39, 2**40), True),
        ((2**39, 2**40 + 1), False),
        ((-1, 5), False),
    ],
)
def test_strata_ascend_from_nothing(least: tuple[int, int], fine: bool) -> None:
    twice = {name: getattr(prior(), name) * 2 for name in ("mean", "precision", "map")}
    two = prior(least=((0, 0), least), **twice)
    assert code_of(prior=two) == (None if fine else Refusal.BAD_POSITIONS)
    turned = prior(least=((0, 1), (5, 5)), **twice)
    assert code_of(prior=turned) == Refusal.BAD_POSITIONS


def test_strata_that_each_category_has_for_itself_are_refused() -> None:
    """One that begins at no activity in a category, and beyond all in another, shows which."""
    twice = {name: getattr(prior(), name) * 2 for name in ("mean", "precision", "map")}
    for least, fine in (((100, 200), True), ((100, 201), False), ((0, 1), False), ((0, 0), True)):
        two = prior(least=((0, 0), least), **twice)
        assert code_of(prior=two) == (None if fine else Refusal.TOO_TELLING)


def test_rates_that_part_strata_of_equal_activity_are_refused() -> None:
    """An activity is compared with what is expected: where that lies, strata begin elsewhere."""
    twice = {name: getattr(prior(), name) * 2 for name in ("mean", "precision", "map")}
    two = prior(least=((0, 0), (256, 256)), **twice)
    apart = prior(least=((0, 0), (300, 200)), **twice)
    false = as_rows(np.tile([4 * GRAIN, -4 * GRAIN], (6, 1)))  # 5.9 or 0.1 of 6 items, each + 8
    assert code_of(prior=apart) is None
    assert code_of(prior=two, rate=false) is None
    assert code_of(prior=apart, rate=false) == Refusal.TOO_TELLING
    assert code_of(prior=two, **of_many(false, 3)) == Refusal.TOO_TELLING
    assert code_of(prior=two, **of_many(array_of("rate"), 3)) is None
    assert code_of(**of_many(array_of("rate"), 3)) is None


def test_categories_that_are_said_to_rate_far_more_items_are_refused() -> None:
    """By rates or by means of positions: one would withhold nearly all, the other nothing."""
    few, many = (as_rows(np.tile(row, (6, 1))) for row in ([4 * GRAIN, 0], [4 * GRAIN, -9 * GRAIN]))
    still = prior(mean=as_rows(0 * array("mean")))
    assert code_of(prior=still, **of_many(many, 1)) is None  # (6 + 8) / 8 is below 2
    assert code_of(prior=still, **of_many(many, 2)) == Refusal.TOO_TELLING
    assert code_of(prior=still, **of_many(few, 9)) is None
    assert code_of(prior=still, **of_many(many, 9)) == Refusal.TOO_TELLING
    alike = as_rows(np.full((6, 2), -2 * GRAIN))
    upward = {"selection": ((GRAIN, 0),) * 54}
    for shift, fine in ((ONE // 4, True), (4 * ONE, False)):
        mean = 0 * array("mean")
        mean[0, :, 0] = shift, -shift
        moved = of_many(alike, 9) | upward | {"prior": prior(mean=as_rows(mean))}
        assert code_of(**moved) == (None if fine else Refusal.TOO_TELLING)


def array_of(name: str) -> Any:
    return getattr(HONEST, name)


def of_many(rate: Any, times: int) -> dict[str, Any]:
    """Return all columns so many times, with these rates."""
    columns = ("rate", "selection", "base", "taste", "levels")
    items = tuple(f"item-{j:04d}" for j in range(6 * times))
    return {"items": items, **{c: array_of(c) * times for c in columns}, "rate": rate * times}


def test_there_are_two_strata_at_most() -> None:
    def times(n: int) -> Disclosure:
        parts = {name: getattr(prior(), name) * n for name in ("least", "mean", "precision", "map")}
        return HONEST.model_copy(update={"prior": prior(**parts)})

    check_numbers(times(2))
    with pytest.raises(ValidationError, match="strata"):
        times(3)


def test_values_only_have_the_same_checks() -> None:
    shown = disclose(Nature.draw(np.random.default_rng(1), (6, 2, 0, 2)), "cmp", STARS)
    check_numbers(shown)
    assert shown.prior is not None
    silent = shown.prior.model_copy(update={"noise": 0})
    for change in ({"prior": silent}, {"taste": ((9 * GRAIN, 0),) * 6}):
        with pytest.raises(RefusedError) as caught:
            check_numbers(shown.model_copy(update=change))
        assert caught.value.code == Refusal.BAD_POSITIONS


def answers(shown: Disclosure, rated: dict[str, int], cell: int, secret: int = 0) -> dict[str, int]:
    """Return what a device tells under an accepted disclosure."""
    category = PrivateCategory({"group": f"g{cell}"})
    ledger = Ledger(DeviceSecret(bytes([secret]) * 32))
    return dict(decide(rated, solicitation(shown), accepted(shown), category, ledger).answers)


def extreme(draw: Any, shape: tuple[int, int, int, int], span: int) -> Nature:
    """Draw numbers up to the limits, the limits themselves among them."""
    M, K, d, r = shape
    D = d + r
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def numbers(size: tuple[int, ...], most: float) -> Any:
        scale = draw(st.sampled_from([0.0, 0.01, 1.0]))
        drawn = rng.uniform(-most, most, size) * scale
        return np.where(rng.random(size) < draw(st.sampled_from([0, 0.5])), most, drawn)

    spread = draw(st.sampled_from([0.1, 1.0, 7.9]))
    return Nature(
        rate=numbers((M, K), 32.0),
        selection=numbers((M, d), 32.0),
        base=1 + span / 2 + numbers((M, K), 1.5 * span),
        taste=numbers((M, r), 2.0 * span),
        mean=numbers((K, D), 64.0),
        covariance=np.repeat(np.eye(D)[None] * spread**2, K, axis=0),
        noise=draw(st.sampled_from([2.0**-8, 0.5, 1e6])),
    )


@given(st.data())
def test_no_accepted_prior_stops_a_device_or_leaves_the_scale(data: st.DataObject) -> None:
    shape = (data.draw(st.integers(1, 8)), 2, data.draw(st.integers(0, 3)), 2)
    nature = extreme(data.draw, shape, 4)
    shown = disclose(nature, "cmpss", STARS)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if data.draw(st.booleans()) and shown.prior is not None:
        size = np.array(shown.prior.map).shape
        turned = np.triu(rng.choice([-4 * ONE, 0, 4 * ONE], size), 1)
        stretch = np.eye(size[-1], dtype=np.int64) * rng.choice([ONE // 8 + 1, ONE, 4 * ONE], size)
        maps = stretch + turned - turned.swapaxes(3, 4)
        maps[0, [0, 1], [0, 1]] = np.eye(shape[2] + 2) * ONE
        shown = shown.model_copy(
            update={"prior": shown.prior.model_copy(update={"map": as_rows(maps)})}
        )
    check_numbers(shown)
    rated = {item: int(rng.choice(STARS)) for item in shown.items if rng.random() < 0.7}
    for cell in (0, 1):
        sent = answers(shown, rated, cell)
        assert sent.keys() <= rated.keys()
        assert set(sent.values()) <= set(STARS)


@pytest.mark.parametrize("span", [4, 20_000])
def test_tastes_that_all_say_the_same_stop_no_device(span: int) -> None:
    """With next to no noise their sum outweighs the precision by more than doubles hold."""
    nature = Nature.draw(np.random.default_rng(0), (40, 2, 0, 2), low=0, high=span)
    nature = replace(
        nature,
        taste=np.full((40, 2), 2.0 * span),
        covariance=np.repeat(np.eye(2)[None] * 32, 2, axis=0),
        noise=2.0**-16,
    )
    points = tuple(span * ONE // 4 * level for level in range(5))
    shown = disclose(nature, "cmp", points)
    try:
        check_numbers(shown)
    except RefusedError:
        return
    assert len(answers(shown, dict.fromkeys(shown.items, points[2]), 1)) == 40


def liar(apart: float) -> Disclosure:
    """A prior by which the categories are this far apart in a taste that all items share."""
    nature = Nature.draw(np.random.default_rng(0), (40, 2, 0, 1))
    nature = replace(
        nature,
        taste=np.ones((40, 1)),
        base=np.full((40, 2), 3.0),
        mean=np.array([[-apart / 2], [apart / 2]]),
        covariance=np.full((2, 1, 1), 0.01),
    )
    return disclose(nature, "cmp", STARS)


def test_a_prior_that_lies_moves_categories_no_further_apart_than_offsets_may() -> None:
    """One rating, two categories: what they tell is at most 3/4 of the scale apart, but for coins.

    Otherwise one answer would show the category for certain, whatever the rating.
    """
    shown = liar(60.0)
    check_numbers(shown)
    means = np.zeros((2, 5))
    for level, star in enumerate(STARS):
        for cell in (0, 1):
            sent = answers(shown, dict.fromkeys(shown.items, star), cell)
            means[cell, level] = np.mean([*sent.values()]) / ONE
    assert np.abs(means[0] - means[1]).max() <= 3 + 0.3
    low, high = means[1].max(), means[0].min()
    assert low > high  # the ranges of what they tell overlap


def test_a_prior_that_lies_a_little_moves_a_little() -> None:
    shown = liar(0.5)
    for star in STARS[1:-1]:
        sent = [answers(shown, dict.fromkeys(shown.items, star), cell) for cell in (0, 1)]
        means = [np.mean([*one.values()]) / ONE for one in sent]
        assert 0.2 < means[0] - means[1] < 0.9


def belongs(shown: Disclosure) -> bool:
    """Return whether the maps carry each category's prior to every other's, and are inverse."""
    assert shown.prior is not None
    (P,), (T,) = np.array(shown.prior.precision) / ONE, np.array(shown.prior.map) / ONE
    carried = T.transpose(0, 1, 3, 2) @ P[None] @ T
    there_and_back = T[[0, 1], [1, 0]] @ T[[1, 0], [0, 1]]
    return bool((carried == P[:, None]).all() and (there_and_back == np.eye(P.shape[1])).all())


def crafted() -> Nature:
    """Leak the first title by what becomes of 40 others; each has the same distribution for all.

    Who did not rate it lies far below the mean of her category, and her counterpart as far above.
    """
    nature = Nature.draw(np.random.default_rng(0), (41, 2, 1, 1))
    rate, selection = np.full((41, 2), 20.0), np.full((41, 1), -4.0)
    rate[0], selection[0] = 30.0, 4.0
    return replace(
        nature,
        rate=rate,
        selection=selection,
        taste=np.zeros((41, 1)),
        mean=np.zeros((2, 2)),
        covariance=np.repeat(np.eye(2)[None] * 32, 2, axis=0),
    )


def revealed_later(honest: Disclosure, later: Disclosure, cell: int, *, rated: bool) -> set[int]:
    """Return how many of 40 titles people reveal whose first was rated and withheld, or was not."""
    first, *others = honest.items
    ratings = dict.fromkeys(others, STARS[2]) | ({first: STARS[2]} if rated else {})
    category, found = PrivateCategory({"group": f"g{cell}"}), set()
    for secret in range(12):
        ledger = Ledger(DeviceSecret(bytes([secret]) * 32))
        asked = solicitation(honest, 1, (first,))
        if decide(ratings, asked, accepted(honest), category, ledger).answers:
            continue
        asked = solicitation(later, 2, tuple(others))
        found.add(len(decide(ratings, asked, accepted(later), category, ledger).answers))
    return found


@pytest.mark.parametrize("cell", [0, 1])
@pytest.mark.slow
def test_a_mirror_that_belongs_to_its_prior_would_read_a_withheld_title_and_is_refused(
    cell: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control is an honest prior, under which nothing leaks."""
    nature = Nature.draw(np.random.default_rng(3), (41, 2, 1, 1))
    nature.rate[0] = np.where(np.arange(2) == cell, 3.0, -3.0)  # her category withholds the first
    honest, lie = disclose(nature, "cmpss", STARS), disclose(crafted(), "cmpss", STARS)
    assert lie.prior is not None
    maps = np.array(lie.prior.map)
    maps[0, [0, 1], [1, 0], 0, 0] = -ONE
    lie = lie.model_copy(update={"prior": lie.prior.model_copy(update={"map": as_rows(maps)})})
    assert belongs(lie)
    with pytest.raises(RefusedError, match="no distribution"):
        check_numbers(lie)
    monkeypatch.setattr(numbers, "LEAST_STRETCH", -2.0)
    rated, unrated = (revealed_later(honest, lie, cell, rated=one) for one in (True, False))
    assert min(rated) > max(unrated) + 30  # 40 and 2
    rated, unrated = (revealed_later(honest, honest, cell, rated=one) for one in (True, False))
    assert min(rated) <= max(unrated)
