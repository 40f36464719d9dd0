from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.audit.report import tables as report_tables
from midpoint.audit.report.tradeoff import lines, placements, plain_schemes
from midpoint.audit.run.curves import Thinned, audit_curves, curve_schemes
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population
from tests.support.made_up_results import made_up
from tests.support.seen import Seen, codes
from tests.support.small_audit import QUICKLY, SMALL, small_audit

STARS, INTERVAL = Scale.stars(1, 5), Scale.continuous(0, 1)
VARIED = {
    "no": {"lse": 0.8, "lr": 0.9},
    "mpss": {"lse": 0.5, "lr": 0.55, "fraction": 1.0},
    "mpss:alpha=0.5": {"lse": 0.3, "lr": 0.6},
    "mpss:bits=2": {"lse": 0.6, "lr": 0.58},
    "dmpss": {"lse": 0.5, "lr": 0.52},
}


def people(seen: Seen) -> Population:
    tried = seen.tried
    return Population(tried.user, tried.item, tried.value, codes(tried))


@pytest.mark.parametrize("scheme", ["no", "dmpss", "cmpss"])
def test_thinned_people_give_a_share_of_their_ratings_and_no_others(scheme: str) -> None:
    seen = Seen()
    given, thinned, profiles = people(seen), Thinned(scheme, share=0.3), seen.ready(scheme)
    told = thinned.disclose(profiles)
    sent = thinned.report(told, profiles, given, np.random.default_rng(0))
    whole = LearningProtocol(scheme).report(told, profiles, given, np.random.default_rng(0))
    counts, n = np.diff(sent.user_offsets), len(whole.item)
    if scheme != "cmpss":  # where it matters for what is withheld how much else was given
        assert abs(len(sent.item) - 0.3 * n) < 5 * np.sqrt(0.3 * 0.7 * n) < 0.2 * n
    assert 0.2 * n < len(sent.item) < 0.4 * n
    assert (sent.item == given.item[sent.kept]).all()
    assert (np.repeat(np.arange(len(counts)), counts) == given.user[sent.kept]).all()
    if scheme == "no":
        assert (sent.value == given.value[sent.kept]).all()


def test_which_ratings_are_given_is_drawn_at_random() -> None:
    seen, thinned = Seen(), Thinned("no", share=0.3)
    told, given = thinned.disclose(seen.profiles), people(seen)
    chosen = np.zeros(len(given.item))
    for seed in range(200):
        chosen[thinned.report(told, seen.profiles, given, np.random.default_rng(seed)).kept] += 1
    assert np.abs(chosen - 60).max() < 6 * np.sqrt(200 * 0.3 * 0.7)
    with pytest.raises(MidpointError, match="coins to be drawn"):
        thinned.report(told, seen.profiles, given, np.zeros((len(given.item), 4)))


@pytest.mark.slow
def test_thinned_people_are_moved_by_what_they_give() -> None:
    """What is taken off the scores is what values were moved by, not what all ratings say."""
    seen, thinned = Seen(), Thinned("cmpss", share=0.3)
    profiles, given = seen.ready("cmpss"), people(seen)
    told = thinned.disclose(profiles)
    moves = thinned.moves(told, profiles, given, np.random.default_rng(4))
    chosen = np.random.default_rng(4).random(len(given.user)) < 0.3
    some = Population(given.user[chosen], given.item[chosen], given.value[chosen], given.category)
    plain, coins = LearningProtocol("cmpss"), np.random.default_rng(0)
    by_some, by_all = (plain.moves(told, profiles, these, coins) for these in (some, given))
    assert np.array_equal(moves, by_some)
    assert not np.array_equal(moves, by_all)


def test_the_scheme_in_use_is_on_every_curve_that_it_has() -> None:
    found = curve_schemes(["alpha", "bits", "share"], STARS, usual="cmpss")
    assert found["cmpss:alpha=0.3"] == LearningProtocol("cmpss", alpha=0.3)
    assert found["cmpss:share=0.2"] == Thinned("cmpss", share=0.2)
    assert "cmpss" in found
    assert "dmpss:bits=4" in found
    assert not any(name.startswith("cmpss:bits") for name in found)  # one precision, one point
    for usual in ("cmpss", "cmp"):
        assert usual in curve_schemes(["bits"], STARS, usual=usual)
    assert "cmpss" not in curve_schemes(["bits"], STARS)


