from collections.abc import Iterator
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from midpoint.audit.measure.findings import Band, ByActivity
from midpoint.audit.report import curve_figures, figures
from midpoint.audit.report.style import STYLE, Picture
from tests.support.audits.made_up_results import AREAS, made_up

pytestmark = pytest.mark.slow  # drawings


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Figure]]:
    """Keep figures as they are, instead of turning them into text."""
    kept: list[Figure] = []

    def keep(figure: Figure, title: str, text: str, note: str = "") -> Picture:
        del note
        kept.append(figure)
        return Picture(title, text, "")

    for module in (figures, curve_figures):
        monkeypatch.setattr(module, "picture", keep)
    with mpl.rc_context(STYLE):
        yield kept


def labels(axes: Axes) -> list[str]:
    return [str(handle.get_label()) for handle in axes.get_legend_handles_labels()[0]]


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata()).tolist()]


def test_the_papers_numbers_are_marked_on_the_bars(drawn: list[Figure]) -> None:
    assert figures.bars(made_up(dataset="movielens-1m")) is not None
    assert figures.bars(made_up(dataset="invented")) is not None
    theirs, ours = (figure.axes[0] for figure in drawn)
    assert "the paper" in labels(theirs)
    assert "the paper" not in labels(ours)
    marks = [mark for line in theirs.lines if line.get_marker() == "D" for mark in points(line)]
    assert 0.841 in [y for _, y in marks]  # lr on raw ratings


def test_errors_on_another_scale_are_not_marked(drawn: list[Figure]) -> None:
    """The paper rates television from 1 to 5, its stand-in by yes and no."""

    def marked(dataset: str) -> bool:
        assert figures.bars(made_up(dataset=dataset)) is not None
        return any(line.get_marker() == "D" for line in drawn[-1].axes[1].lines)

    assert marked("politics-and-tv")
    assert not marked("anes-tv")


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
        assert filled(axes) == sum(abs(area[attack] - 0.5) > 0.03 for area in AREAS.values())


def filled(axes: Axes) -> int:
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_height() > 0]
    return sum(bar.get_facecolor()[:3] != (1, 1, 1) for bar in bars)


def test_figures_go_by_the_band_that_verdicts_go_by(drawn: list[Figure]) -> None:
    """Chance alone is 0.47 to 0.53 here, and judged by 0.458 to 0.542."""
    read = {"no": {"lr": 0.8}, "mp": {"lr": 0.535}, "dmp": {"lr": 0.465}, "dmpss": {"lr": 0.55}}
    results = made_up(read)
    assert figures.every_attacker(results) is not None
    assert filled(drawn[0].axes[0]) == 2
    assert sum(not results.is_chance(row) for s in read for row in results.areas(s)) == 2


def test_leaks_of_several_categories_do_not_cancel_out_in_figures(drawn: list[Figure]) -> None:
    read = {"no": {"lr": 0.5}, "mp": {"lr": 0.5}}
    several = made_up(
        read,
        categories=("D", "I", "R"),
        macro={"no": {"lr": 0.7}, "mp": {"lr": 0.51}},
        macro_bands={scheme: Band(0.5, 0.52, 1, 0.01) for scheme in read},
    )
    assert figures.bar_heights(several, list(read))["lr"].tolist() == pytest.approx([0.7, 0.51])
    assert figures.every_attacker(several) is not None
    assert filled(drawn[0].axes[0]) == 1


def test_counts_of_ratings_are_legible_whether_they_differ_much_or_not(
    drawn: list[Figure],
) -> None:
    for counts in ((21.0, 48.0, 99.0, 295.0), (40.0, 48.0, 55.0, 70.0)):
        found = ByActivity("lr", counts, (0.5, 0.6, 0.6, 0.7), (0.4,) * 4, (0.8,) * 4)
        assert curve_figures.activity(made_up(activity={"no": found})) is not None
        figure = drawn[-1]
        figure.draw_without_rendering()
        (axes,) = figure.axes
        texts = [
            text.get_window_extent()
            for text in axes.get_xticklabels(which="both")
            if text.get_text() and counts[0] <= text.get_position()[0] <= counts[-1]
        ]
        texts.sort(key=lambda box: box.x0)
        assert len(texts) >= 2
        assert all(one.x1 < other.x0 for one, other in pairwise(texts))


