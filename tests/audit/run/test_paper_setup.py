from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.audit import AuditResults, AuditSetting, audit
from midpoint.audit.attackers.joint import Regressions, regress
from midpoint.audit.measure.findings import INFERRED, RMSE
from midpoint.audit.report.page import write_report
from midpoint.audit.report.paper_tables import compare
from midpoint.audit.report.settings import model_words
from midpoint.audit.report.tradeoff import lines, plain_schemes
from midpoint.audit.run import paper_setup
from midpoint.audit.run.schemes_and_attacks import choose_schemes
from midpoint.data import Ratings, Scale, Simulation, simulate
from midpoint.data.simulation.presets import PRESETS
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Reports

PAPER = AuditSetting(paper=True)


def dense(users: int = 120, items: int = 24) -> Simulation:
    """Simulate people who rate nearly everything, as in Politics-and-TV."""
    ptv = PRESETS["simulated-ptv"]
    small = replace(ptv, users=users, items=items, ratings=int(0.98 * users * items))
    return simulate(small, seed=1)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> AuditResults:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_setup, "PENALTIES", (0.05, 0.1))
        patch.setattr(paper_setup, "ALPHAS", (0.5,))
        out = tmp_path_factory.mktemp("paper") / "out"
        found = audit(dense().ratings, "gender", out=out, progress=False, setting=PAPER)
        again = audit(dense().ratings, "gender", out=out, progress=False, setting=PAPER)
    assert found.rows == again.rows  # a finished run is only collected again
    return found


def test_what_contradicts_the_paper_is_refused_by_name() -> None:
    paper_setup.require_no_other(schemes=None, folds=10, at_least=20, quick=False, curves=())
    paper_setup.require_no_other(given=0.7, attacks=["paper"])  # they say the same
    contrary = ({"folds": 3}, {"quick": True}, {"attacks": ["lr"]}, {"at_least": 5}, {"given": 1.0})
    for options in contrary:
        (name,) = options
        with pytest.raises(MidpointError, match=name.replace("_", "-")):
            paper_setup.require_no_other(**options)
    with pytest.raises(MidpointError, match="schemes and rounds"):
        paper_setup.require_no_other(schemes=["mp"], rounds=2)


def test_the_library_refuses_them_too(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="folds"):
        audit(tiny.ratings, "gender", folds=2, setting=PAPER)
    with pytest.raises(MidpointError, match="curves"):
        audit(tiny.ratings, "gender", setting=replace(PAPER, curves=["alpha"]))


def test_the_work_is_the_papers() -> None:
    work = paper_setup.paper_work(Scale.stars(1, 5))
    whole = [name for name in work.schemes if ":" not in name]
    assert sorted(whole) == sorted(paper_setup.SCHEMES)
    assert all(how.estimation == "plain" for how in work.schemes.values())
    assert all(how.estimator == "least-squares" for how in work.schemes.values())
    assert set(work.attackers) == {"lse", "lse-penalized", "lse-matched", "nb", "lr", "svm"}
    assert work.clean == set(work.attackers)
    assert work.wants("mpss", "svm")
    assert work.wants("ssfa:alpha=0.3", "lse")
    assert not work.wants("ssfa:alpha=0.3", "svm")  # Figure 7 is of least squares alone


def test_on_a_continuous_scale_nothing_is_rounded() -> None:
    work = paper_setup.paper_work(Scale.continuous(0, 1))
    assert not {"mpr", "mpssr"} & set(work.schemes)
    assert "mpss" in work.schemes


def test_people_and_items_have_twenty_ratings(tiny: Simulation) -> None:
    people = paper_setup.paper_people(tiny.ratings)
    assert np.diff(people.user_offsets).min() >= 20
    assert np.diff(people.by_item.offsets).min() >= 20


def test_regularization_is_tuned_on_held_out_people() -> None:
    people = dense().ratings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_setup, "PENALTIES", (1e-4, 0.1, 3.0))
        fit = paper_setup.tuned(people, ("gender",), 0)
    assert fit.regularization == 0.1  # neither none nor all of it
    assert (fit.method, fit.dimension, fit.iterations, fit.biases) == ("factors", 20, 20, "plain")


