from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Scale
from midpoint.data.scale import FINEST
from midpoint.errors import MidpointError


def test_stars_are_equal_steps() -> None:
    assert Scale.stars(1, 5).levels == (1, 2, 3, 4, 5)
    assert Scale.stars(0.5, 2, 0.5).levels == (0.5, 1, 1.5, 2)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([1, 5, 3], Scale.stars(1, 5)),
        ([0, 1], Scale.stars(0, 1)),
        ([0.5, 5], Scale.stars(0.5, 5, 0.5)),
        ([0, 100, 50], Scale.stars(0, 100)),
        ([-1, 1], Scale.stars(-1, 1)),
        ([1, 2.25, 4], Scale.stars(1, 4, 0.25)),
        ([0, 0.4, 1], Scale.stars(0, 1, 0.2)),
        ([0.1, 9.7, 0.3], Scale.stars(0.1, 9.7, 0.1)),
        ([0, 1000] * 2, Scale.discrete([0, 1000])),
        ([1, 2.33, 3.67, 5] * 2, Scale.discrete([1, 2.33, 3.67, 5])),
        ([0, 1000], Scale.stars(0, 1000, 10)),
        ([1, 2.33, 3.67, 5], Scale.stars(1, 5, 0.05)),
        (list(range(0, 1290, 10)) * 2, Scale.stars(0, 1280, 20)),
        ([1, float("nan"), 2], Scale.stars(1, 2)),
    ],
)
def test_guess_takes_regular_steps_as_levels(seen: list[float], expected: Scale) -> None:
    assert Scale.guess(np.array(seen, dtype=np.float32)) == expected


def test_guess_refuses_ratings_that_do_not_vary() -> None:
    with pytest.raises(MidpointError, match=r"votes\.csv: the ratings do not vary"):
        Scale.guess(np.array([3.0, 3.0]), "votes.csv")


def test_contains_tells_levels_from_the_rest() -> None:
    values = np.array([0, 1, 1.5, 5, 6, np.nan, np.inf], dtype=np.float32)
    assert Scale.stars(1, 5).contains(values).tolist() == [False, True, False, True] + [False] * 3
    assert Scale.continuous(1, 5).contains(values).tolist() == [False] + [True] * 3 + [False] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1.0, 0.5, 0.25, 0.2, 0.1])