def test_where_all_give_as_many_ratings_nothing_is_drawn_by_their_number() -> None:
    alike = ByActivity("lr", (90.0, 91.5, 92.0, 94.0), (0.5,) * 4, (0.4,) * 4, (0.8,) * 4)
    assert curve_figures.activity(made_up(activity={"no": alike})) is None


def test_schemes_that_withhold_alike_share_a_line(drawn: list[Figure]) -> None:
    shares = {"no": (0.0,) * 11, "mp": (0.2,) * 11, "dmpss": (0.21,) * 11}
    assert figures.withheld(made_up(withheld=shares)) is not None
    (axes,) = drawn[0].axes
    assert labels(axes) == ["mp\ndmpss"]
    apart = shares | {"dmpss": (0.4,) * 11}
    assert figures.withheld(made_up(withheld=apart)) is not None
    assert labels(drawn[1].axes[0]) == ["mp", "dmpss"]
    assert figures.withheld(made_up(withheld=dict.fromkeys(AREAS, (0.0,) * 11))) is None


def test_every_scheme_is_drawn_at_its_numbers(drawn: list[Figure]) -> None:
    assert curve_figures.trade_off(made_up()) is not None
    left, right = drawn[0].axes
    costs, bits = ([points(line)[0] for line in axes.lines] for axes in (left, right))
    assert costs[2] == pytest.approx((2.0, 0.06))
    assert [x for x, _ in bits] == [0.0, 19.0, 136.0]
    assert [text.get_text() for text in left.texts] == ["no", "mp", "dmpss"]


def test_a_scheme_of_one_precision_is_marked_at_its_own_bits(drawn: list[Figure]) -> None:
    areas = {
        "no": {"lr": 0.9},
        "dmpss": {"lr": 0.56},
        "dmpss:bits=2": {"lr": 0.6},
        "cmpss": {"lr": 0.52},
    }
    found = curve_figures.bits_curve(made_up(areas))
    assert found is not None
    assert "cmpss, disclosed at one precision" in found.text
    for axes, height in zip(drawn[0].axes, (0.52, 2.0), strict=True):
        (mark,) = [line for line in axes.lines if line.get_label() == "cmpss"]
        assert points(mark) == [pytest.approx((466, height))]
    assert labels(drawn[0].axes[1]) == ["dmpss", "cmpss"]
    without = {name: area for name, area in areas.items() if name != "cmpss"}
    other = curve_figures.bits_curve(made_up(without))
    assert other is not None
    assert "one precision" not in other.text


def test_a_curve_of_thinned_people_is_drawn_only_where_there_is_one() -> None:
    few = {"no": {"lr": 0.9}, "no:share=0.2": {"lr": 0.6}, "dmpss": {"lr": 0.5}}
    without = {name: few[name] for name in ("no", "dmpss")}
    assert curve_figures.count_curve(made_up(few)) is not None
    assert curve_figures.count_curve(made_up(without)) is None


def test_the_histograms_show_the_strongest_attacker_too(drawn: list[Figure]) -> None:
    found = figures.histograms(made_up())
    assert found is not None
    assert "nothing is learned" not in found.text
    titles = [axes.get_title() for axes in drawn[0].axes]
    assert titles == [
        "no: AUC 0.83\nlr",
        "dmpss: AUC 0.48\nlr",
        "no: AUC 0.86\nadaptive-lr-items",
        "dmpss: AUC 0.56\nadaptive-lr-items",
    ]
