"""A code for no answer that continues the levels is refused, and an honest last level is not."""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import polars as pl
import pytest

from midpoint.data import PRESETS, Ratings, Scale, load, simulate
from midpoint.data.end_levels import SHRUNKEN, _effect
from midpoint.errors import MidpointError

HONEST = simulate(PRESETS["simulated-tiny"], seed=1).ratings
"""4,000 ratings from 1 to 5."""


def with_codes(*codes: float, share: float = 0.1) -> np.ndarray:
    """Return the ratings, a share of them replaced by each code by chance."""
    value, rng = HONEST.value.copy(), np.random.default_rng(2)
    for code in codes:
        value[rng.random(len(value)) < share] = code
    return value


def built(value: np.ndarray, scale: Scale | None = None) -> Ratings:
    return Ratings.from_columns(HONEST.user, HONEST.item, value, scale=scale)


@pytest.mark.parametrize(
    ("codes", "usual", "scale"),
    [((6,), "1 to 5", "1:6"), ((6, 7), "1 to 5", "1:7"), ((0,), "1 to 5", "0:5")],
)
def test_a_code_that_continues_the_levels_is_refused(
    codes: tuple[float, ...], usual: str, scale: str
) -> None:
    value = with_codes(*codes)
    with pytest.raises(MidpointError) as found:
        built(value)
    first = int(np.argmax(np.isin(value, codes))) + 1
    for words in (f"row {first}: rating", f"on {usual}, or far from", f"--scale {scale},"):
        assert words in str(found.value)
    low, high = map(float, scale.split(":"))
    assert built(value, Scale.stars(low, high)).scale.high == high  # if it is meant


def test_honest_ends_and_little_evidence_pass() -> None:
    assert built(HONEST.value).scale == Scale.stars(1, 5)
    assert built(6 - HONEST.value).scale == Scale.stars(1, 5)
    rare = with_codes(6, share=0.005)  # about 20: too few to tell
    assert built(rare).scale == Scale.stars(1, 6)
    mixed = np.random.default_rng(3).permutation(with_codes(6))  # no structure at all
    assert built(mixed).scale == Scale.stars(1, 6)


def test_ends_of_people_who_keep_away_from_the_middle_pass() -> None:
    """Who uses all of the scale is no higher on average; the control has codes among the levels."""
    rng = np.random.default_rng(4)
    user, item = np.divmod(np.arange(400 * 40), 40)
    reach = np.repeat(np.exp(rng.normal(size=400) * 0.6), 40)
    value = np.clip(np.round(4 + reach * rng.normal(size=len(user)) * 1.2), 1, 7)
    assert Ratings.from_columns(user, item, value).scale == Scale.stars(1, 7)
    coded = np.where(rng.random(len(user)) < 0.05, 8, value)
    with pytest.raises(MidpointError, match="rating 8 may be a code for no answer"):
        Ratings.from_columns(user, item, coded)


def test_a_wide_table_is_refused_with_the_persons_line(tmp_path: Path) -> None:
    value = np.where(HONEST.user == 7, HONEST.value, with_codes(6, share=0.2))
    table = pl.DataFrame({"user": HONEST.user, "item": HONEST.item, "rating": value})
    wide = table.pivot("item", index="user", values="rating").sort("user")
    wide.rename({name: f"film {name}" for name in wide.columns[1:]}).write_csv(tmp_path / "w.csv")
    first = int(np.argmax((wide.drop("user").to_numpy() == 6).any(axis=1)))
    with pytest.raises(MidpointError, match=rf"w\.csv, line {first + 2}: rating 6 may be a code"):
        load(tmp_path / "w.csv")
    assert load(tmp_path / "w.csv", scale=Scale.stars(1, 6)).scale.high == 6


@pytest.mark.parametrize(
    ("number", "by"), [((2, 1, 3, 3, 0, 2), "mean"), ((2, 1, 3, 3, 2, 0), "square")]
)
def test_the_difference_is_that_of_the_other_ratings_in_standard_deviations(
    number: tuple[int, ...], by: str
) -> None:
    """The definition of x and d, written out for a few ratings; the larger d counts."""
    user, item = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 2, 1, 2])
    end = np.array(number) == 3
    inner = [k for k in range(6) if not end[k]]
    middle = fmean(number[k] for k in inner)
    variance = fmean((number[k] - middle) ** 2 for k in inner)

    def difference(apart: Callable[[int], float]) -> float:
        def pull(index: np.ndarray, k: int) -> float:
            others = [apart(number[n]) for n in inner if n != k and index[n] == index[k]]
            return float(sum(others)) / (len(others) + SHRUNKEN)

        x = [pull(user, k) + pull(item, k) for k in range(6)]
        return (fmean(x[k] for k in np.flatnonzero(end)) - fmean(x[k] for k in inner)) / pstdev(x)

    found = {
        "mean": difference(lambda value: value - middle),
        "square": difference(lambda value: (value - middle) ** 2 - variance),
    }
    assert max(found, key=lambda name: found[name]) == by
    d = _effect(np.array(number, dtype=np.float64), end, (user, item))
    assert d == pytest.approx(found[by])
