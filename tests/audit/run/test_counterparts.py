"""Audits of the schemes with counterparts: what they learn beside profiles, once and for all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import prepare
from midpoint.audit import Progress
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.page import write_report
from midpoint.audit.report.verdict import headline
from midpoint.audit.run import folds
from midpoint.audit.run.accuracy import measure
from midpoint.audit.run.folds import FoldData, learn, prepared
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.store import Store
from midpoint.audit.run.views import ReportViews, held_out_coins
from midpoint.data import Ratings, Simulation, simulate
from midpoint.protocol import LearningProtocol
from midpoint.wire import SCHEMES
from tests.support.audits.seen import LEAKY
from tests.support.audits.small_audit import CALLS, SMALL, small_audit

pytestmark = pytest.mark.slow  # whole audits

BOTH = ("cmpss", "cmp")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counterparts") / "out"


@pytest.fixture(scope="module")
def results(tiny: Simulation, directory: Path) -> AuditResults:
    return small_audit(tiny.ratings, directory, schemes=BOTH)


def no_fit(*_: object, **__: object) -> None:
    raise AssertionError("it was fitted again")


def test_they_are_measured_like_all_others(results: AuditResults) -> None:
    assert results.scheme_names() == ["no", *BOTH]
    value = {
        (scheme, metric): row.value
        for scheme in BOTH
        for metric in ("withheld", "disclosed_bits", "rmse_local", "rmse_blind")
        if (row := results.get(scheme, metric))
    }
    assert value["cmp", "withheld"] == 0 < value["cmpss", "withheld"] < 0.6
    assert value["cmpss", "disclosed_bits"] > value["cmp", "disclosed_bits"] > 0
    for scheme in BOTH:
        assert value[scheme, "rmse_local"] < value[scheme, "rmse_blind"]
    assert {"learn", "learn cmpss", "learn cmp"} < set(results.seconds)


def test_a_second_run_fits_nothing_and_another_attacker_no_positions(
    tiny: Simulation, directory: Path, results: AuditResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    CALLS.clear()
    monkeypatch.setattr(folds, "prepare", no_fit)
    assert small_audit(tiny.ratings, directory, schemes=BOTH).rows == results.rows
    assert CALLS == []
    more = {"again": SMALL["adaptive-items"]}
    found = small_audit(tiny.ratings, directory, schemes=BOTH, attacks=more)
    assert CALLS
    # It joins the others' judge, whose answers are other ones then.
    rows = {row for row in results.rows if not row.attack.startswith("judge:")}
    assert rows < set(found.rows)


def test_a_killed_run_resumes_to_the_same_result(
    tiny: Simulation, results: AuditResults, tmp_path: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done >= 2:  # when it has learned positions for one scheme and not for the other
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small_audit(tiny.ratings, tmp_path, schemes=BOTH, progress=stop)
    assert small_audit(tiny.ratings, tmp_path, schemes=BOTH).rows == results.rows


def test_the_number_of_processes_changes_nothing(tiny: Simulation, results: AuditResults) -> None:
    assert small_audit(tiny.ratings, schemes=BOTH, jobs=2).rows == results.rows


def test_settings_of_a_scheme_share_what_it_learned(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[str] = []
    real = prepare

    def counted(profiles: Any, ratings: Ratings, scheme: Any, **more: Any) -> Any:
        fitted.append(scheme.name)
        return real(profiles, ratings, scheme, **more)

    monkeypatch.setattr(folds, "prepare", counted)
    names = ("cmpss", "cmpss:alpha=0.5", "cmpss:estimation=plain")
    found = small_audit(tiny.ratings, tmp_path, schemes=names, attacks={"i": SMALL["items"]})
    assert found.scheme_names() == ["no", *names]
    in_a_fold = 1 + 3 + 3  # from all, without each part, and without each pair
    assert fitted == ["cmpss"] * 2 * in_a_fold
    assert Store(tmp_path).profiles(0, "cmpss").exists()
    small_audit(tiny.ratings, tmp_path, schemes=["cmp"], attacks={"i": SMALL["items"]})
    assert fitted[2 * in_a_fold :] == ["cmp"] * 2 * in_a_fold


def test_devices_take_their_move_off_again() -> None:
    """The control: scores of people who forget it are farther from what they rate."""
    config = replace(LEAKY, users=900, ratings=18_000, taste_sd=0.8)
    ratings = simulate(config, seed=2).ratings
    plan, protocol = Plan(("gender",), folds=3), LearningProtocol("cmpss")
    fold = FoldData.of(ratings, plan, 0)
    profiles = prepared(fold, learn(fold), SCHEMES["cmpss"])
    view = ReportViews(fold, "cmpss", protocol, profiles).held_out

    class Forgetful(LearningProtocol):
        def moves(self, *_: object) -> Any:
            return np.zeros((fold.given.n_users, 0), dtype=np.int64)

    knowing, forgetful = (
        measure(fold, view, "cmpss", one).local.sum() for one in (protocol, Forgetful("cmpss"))
    )
    assert knowing < forgetful
    assert (
        np.abs(protocol.moves(view.disclosure, profiles.whole, *_people(fold), view.reports)).max()
        > 0
    )


def _people(fold: FoldData) -> tuple[Any, Any]:
    return folds.population(fold.given, fold.plan), held_out_coins(fold, "cmpss")


def test_the_report_speaks_of_it(results: AuditResults, tmp_path: Path) -> None:
    verdict = headline(results)
    assert verdict is not None
    assert verdict.scheme == "cmpss"
    text = write_report(results, tmp_path, "midpoint audit").read_text()
    assert "cmpss" in text
    for name in BOTH:
        assert LearningProtocol(name).statement.guarantees.split(".")[0] in text