def test_points_of_curves_are_protocols_by_name() -> None:
    found = curve_schemes(["alpha", "bits", "share"], STARS)
    assert found["mpss:alpha=0.3"] == LearningProtocol("mpss", alpha=0.3)
    assert found["dmpss:bits=4"] == LearningProtocol("dmpss", bits=4)
    assert found["no:share=0.2"] == Thinned("no", share=0.2)
    assert {"mpss", "mpssr", "ssfa", "ssia", "dmpss", "no"} <= set(found)
    assert sum(name.startswith("ssfa:alpha") for name in found) == 9
    smooth = curve_schemes(["alpha", "bits"], INTERVAL)
    assert {"mpss:bits=1", "mpss:alpha=0.9"} <= set(smooth)
    assert not any(name.startswith(("dmpss", "mpssr")) for name in smooth)
    assert len(curve_schemes(["alpha"], STARS, quick=True)) < len(curve_schemes(["alpha"], STARS))
    with pytest.raises(MidpointError, match="no curve over 'colour'"):
        curve_schemes(["colour"], STARS)


def test_points_of_a_curve_are_not_schemes_of_their_own() -> None:
    results = made_up(VARIED)
    assert plain_schemes(results) == ["no", "mpss", "dmpss"]
    assert [one.scheme for one in placements(results)] == ["no", "mpss", "dmpss"]
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
    told = VARIED | {"cmpss": {"lse": 0.49, "lr": 0.53, "fraction": 0.9}, "cmp": {"lse": 0.4}}
    results = made_up(told)
    line, sets, values = lines(results, "bits")
    assert [line.scheme, sets.scheme, values.scheme] == ["mpss", "cmpss", "cmp"]
    assert sets.attacks == ("lse", "lr") == line.attacks  # not the one that no line was judged by
    (point,) = sets.points
    assert (point.leak, point.bits, point.chance) == pytest.approx((0.03, 466, 0.03 * 2**0.5))
    assert values.points[0].leak == pytest.approx(0.1)
    assert [line.scheme for line in lines(results, "alpha")] == ["mpss"]
    (text,) = report_tables.curves(results, "bits")
    assert "Told at one precision: cmpss, cmp." in text
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
    results = made_up({"no": {"lr": 0.9}, "mp": {"lr": 0.8}, "mine": {"lr": 0.7}})
    own = {**results.schemes, "mine": {**results.schemes["mp"], "kind": "mine.Own", "bits": 4}}
    assert plain_schemes(replace(results, schemes=own)) == ["no", "mp", "mine"]
    theirs = {**own, "mine": {**results.schemes["mp"], "bits": 4}}
    assert plain_schemes(replace(results, schemes=theirs)) == ["no", "mp"]


def test_schemes_are_placed_by_what_was_measured() -> None:
    by_name = {one.scheme: one for one in placements(made_up())}
    assert by_name["mp"].leak == pytest.approx(0.5)  # by the fraction attack
    assert by_name["dmpss"].leak == pytest.approx(0.06)
    assert by_name["dmpss"].chance == pytest.approx(0.03 * 2**0.5)  # what verdicts go by
    assert by_name["dmpss"].cost == pytest.approx(0.02)
    assert by_name["dmpss"].bits == 136


@pytest.mark.slow
def test_curves_join_the_audit_in_its_directory(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midpoint.audit.run.curves.scheme_in_use", lambda *_: "cmpss")
    before = small_audit(tiny.ratings, tmp_path / "out", schemes=["cmpss"])
    after = audit_curves(
        tiny.ratings,
        "gender",
        ["share"],
        {"items": SMALL["items"]},
        folds=2,
        quick=True,
        out=tmp_path / "out",
        factorizer=QUICKLY,
    )
    assert set(before.rows) < set(after.rows)
    few, many = (after.get(f"no:share={n}", "auc", "items") for n in (0.05, 0.5))
    assert few is not None
    assert many is not None
    assert 0.5 < few.value < many.value
    assert {line.scheme for line in lines(after, "share")} == {"no", "cmpss"}
    assert [line.attacks for line in lines(after, "share")] == [("items",), ("items",)]
