from dataclasses import replace

import pytest

from midpoint.audit.report import tables
from midpoint.audit.report.tradeoff import lines, plain_schemes, points_of
from tests.support.audits.made_up_results import made_up

VARIED = {
    "no": {"lse": 0.8, "lr": 0.9},
    "mpss": {"lse": 0.5, "lr": 0.55, "fraction": 1.0},
    "mpss:alpha=0.5": {"lse": 0.3, "lr": 0.6},
    "mpss:bits=2": {"lse": 0.6, "lr": 0.58},
    "dmpss": {"lse": 0.5, "lr": 0.52},
}


def test_points_of_a_curve_are_not_schemes_of_their_own() -> None:
    results = made_up(VARIED)
    assert plain_schemes(results) == ["no", "mpss", "dmpss"]
    assert [one.scheme for one in points_of(results)] == ["no", "mpss", "dmpss"]
    alone = made_up({"no": {"lr": 0.8}, "mpss:alpha=0.5": {"lr": 0.6}})
    assert plain_schemes(alone) == ["no", "mpss:alpha=0.5"]


def test_a_line_goes_from_raw_ratings_to_the_scheme_by_the_same_attackers() -> None:
    (line,) = lines(made_up(VARIED), "alpha")
    assert line.scheme == "mpss"
    assert line.attacks == ("lse", "lr")  # the fraction attack did not try every point
    assert [point.setting for point in line.points] == [0.0, 0.5, 1.0]
    assert [point.leak for point in line.points] == pytest.approx([0.4, 0.2, 0.05])
    assert [point.paper_area for point in line.points] == pytest.approx([0.8, 0.7, 0.5])
    (bits,) = lines(made_up(VARIED), "bits")
    assert [point.setting for point in bits.points] == [2.0, 16.0]
    assert lines(made_up(VARIED), "share") == []


def test_a_scheme_of_one_precision_is_a_point_beside_lines_by_their_attackers() -> None:
    varied = VARIED | {"cmpss": {"lse": 0.49, "lr": 0.53, "fraction": 0.9}, "cmp": {"lse": 0.4}}
    results = made_up(varied)
    line, sets, values = lines(results, "bits")
    assert [line.scheme, sets.scheme, values.scheme] == ["mpss", "cmpss", "cmp"]
    assert sets.attacks == ("lse", "lr") == line.attacks  # not the one that no line was judged by
    (point,) = sets.points
    assert (point.leak, point.bits, point.chance) == pytest.approx((0.03, 466, 0.03 * 2**0.5))
    assert values.points[0].leak == pytest.approx(0.1)
    assert [line.scheme for line in lines(results, "alpha")] == ["mpss"]
    (text,) = tables.curves(results, "bits")
    assert "Disclosed at one precision: cmpss, cmp." in text
    rows = {row.split("</th>")[0].rpartition(">")[2]: row for row in text.split("<tr>")[2:]}
    for cell in ("<td>its own</td>", "<td>0.530</td>", "<td>466.0</td>"):
        assert cell in rows["cmpss"]
    assert '<span class="leaks">0.600</span>' in rows["cmp"]  # judged like all others


def test_where_no_bits_were_varied_there_is_no_point_either() -> None:
    alone = {"no": {"lr": 0.9}, "dmpss": {"lr": 0.55}, "cmpss": {"lr": 0.52}}
    assert lines(made_up(alone), "bits") == []


def test_thinned_people_are_points_of_the_scheme_that_they_use() -> None:
    few = {"no": {"lr": 0.9}, "no:share=0.2": {"lr": 0.6}, "dmpss": {"lr": 0.5}}
    results = made_up(few)
    assert plain_schemes(results) == ["no", "dmpss"]
    (line,) = lines(results, "share")
    assert line.scheme == "no"
    assert [point.setting for point in line.points] == [0.2, 1.0]
    assert lines(results, "alpha") == []


def test_a_protocol_of_ones_own_is_no_point_of_another() -> None:
    results = made_up({"no": {"lr": 0.9}, "mp": {"lr": 0.8}, "custom": {"lr": 0.7}})
    own = {**results.schemes, "custom": {**results.schemes["mp"], "kind": "custom.Own", "bits": 4}}
    assert plain_schemes(replace(results, schemes=own)) == ["no", "mp", "custom"]
    theirs = {**own, "custom": {**results.schemes["mp"], "bits": 4}}
    assert plain_schemes(replace(results, schemes=theirs)) == ["no", "mp"]


def test_points_are_what_was_measured() -> None:
    by_name = {one.scheme: one for one in points_of(made_up())}
    assert by_name["mp"].leak == pytest.approx(0.5)  # by the fraction attack
    assert by_name["dmpss"].leak == pytest.approx(0.06)
    assert by_name["dmpss"].chance == pytest.approx(0.03 * 2**0.5)  # what verdicts go by
    assert by_name["dmpss"].cost == pytest.approx(0.02)
    assert by_name["dmpss"].bits == 136
