"""Members of a small panel are recognized in what is disclosed; in other people's, they are not."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import Factorizer, disclose, train
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.audit import AuditResults, AuditSetting, audit
from midpoint.audit.measure.findings import Membership
from midpoint.audit.membership import Reader, readable, recognized
from midpoint.audit.report.page import write_report
from midpoint.data import Ratings, simulate
from midpoint.errors import MidpointError
from midpoint.wire import from_fixed
from tests.support.tables.two_kinds import WORLD

QUICK = Factorizer(dimension=3, iterations=3)


@cache
def everyone() -> Ratings:
    return simulate(WORLD, seed=3).ratings


def some(first: int, last: int) -> Ratings:
    who = np.arange(everyone().n_users)
    return everyone().select_users((who >= first) & (who < last))


def measured(people: int, scheme: str = "dmpss") -> Membership:
    found = recognized(some(0, people), ("gender",), [scheme], factorizer=QUICK)
    return found[scheme]


@pytest.mark.slow
def test_a_panel_of_twenty_is_recognized_and_a_disclosure_of_others_gives_chance() -> None:
    small = measured(50)
    assert small.panel == small.reference == 20
    assert small.low > 0.7
    assert small.control_low < 0.5 < small.control_high
    assert "panel of 20 from a stranger" in small.words("dmpss")


@pytest.mark.slow
def test_a_larger_panel_hides_its_members_better_and_a_scheme_that_says_less_too() -> None:
    middle, large = measured(300), measured(1400)
    assert large.high < middle.low
    for found in (middle, large):
        assert found.control_low < 0.5 < found.control_high
        assert found.value == max(found.sets, found.values, found.both)
        assert found.value == getattr(found, found.kind)
    offsets = measured(300, "mpss")
    assert 0.5 < offsets.low < offsets.value < middle.low
    assert measured(300, "dmp").sets == 0.5  # it discloses nothing about sets


@pytest.mark.parametrize("scheme", ["dmpss", "mpss"])
def test_the_score_is_the_likelihood_ratio_of_the_equation(scheme: str) -> None:
    panel, reference, people = some(0, 60), some(60, 160), some(160, 170)
    named = {"factorizer": QUICK, "scheme": scheme}
    inside, outside = (train(who, "gender", **named) for who in (panel, reference))  # type: ignore[arg-type]
    shown, other = disclose(inside), disclose(outside)
    read = Reader(shown, outside, SchemeSpec.read(scheme)).scores(people, ("gender",))
    p, K = outside.estimates().probability, len(shown.features[0].categories)
    logs = [np.log(from_fixed(np.array(d.reveal))) for d in (shown, other)]
    a = [log.mean(axis=1, keepdims=True) - log for log in logs]
    codes = people.feature("gender").codes
    for person in range(people.n_users):
        k, sets, values = int(codes[person]), 0.0, 0.0
        for j, item in enumerate(people.item_ids.tolist()):
            row = shown.index[item]
            change = a[0][row, k] - a[1][row, k]
            sets -= p[j, k] * (np.exp(change) - 1)
            rated = np.flatnonzero((people.user == person) & (people.item == j))
            if not len(rated):
                continue
            rating = float(people.value[rated[0]])
            sets += change
            if shown.levels is not None and other.levels is not None:
                level = round(rating) - 1
                values += np.log(shown.levels[row][k][level] / other.levels[row][k][level])
            else:
                centre = outside.centre[j] + outside.offset[j, k]
                offsets = [from_fixed(np.array(d.offset))[row, k] for d in (shown, other)]
                moved = offsets[0] - offsets[1]
                spread = outside.noise_variance
                values += ((rating - centre) ** 2 - (rating - centre - moved) ** 2) / (2 * spread)
        assert read.sets[person] == pytest.approx(sets, abs=1e-6)
        assert read.values[person] == pytest.approx(values, abs=1e-4)
    assert K == 2


def test_a_reference_about_other_items_is_refused() -> None:
    panel, reference = some(0, 60), some(60, 160)
    fewer = reference.select_items(np.arange(reference.n_items - 1))
    inside, outside = (
        train(who, "gender", factorizer=QUICK, scheme="mpss") for who in (panel, fewer)
    )
    with pytest.raises(MidpointError, match="the items that are published"):
        Reader(disclose(inside), outside, SchemeSpec.read("mpss"))


def test_schemes_that_disclose_nothing_have_no_members_to_find() -> None:
    assert readable(["no", "dmpss", "mpss:alpha=0.5", "dmp:levels=3", "dmpss:rounds=4"]) == [
        "dmpss",
        "dmp:levels=3",
    ]


@pytest.mark.slow
def test_an_audit_says_it_on_request_and_keeps_it(tmp_path: Path) -> None:
    people = some(0, 120)
    setting = AuditSetting(membership=True, adversaries="panel")
    results = audit(people, "gender", "no,dmpss", "lse", folds=2, factorizer=QUICK, setting=setting)
    assert list(results.members) == ["dmpss"]
    found = results.members["dmpss"]
    assert found.low > 0.5
    results.save(tmp_path)
    assert AuditResults.load(tmp_path).members == results.members
    page = write_report(results, tmp_path, "").read_text()
    assert "Those who share their feature" in page
    assert f"{found.value:.3f}" in page
