from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from made_up_results import AREAS, ERRORS, made_up
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from midpoint.audit import curve_figures, figures
from midpoint.audit.drawing import STYLE, Picture

pytestmark = pytest.mark.slow  # drawings


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Figure]]:
    """Keep figures as they are, instead of turning them into text."""
    kept: list[Figure] = []

    def keep(figure: Figure, title: str, text: str) -> Picture:
        kept.append(figure)
        return Picture(title, text, "")

    for module in (figures, curve_figures):
        monkeypatch.setattr(module, "picture", keep)
    with mpl.rc_context(STYLE):
        yield kept


def labels(axes: Axes) -> list[str]:
    return [str(handle.get_label()) for handle in axes.get_legend_handles_labels()[0]]


def places(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata()).tolist()]


def test_the_papers_numbers_are_marked_on_the_bars(drawn: list[Figure]) -> None:
    assert figures.bars(made_up(dataset="movielens-1m")) is not None
    assert figures.bars(made_up(dataset="invented")) is not None
    theirs, ours = (figure.axes[0] for figure in drawn)
    assert "the paper" in labels(theirs)
    assert "the paper" not in labels(ours)
    marks = [place for line in theirs.lines if line.get_marker() == "D" for place in places(line)]
    assert 0.841 in [y for _, y in marks]  # lr on raw ratings


def test_errors_on_another_scale_are_not_marked(
    drawn: list[Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paper rates television from 1 to 5, its stand-in by yes and no."""

    def marked() -> bool:
        assert figures.bars(made_up(dataset="anes-tv")) is not None
        return any(line.get_marker() == "D" for line in drawn[-1].axes[1].lines)

    assert marked()
    for name, error in ERRORS.items():
        monkeypatch.setitem(ERRORS, name, 0.3 * error)
    assert not marked()


def test_the_bars_show_the_strongest_attacker_of_every_scheme(
    drawn: list[Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that read most of all schemes together may be blind where it matters."""
    monkeypatch.setattr(figures, "MOST_BARS", 3)
    results, hidden = made_up(), 0
    heights = figures.bar_heights(results, list(AREAS))
    for k, areas in enumerate(AREAS.values()):
        most = 0.5 + max(abs(area - 0.5) for area in areas.values())
        others = [height[k] for name, height in heights.items() if name != figures.STRONGEST]
        assert heights[figures.STRONGEST][k] == pytest.approx(most)
        hidden += max(others) < most - 0.01
    assert hidden
    assert figures.bars(results) is not None
    assert figures.STRONGEST in labels(drawn[0].axes[0])


def test_bars_above_chance_are_filled_and_others_are_not(drawn: list[Figure]) -> None:
    assert figures.every_attacker(made_up()) is not None
    (figure,) = drawn
    assert [axes.get_title() for axes in figure.axes] == ["lr", "lr-items", "fraction"]
    for axes, attack in zip(figure.axes, AREAS["no"], strict=True):
        bars = [bar for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_height() > 0]
        tall = sum(bar.get_facecolor()[:3] != (1, 1, 1) for bar in bars)
        assert tall == sum(abs(area[attack] - 0.5) > 0.03 for area in AREAS.values())


def test_schemes_that_withhold_alike_share_a_line(drawn: list[Figure]) -> None:
    shares = {"no": (0.0,) * 11, "mp": (0.2,) * 11, "dmpss": (0.21,) * 11}
    assert figures.withheld(made_up(withheld=shares)) is not None
    (axes,) = drawn[0].axes
    assert labels(axes) == ["mp\ndmpss"]
    apart = shares | {"dmpss": (0.4,) * 11}
    assert figures.withheld(made_up(withheld=apart)) is not None
    assert labels(drawn[1].axes[0]) == ["mp", "dmpss"]
    assert figures.withheld(made_up(withheld=dict.fromkeys(AREAS, (0.0,) * 11))) is None


def test_every_scheme_is_placed_by_its_numbers(drawn: list[Figure]) -> None:
    assert curve_figures.trade_off(made_up()) is not None
    left, right = drawn[0].axes
    costs, bits = ([places(line)[0] for line in axes.lines] for axes in (left, right))
    assert costs[2] == pytest.approx((2.0, 0.06))
    assert [x for x, _ in bits] == [0.0, 19.0, 136.0]
    assert [text.get_text() for text in left.texts] == ["no", "mp", "dmpss"]


def test_a_curve_of_thinned_people_is_drawn_only_where_there_is_one() -> None:
    few = {"no": {"lr": 0.9}, "no:share=0.2": {"lr": 0.6}, "dmpss": {"lr": 0.5}}
    without = {name: few[name] for name in ("no", "dmpss")}
    assert curve_figures.count_curve(made_up(few)) is not None
    assert curve_figures.count_curve(made_up(without)) is None
