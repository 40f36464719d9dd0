from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst.fit.choice import Choice
from midpoint.audit.report.tradeoff import lines
from midpoint.audit.run.curves import Thinned, curve_schemes
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population
from tests.support.audits.seen import Seen, codes
from tests.support.audits.small_audit import SMALL, small_audit

STARS, INTERVAL = Scale.stars(1, 5), Scale.continuous(0, 1)


def people(seen: Seen) -> Population:
    tried = seen.tried
    return Population(tried.user, tried.item, tried.value, codes(tried))


@pytest.mark.parametrize("scheme", ["no", "dmpss", "cmpss"])
def test_thinned_people_give_a_share_of_their_ratings_and_no_others(scheme: str) -> None:
    seen = Seen()
    given, thinned, profiles = people(seen), Thinned(scheme, share=0.3), seen.ready(scheme)
    disclosure = thinned.disclose(profiles)
    sent = thinned.report(disclosure, profiles, given, np.random.default_rng(0))
    whole = LearningProtocol(scheme).report(disclosure, profiles, given, np.random.default_rng(0))
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
    disclosure, given = thinned.disclose(seen.profiles), people(seen)
    chosen = np.zeros(len(given.item))
    for seed in range(200):
        chosen[
            thinned.report(disclosure, seen.profiles, given, np.random.default_rng(seed)).kept
        ] += 1
    assert np.abs(chosen - 60).max() < 6 * np.sqrt(200 * 0.3 * 0.7)
    with pytest.raises(MidpointError, match="coins to be drawn"):
        thinned.report(disclosure, seen.profiles, given, np.zeros((len(given.item), 4)))


@pytest.mark.slow
def test_thinned_people_are_moved_by_what_they_give() -> None:
    """What is taken off the scores is by the ratings given, not by all that she rated."""
    seen, thinned = Seen(), Thinned("cmpss", share=0.3)
    profiles, given = seen.ready("cmpss"), people(seen)
    disclosure = thinned.disclose(profiles)
    sent = thinned.report(disclosure, profiles, given, np.random.default_rng(4))
    moves = thinned.moves(disclosure, profiles, given, np.random.default_rng(4), sent)
    chosen = np.random.default_rng(4).random(len(given.user)) < 0.3
    some = Population(given.user[chosen], given.item[chosen], given.value[chosen], given.category)
    plain, coins = LearningProtocol("cmpss"), np.random.default_rng(0)
    by_some, by_all = (
        plain.moves(disclosure, profiles, these, coins, sent) for these in (some, given)
    )
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


@pytest.mark.slow
def test_curves_join_the_audit_in_its_directory(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Choice("cmpss", "it leaks least")
    monkeypatch.setattr("midpoint.audit.pipeline.choose_scheme", lambda *_, **__: chosen)
    before = small_audit(tiny.ratings, tmp_path / "out", schemes=["cmpss"], quick=True)
    after = small_audit(
        tiny.ratings,
        tmp_path / "out",
        schemes=["no"],
        attacks={"items": SMALL["items"]},
        quick=True,
        curves=["share"],
    )
    assert set(before.rows) < set(after.rows)
    few, many = (after.get(f"no:share={n}", "auc", "items") for n in (0.05, 0.5))
    assert few is not None
    assert many is not None
    assert 0.5 < few.value < many.value
    assert {line.scheme for line in lines(after, "share")} == {"no", "cmpss"}
    assert [line.attacks for line in lines(after, "share")] == [("items",), ("items",)]
