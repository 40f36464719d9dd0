import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from midpoint.audit.report.style import (
    COLOURS,
    HATCHES,
    MARKERS,
    bar_look,
    line_look,
    name_points,
    point_look,
)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG): what is left of a colour for those who see none."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_no_two_series_differ_by_colour_alone() -> None:
    looks = [point_look(k) for k in range(len(MARKERS))]
    assert len({(one["color"], one["marker"]) for one in looks}) == len(MARKERS)
    assert len({one["marker"] for one in looks}) == len(MARKERS)
    bars = [bar_look(k) for k in range(len(COLOURS))]
    assert len({one["hatch"] for one in bars}) == len(HATCHES) == len(COLOURS)
    dashes = [line_look(k)["linestyle"] for k in range(4)]
    assert len(set(dashes)) == 4


def test_marks_have_an_edge_that_shows_on_white() -> None:
    assert max(map(luminance, COLOURS)) > 0.7  # yellow alone would not
    assert {point_look(k)["markeredgecolor"] for k in range(20)} == {"black"}
    assert {bar_look(k)["edgecolor"] for k in range(20)} == {"black"}


@settings(max_examples=12)
@given(st.integers(0, 10**6))
@pytest.mark.slow
def test_names_do_not_cover_one_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    figure = Figure(figsize=(3.6, 3.8))
    axes = figure.add_subplot()
    marks = [(float(x), float(y)) for x, y in rng.random((9, 2))]
    axes.plot(*np.transpose(marks), "o")
    name_points(axes, [f"scheme{k}" for k in range(9)], marks)
    boxes = [one.xyann for one in axes.texts if isinstance(one, Annotation)]
    assert len(boxes) == 9
    corners = axes.transData.transform(marks) * 72 / figure.dpi + np.array(boxes)
    wide = 4.6 * len("scheme0")
    for k, (x, y) in enumerate(corners):
        for other_x, other_y in corners[:k]:
            assert abs(x - other_x) >= wide - 1e-6 or abs(y - other_y) >= 7 - 1e-6


def test_names_on_one_spot_spread_out() -> None:
    axes = Figure().add_subplot()
    marks = [(0.5, 0.5)] * 4
    axes.plot(*np.transpose(marks), "o")
    name_points(axes, list("abcd"), marks)
    spots = [one.xyann for one in axes.texts if isinstance(one, Annotation)]
    assert len(set(spots)) == 4
    name_points(axes, [], [])
    assert len(axes.texts) == 4


@pytest.mark.parametrize("k", [0, 5, 40])
def test_looks_never_run_out(k: int) -> None:
    assert point_look(k)["color"] in COLOURS
    assert bar_look(k)["hatch"] in HATCHES
