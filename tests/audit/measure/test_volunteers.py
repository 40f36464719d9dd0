"""The rule of errors, recovered from panels whose leak is known."""

from dataclasses import replace
from math import inf
from statistics import NormalDist

import pytest

from midpoint.audit.measure.findings import SizePoint
from midpoint.audit.measure.volunteers import Volunteers, volunteers

NORMAL = NormalDist()


def point(panel: int, auc: float, *, scheme: str = "dmpss", outsiders: int = 1000) -> SizePoint:
    sure = 0.01
    return SizePoint(
        scheme,
        panel,
        outsiders,
        auc,
        auc - sure,
        auc + sure,
        chance=0.53,
        strongest=auc,
        bound=None,
    )


def reads(panel: int, a: float, b: float) -> float:
    return NORMAL.cdf((a / panel + b) ** 0.5)


@pytest.mark.parametrize("lasting", [0.0, 0.02])
def test_the_rule_is_recovered_and_extrapolated(lasting: float) -> None:
    points = [point(n, reads(n, 150.0, lasting)) for n in (250, 500, 1000, 2000)]
    (fitted,) = volunteers(points)
    assert fitted.by_panel == pytest.approx(150, rel=0.01)
    assert fitted.lasting == pytest.approx(lasting, abs=1e-4)
    assert fitted.auc(4000) == pytest.approx(reads(4000, 150, lasting), abs=1e-3)
    needed = fitted.needed(0.60)
    assert fitted.auc(needed) == pytest.approx(0.60)


def test_luck_moves_it_by_no_more_than_its_errors_allow() -> None:
    aside = [0.008, -0.006, 0.005, -0.008]
    points = [
        point(n, reads(n, 150.0, 0.0) + luck)
        for n, luck in zip((250, 500, 1000, 2000), aside, strict=True)
    ]
    (fitted,) = volunteers(points)
    assert fitted.needed(0.60) == pytest.approx(150 / NORMAL.inv_cdf(0.60) ** 2, rel=0.3)


def test_a_small_panel_leaks_no_more_than_raw_ratings() -> None:
    """Of shrunken numbers the leak ends at some height, and what is needed is still recovered."""
    sizes = (250, 500, 1000, 2000, 3000)
    points = [point(n, NORMAL.cdf((400 / (n + 320)) ** 0.5)) for n in sizes]
    (fitted,) = volunteers(points)
    assert fitted.prior == pytest.approx(320, rel=0.1)
    assert fitted.lasting == 0
    goal = NORMAL.inv_cdf(0.57) ** 2
    assert fitted.needed(0.57) == pytest.approx(400 / goal - 320, rel=0.05)
    measured = [0.8067, 0.7703, 0.7184, 0.6588, 0.6350]  # MovieLens 1M, dmpss, three folds
    (real,) = volunteers([point(n, auc) for n, auc in zip(sizes, measured, strict=True)])
    assert 4_000 < real.needed(0.60) < 9_000


def test_the_sentence_says_where_the_data_end() -> None:
    plain = Volunteers("dmpss", (250, 2000), 100.0, 0.0).words()
    assert "0.60: about 1,600;" in plain
    assert "0.57: about 3,200, extrapolated" in plain
    assert "Fitted to panels of 250 to 2,000" in plain
    stuck = Volunteers("dmpss", (250, 2000), 100.0, 0.05)
    assert stuck.needed(0.55) == inf
    assert "0.55: no panel is large enough" in stuck.words()
    assert "0.60: 250 are enough" in Volunteers("dmpss", (250, 2000), 1.0, 0.0).words()


def test_one_panel_says_nothing_and_the_most_outsiders_count() -> None:
    assert volunteers([point(500, 0.6)]) == []
    few = [point(n, 0.51, outsiders=50) for n in (500, 1000)]
    many = [point(n, reads(n, 80, 0)) for n in (500, 1000)]
    (fitted,) = volunteers([*few, *many])
    assert fitted.by_panel == pytest.approx(80, rel=0.01)
    raw = [point(n, 0.8, scheme="no") for n in (500, 1000)]
    other = [point(n, 0.5, scheme="cmpss") for n in (500, 1000)]
    assert [of.scheme for of in volunteers([*raw, *many, *other])] == ["dmpss", "cmpss"]


def test_reports_are_a_curve_of_their_own() -> None:
    alone = [point(n, reads(n, 80, 0)) for n in (500, 1000)]
    taught = [replace(point(n, reads(n, 40, 0)), reports=True) for n in (500, 1000)]
    first, second = volunteers([*alone, *taught])
    assert (first.reports, second.reports) == (False, True)
    assert second.by_panel == pytest.approx(40, rel=0.01)
    assert second.words().startswith("dmpss, with everyone else's reports: volunteers")


def test_a_leak_at_chance_needs_nobody_more() -> None:
    (fitted,) = volunteers([point(n, 0.5) for n in (500, 1000)])
    assert fitted.needed(0.55) == pytest.approx(0, abs=1)