def test_of_many_people_some_folds_are_enough_to_tune(monkeypatch: pytest.MonkeyPatch) -> None:
    people = dense().ratings
    fitted: list[int] = []

    def predicted(_: object, shown: Reports, penalty: float) -> Regressions:
        fitted.append(len(shown.user_offsets) - 1)
        return regress(_, shown, penalty)  # type: ignore[arg-type]

    monkeypatch.setattr(paper_setup, "PENALTIES", (0.1,))
    monkeypatch.setattr(paper_setup, "regress", predicted)
    for enough, folds in ((10**6, 10), (30, 3), (1, 1)):
        fitted.clear()
        monkeypatch.setattr(paper_setup, "TUNED_BY", enough)
        paper_setup.tuned(people, ("gender",), 0)
        assert fitted == [12] * folds  # of 120 people


@pytest.mark.slow
def test_an_audit_is_the_papers_experiment(results: AuditResults, tmp_path: Path) -> None:
    assert results.is_paper
    assert plain_schemes(results) == list(paper_setup.SCHEMES)
    assert results.folds == 10
    assert {line.scheme for line in lines(results, "alpha")} == set(paper_setup.CURVES)
    words = model_words(results)
    parts = ("gradient descent", "20 latent", "no means of items or users")
    for part in (*parts, "20 passes", "plain half", "10 folds", "70%"):
        assert part in words
    report = write_report(results, tmp_path).read_text(encoding="utf-8")
    assert words.partition(".")[0] in report
    assert "a stand-in for Politics-and-TV" in report
    assert "with the penalty of the fit" in report
    assert "with a penalty fitted to the paper" in report


@pytest.mark.slow
def test_every_number_of_the_paper_is_beside_ours(results: AuditResults) -> None:
    found = compare(results)
    assert {one.scheme for one in found} == set(paper_setup.SCHEMES)
    raw = {one.what: one for one in found if one.scheme == "no"}
    for kind in ("lse", "lse-penalized", "lse-matched"):
        assert raw[kind].paper == 0.697
    for metric in INFERRED:
        assert raw[metric].paper == 1.257
    for one in found:
        assert one.difference == pytest.approx(one.here - one.paper)  # type: ignore[operator]


@pytest.mark.slow
def test_costs_compare_like_with_like(results: AuditResults) -> None:
    raw, here = results.get("no", RMSE[0]), results.get("ia", RMSE[0])
    assert raw is not None
    assert here is not None
    assert results.cost("ia") == pytest.approx(here.value / raw.value - 1)
    assert results.cost("no") == 0
    assert results.costs["ia"].value == pytest.approx(results.cost("ia"))


@pytest.mark.slow
def test_raw_ratings_are_read_and_midpoints_less(results: AuditResults) -> None:
    raw, shifted = (results.get(name, "auc", "lse-penalized") for name in ("no", "mp"))
    assert raw is not None
    assert shifted is not None
    assert raw.value > 0.7
    assert shifted.value < raw.value - 0.15


def test_schemes_estimated_otherwise_have_a_baseline_of_their_own(tiny: Simulation) -> None:
    text = "mpss:estimation=plain:estimator=least-squares"
    chosen = choose_schemes([text, "dmpss"], tiny.ratings.scale)
    assert list(chosen) == ["no", "no:estimator=least-squares", text, "dmpss"]
    assert chosen["no:estimator=least-squares"] == LearningProtocol("no", estimator="least-squares")


def test_least_squares_predicts_worse_than_with_the_penalty() -> None:
    """The reason that both are reported: few ratings leave a profile open."""
    people: Ratings = dense().ratings
    fit = replace(paper_setup.FIT, regularization=0.07).fit(people, "gender")
    few = people.user_offsets[:2]
    shown = slice(int(few[0]), int(few[0]) + 21)
    reports = Reports(
        np.arange(21), np.array([0, 21]), people.item[shown], people.value[shown].astype(float)
    )
    found = regress(fit, reports, 0.07)
    plain, penalized = found.minimum_norm.profile[0, 0], found.penalized.profile[0, 0]
    assert plain @ plain > 2 * penalized @ penalized
