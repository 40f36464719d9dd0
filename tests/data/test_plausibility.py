"""Codes for no answer are refused, and honest scales with unused levels are not."""

from math import log

import numpy as np
import pytest

from midpoint.data import Scale
from midpoint.data.plausibility import EXPECTED, step_of
from midpoint.errors import MidpointError

STARS = {1: 56, 2: 107, 3: 261, 4: 349, 5: 227}
"""How often each star is given, in 1,000 ratings of films."""
TEN = dict.fromkeys(range(1, 11), 40)


def ratings(*parts: dict[float, int]) -> np.ndarray:
    return np.concatenate([np.repeat(list(part), list(part.values())) for part in parts])


@pytest.mark.parametrize(
    ("usual", "codes", "scale"),
    [
        (STARS, {-1: 1}, "-1:5"),
        (STARS, {-1: 400}, "-1:5"),
        (STARS, {-1: 4000}, "-1:5"),
        (STARS, {7: 3}, "1:7"),
        (STARS, {9: 3}, "1:9"),
        (STARS, {8: 5, 9: 2}, "1:9"),
        (STARS, {-1: 5, 7: 5}, "-1:7"),
        (TEN, {-1: 3}, "-1:10"),
        ({k / 2: 30 for k in range(1, 11)}, {-1: 3}, "-1:5:0.5"),
        (STARS, {0: 4}, "0:5"),
        (TEN, {0: 5000}, "0:10"),
    ],
)
def test_a_code_beside_the_levels_is_refused_with_the_option_that_allows_it(
    usual: dict[float, int], codes: dict[float, int], scale: str
) -> None:
    values = ratings(usual, codes)
    low, high = min(usual), max(usual)
    words = (
        rf"^row {sum(usual.values())}: rating {next(iter(codes))} stands apart from the levels"
        rf" {low:g} to {high:g}, .* \({sum(codes.values())} of {len(values)} ratings do\)"
        rf".*--scale {scale},"
    )
    with pytest.raises(MidpointError, match=words):
        Scale.guess(values, locate=lambda row: f"row {row}")
    assert Scale.guess(ratings(usual)).levels == tuple(usual)


@pytest.mark.parametrize(
    ("honest", "expected"),
    [
        ({1: 2, 3: 3, 4: 5, 5: 4}, Scale.stars(1, 5)),  # nobody gave 2
        ({1: 30, 2: 40, 3: 50, 5: 20}, Scale.stars(1, 5)),  # three levels in a row are too few
        ({1: 2, 3: 4, 4: 5, 5: 6, 6: 5, 7: 9}, Scale.stars(1, 7)),
        ({-1: 3, 1: 3, 2: 4, 3: 5, 4: 4, 5: 3}, Scale.stars(-1, 5)),  # too few to tell
        (dict.fromkeys((-3, -2, -1, 1, 2, 3), 50), Scale.stars(-3, 3)),  # no middle
        (dict.fromkeys((1, 2, 3, 5, 8), 50), Scale.stars(1, 8)),
        ({k: 9 for k in range(-10, 11) if k not in (-9, 7)}, Scale.stars(-10, 10)),
        ({k / 2: 9 + 90 * (k % 2 == 0) for k in range(1, 11)}, Scale.stars(0.5, 5, 0.5)),
        (dict.fromkeys((0, 15, 30, 40, 50, 60, 70, 85, 100), 90), Scale.stars(0, 100)),
        ({**dict.fromkeys(range(98), 20), 100: 5000}, Scale.stars(0, 100)),  # round numbers
        ({0: 20, 1: 60, 2: 100, 3: 250, 4: 350, 5: 220}, Scale.stars(0, 5)),
        ({0: 3, 1: 9, 2: 20, 3: 100, 4: 400, 5: 400}, Scale.stars(0, 5)),  # rare, as its neighbour
        ({0: 900, 1: 50, 2: 30, 3: 20}, Scale.stars(0, 3)),
    ],
)
def test_honest_scales_with_unused_levels_are_read(
    honest: dict[float, int], expected: Scale
) -> None:
    assert Scale.guess(ratings(honest)) == expected


def test_a_hole_is_refused_from_where_chance_makes_it_once_in_a_hundred_tables() -> None:
    """The equation: exp(-sqrt(e a)) < 1 %, with e and a ratings on either side of the hole."""
    assert np.exp(-EXPECTED) == pytest.approx(0.01)
    for beside, apart in ((21, 1), (22, 1), (10, 2), (11, 2), (4, 5), (5, 5)):
        values = ratings({1: beside, 2: 30, 3: 30, 4: 30, 5: 30}, {-1: apart})
        if (beside * apart) ** 0.5 < log(100):
            assert Scale.guess(values) == Scale.stars(-1, 5)
        else:
            with pytest.raises(MidpointError, match="stands apart"):
                Scale.guess(values)


def test_counts_stand_for_as_many_ratings() -> None:
    levels = np.array([5, 1, 2, 3, 4, np.nan, -1], np.float32)
    often = np.array([227, 56, 107, 261, 349, 8, 30])
    with pytest.raises(MidpointError, match=r"^r\.csv: rating -1 .*\(30 of 1030 ratings do\)"):
        Scale.guess(levels, "r.csv", counts=often)
    assert Scale.guess(levels[:-1], counts=often[:-1]) == Scale.stars(1, 5)


def test_the_coarsest_step_is_taken() -> None:
    assert step_of(np.array([1, 3, 4], np.float32)) == 1
    assert step_of(np.array([1, 2.5], np.float32)) == 0.5
    assert step_of(np.array([1, 2.33], np.float32)) is None