def test_every_regular_step_is_guessed_as_levels(
    step: float, dtype: type[np.floating[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    whole = Scale.stars(-3, 5, step)
    assert whole.levels is not None
    assert Scale.guess(np.array(whole.levels, dtype=dtype)) == whole
    assert not caplog.text


def test_levels_of_tenths_are_written_as_tenths() -> None:
    guessed = Scale.guess(np.array([0, 0.1, 1], dtype=np.float32))
    assert guessed.levels == Scale.stars(0, 1, 0.1).levels
    assert guessed.levels == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


def test_a_fine_scale_is_a_guess_of_last_resort_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    values = np.random.default_rng(1).normal(size=1000)
    scale = Scale.guess(values, "votes.csv")
    assert "votes.csv: the 1000 ratings have 1000 different values" in caplog.text
    assert f"rounded to {scale}, steps of {scale.step:g}" in caplog.text
    assert "--scale" in caplog.text
    nearest = scale.nearest(values)
    assert scale.contains(nearest).all()
    assert np.abs(nearest - values).max() <= 0.5001 * scale.step


def test_values_with_a_long_tail_are_no_ratings() -> None:
    plays = np.floor(np.random.default_rng(1).pareto(0.8, size=3000) * 5) + 1
    plays = plays[plays < 2000]
    with pytest.raises(MidpointError, match=r"by --count-column, else name the scale: --scale 0:"):
        Scale.guess(plays, "plays.csv")
    assert Scale.guess(np.log(plays) + np.arange(len(plays)) / 1e4, "plays.csv").is_discrete


@pytest.mark.parametrize(
    ("low", "high", "step", "ends"),
    [
        (-9.8, 9.93, 0.2, (-9.8, 10)),
        (0, 1, 0.01, (0, 1)),
        (0.003, 0.997, 0.01, (0, 1)),
        (1, 5, 0.05, (1, 5)),
        (0, 1280, 20, (0, 1280)),
        (-1e-6, 1e-6, 2e-8, (-1e-6, 1e-6)),
        (1_000_000, 1_000_001, 0.01, (1_000_000, 1_000_001)),
    ],
)
def test_a_fine_scale_has_round_steps(
    low: float, high: float, step: float, ends: tuple[float, float]
) -> None:
    scale = Scale.fine(low, high)
    assert scale.step == pytest.approx(step)
    assert (scale.low, scale.high) == ends
    assert 50 <= len(scale.levels or ()) - 1 <= FINEST


def test_what_is_no_number_and_what_is_on_no_levels_stays() -> None:
    values = np.array([np.nan, np.inf, 1.24, 9, -3], dtype=np.float32)
    nearest = Scale.stars(1, 5, 0.5).nearest(values)
    assert np.array_equal(nearest, np.array([np.nan, np.inf, 1, 5, 1]), equal_nan=True)
    assert np.array_equal(Scale.continuous(0, 1).nearest(values), values, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [0.1, 0.2, 0.5, 1.0])
def test_levels_are_found_in_either_precision(step: float, dtype: type[np.floating[Any]]) -> None:
    scale = Scale.stars(0, 10 * step, step)
    values = np.array([round(step * k, 3) for k in range(11)], dtype=dtype)
    assert scale.contains(values).all()
    assert scale.level_of(values).tolist() == list(range(11))
    assert not scale.contains(values + step / 2).any()


def test_level_of_goes_up_and_stops_at_the_last() -> None:
    scale = Scale.stars(1, 5)
    assert scale.level_of(np.array([0, 1, 1.01, 4.9, 5, 9])).tolist() == [0, 0, 1, 4, 4, 4]
    with pytest.raises(MidpointError, match="no levels"):
        Scale.continuous(1, 5).level_of(np.array([1.0]))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_bounds_must_be_finite_and_ascend(low: float, high: float) -> None:
    with pytest.raises(MidpointError, match="low < high"):
        Scale.continuous(low, high)


@pytest.mark.parametrize("levels", [(1.0, 3.0, 2.0, 5.0), (1.0, 1.0, 5.0), (2.0, 5.0)])
def test_levels_must_ascend_from_low_to_high(levels: tuple[float, ...]) -> None:
    with pytest.raises(MidpointError, match="ascend"):
        Scale(1.0, 5.0, levels)


def test_one_level_is_no_scale() -> None:
    with pytest.raises(MidpointError, match="two levels"):
        Scale.discrete([2, 2])


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, unique=True))
def test_a_guessed_scale_contains_what_it_was_guessed_from_or_is_near(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    try:
        scale = Scale.guess(array)
    except MidpointError as error:
        assert "is far from the others" in str(error)  # noqa: PT017 - refused, or contained
        return
    near = scale.nearest(array)
    assert scale.contains(near).all()
    assert np.array_equal(near, array) or np.abs(near - array).max() <= 0.51 * scale.step


@pytest.mark.parametrize("stray", [50, 99, -46.0])
def test_a_rating_far_from_all_others_is_refused_with_the_option_that_allows_it(
    stray: float,
) -> None:
    usual = [0, 1, 2, 3, 4] * 20
    values = np.array([*usual, stray], dtype=np.float32)
    low, high = min(0, stray), max(4, stray)
    with pytest.raises(
        MidpointError, match=rf"rating {stray:g} is far .* --scale {low:g}:{high:g}"
    ):
        Scale.guess(values, "a.csv")
    with pytest.raises(MidpointError, match=r"row 100: rating"):
        Scale.guess(values, "a.csv", lambda row: f"row {row}")
    assert Scale.guess(np.array([*usual, 8])) == Scale.stars(0, 8)  # a gap as wide as the range


def test_a_code_for_no_answer_is_refused_however_often_it_stands() -> None:
    values = np.array([1, 2, 3, 4, 5] * 6 + [99] * 20 + [np.nan])
    with pytest.raises(MidpointError, match=r"20 of 50 ratings lie so far off"):
        Scale.guess(values)


@given(st.lists(st.floats(-100, 100), min_size=1))
def test_clip_stays_within_bounds_and_leaves_legal_values(values: list[float]) -> None:
    array = np.array(values)
    clipped = Scale.continuous(-1, 1).clip(array)
    inside = np.abs(array) <= 1
    assert np.all(np.abs(clipped) <= 1)
    assert np.array_equal(clipped[inside], array[inside])


def test_a_scale_reads_well() -> None:
    assert str(Scale.stars(1, 5)) == "1 2 3 4 5"
    assert str(Scale.stars(0.5, 5, 0.5)) == "0.5 to 5 in 10 levels"
    assert str(Scale.continuous(0, 1)) == "0 to 1, continuous"


def test_a_rating_between_the_levels_of_all_others_is_refused() -> None:
    stars = np.tile(np.arange(1.0, 6.0), 40)
    with pytest.raises(MidpointError, match=r"rating 3\.7 lies between .*1 of 201 ratings"):
        Scale.guess(np.append(stars, 3.7), "table.csv")
    assert Scale.guess(np.append(stars, 3.5), "table.csv") == Scale.stars(1, 5, 0.5)
    tenths = np.append(stars, np.full(20, 3.7))  # not rare: they are levels
    assert Scale.guess(tenths, "table.csv") == Scale.stars(1, 5, 0.1)
