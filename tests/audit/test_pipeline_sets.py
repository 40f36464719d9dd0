"""An audit of unary data: lists are judged, errors of ratings are not, and raw sets are read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.audit import AuditResults, AuditSetting, audit
from midpoint.audit.measure.results import AuditResults as Loaded
from midpoint.audit.report.page import page
from midpoint.audit.report.settings import model_words
from midpoint.audit.report.verdict import judge
from midpoint.audit.run.schemes_and_attacks import choose_attacks, choose_schemes, of_scale
from midpoint.data import PRESETS, Ratings, Scale, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import SMALL, small_audit

PLAYS = replace(
    PRESETS["simulated-plays"],
    users=240,
    items=60,
    ratings=4_000,
    features=(SimulatedFeature("gender", ("F", "M"), selection_sd=0.8),),
)


@pytest.fixture(scope="module")
def sets() -> Ratings:
    return simulate(PLAYS).ratings


@pytest.fixture(scope="module")
def made(sets: Ratings, tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditResults, Path]:
    out = tmp_path_factory.mktemp("sets")
    return small_audit(sets, out, schemes=["ss", "dmpss", "cmpss"]), out


@pytest.mark.slow
def test_raw_sets_are_read_and_sub_sampled_ones_less(made: tuple[AuditResults, Path]) -> None:
    results, _ = made
    raw, protected = (results.get(scheme, "auc", "items") for scheme in ("no", "dmpss"))
    assert raw is not None
    assert protected is not None
    assert raw.value > 0.75  # the control
    assert abs(protected.value - 0.5) < abs(raw.value - 0.5) / 2


@pytest.mark.slow
def test_lists_are_judged_and_errors_are_not(made: tuple[AuditResults, Path]) -> None:
    results, _ = made
    assert results.unary
    assert results.scheme_names() == ["no", "ss", "dmpss", "cmpss"]
    assert not [row for row in results.rows if row.metric.startswith("rmse")]
    assert results.cost("no") == 0
    assert results.cost("dmpss") == results.ndcg_costs["dmpss"].value
    verdict = judge(results, "dmpss")
    assert verdict is not None
    assert "RMSE" not in verdict.lines
    assert "% of NDCG@10" in verdict.lines
    assert "RMSE" not in repr(results)


@pytest.mark.slow
def test_what_is_found_is_shown_and_read_again(made: tuple[AuditResults, Path]) -> None:
    results, out = made
    results.save(out)
    assert Loaded.load(out).rows == results.rows
    shown = page(results)
    assert "NDCG@10" in shown
    assert "RMSE of held-out" not in shown
    assert "what share of NDCG@10 lists lose" in shown
    assert "error" not in shown.partition("<h3>How to read this</h3>")[2].partition("</ul>")[0]


@pytest.mark.slow
def test_a_person_with_one_item_is_audited_and_her_list_is_not_judged(sets: Ratings) -> None:
    alone = sets.select_ratings((sets.user > 0) | (np.arange(len(sets)) == 0))
    assert (np.diff(alone.user_offsets) == 1).any()
    results = small_audit(alone, None, schemes=["dmpss"])
    ndcg = results.get("dmpss", "ndcg_at_10")
    assert ndcg is not None
    assert 0 < ndcg.value < 1


def test_what_changes_values_is_refused_for_sets(sets: Ratings) -> None:
    assert list(choose_schemes(None, Scale.unary())) == ["no", "ss", "dmpss", "cmpss", "nothing",
                                                         "default"]  # fmt: skip
    for wrong in ("mp", "dmp", "full"):
        with pytest.raises(MidpointError, match="changes values, and unary data has none"):
            choose_schemes([wrong], Scale.unary())
    assert "fraction" not in of_scale(choose_attacks(None), Scale.unary(), named=False)
    with pytest.raises(MidpointError, match="'fraction' reads changed values"):
        of_scale(choose_attacks("fraction"), Scale.unary(), named=True)
    with pytest.raises(MidpointError, match="the paper's experiment is about ratings"):
        audit(sets, "gender", setting=AuditSetting(paper=True))


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
def test_split_by_time_later_items_are_looked_for(sets: Ratings, graded: bool) -> None:
    """Items come into fashion in the order of their numbers, so nothing earlier tells of later."""
    drawn = np.random.default_rng(0).normal(0, 5, len(sets))
    timed = replace(sets, time=(100 * sets.item + drawn).astype(np.int64))
    if graded:
        value = 1 + (sets.user + sets.item) % 5
        timed = replace(timed, value=value.astype(np.float32), scale=Scale.stars(1, 5))
    options: dict[str, Any] = {"schemes": ["dmpss"], "attacks": {"items": SMALL["items"]}}
    later, control = (small_audit(timed, by_time=by, **options) for by in (True, False))
    ndcg = [one.get("no", "ndcg_at_10") for one in (later, control)]
    assert ndcg[0] is not None
    assert ndcg[1] is not None
    assert ndcg[0].value < 0.5 * ndcg[1].value  # what was not yet there cannot be recommended
    said = ("is trained on and given;", "70% of a held-out user's set are")
    if graded:
        said = ("are trained on and given;", "70% of a held-out user's ratings are")
    for words, one in zip(said, (later, control), strict=True):
        assert words in model_words(one)
    assert ("confidence weights" in model_words(control)) != graded
    assert ("rmse_inferred" in model_words(control)) == graded
    assert bool([row for row in later.rows if row.metric.startswith("rmse")]) == graded
    with pytest.raises(MidpointError, match="has no times"):
        small_audit(sets, by_time=True, **options)
