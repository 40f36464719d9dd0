from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import Scorer, disclose, expected_loss
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire import Report
from tests.support.models.small_model import run, trained

pytestmark = pytest.mark.slow


def test_it_prints_the_posterior_profile_count_and_loss(tmp_path: Path) -> None:
    model = trained()
    report = model.report(tmp_path / "r.json", model.answers(12))
    facts = run("estimate", model.directory, report, "--json")
    sent = Report.parse(report.read_bytes())
    estimate = Scorer(model.profiles, model.disclosure).estimate([sent])
    assert facts["profile"] == pytest.approx(estimate.mean.tolist())
    assert facts["count"] == 12
    assert facts["loss"] == pytest.approx(float(np.trace(estimate.covariance)))
    shown = run("estimate", model.directory, report)
    assert f"{estimate.mean[0]:+.3f}" in shown
    assert "12 answers" in shown


def test_least_squares_says_when_the_profile_is_not_determined(tmp_path: Path) -> None:
    model = trained()
    words = ("estimate", model.directory)
    few = model.report(tmp_path / "few.json", model.answers(2))
    facts = run(*words, few, "--estimator", "least-squares", "--json")
    assert facts["loss"] is None
    assert "not determine" in run(*words, few, "--estimator", "least-squares")
    many = model.report(tmp_path / "many.json", model.answers(12))
    facts = run(*words, many, "--estimator", "least-squares", "--json")
    V = model.profiles.vectors[:12].astype(np.float64)
    assert facts["loss"] == pytest.approx(expected_loss(V.T @ V, model.profiles.noise_variance))


def test_several_reports_add_and_an_item_counts_once(tmp_path: Path) -> None:
    model = trained()
    answers = list(model.answers(12).items())
    first = model.report(tmp_path / "1.json", dict(answers[:8]))
    second = model.report(tmp_path / "2.json", dict(answers[5:]), round=1)
    whole = model.report(tmp_path / "3.json", dict(answers))
    together = run("estimate", model.directory, first, second, "--json")
    assert together["count"] == 12
    assert together["profile"] == pytest.approx(
        run("estimate", model.directory, whole, "--json")["profile"]
    )


def test_reports_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model = trained()
    item = str(model.profiles.item_ids[0])
    first, second = (
        model.report(tmp_path / f"{value}.json", {item: value}, round=value) for value in (1, 2)
    )
    with pytest.raises(MidpointError, match="two people"):
        run("estimate", model.directory, first, second)
    without = disclose(model.profiles, "no")
    replace_file(tmp_path / "no.json", without.raw)
    foreign = model.report(tmp_path / "f.json", {item: 3}, disclosure=without.digest)
    run("estimate", model.directory, foreign, "--disclosure", tmp_path / "no.json")
    for more in ((), ("--disclosure", model.disclosure_file)):
        with pytest.raises(MidpointError, match=f"made under disclosure {without.digest[:12]}"):
            run("estimate", model.directory, foreign, *more)
    absurd = model.report(tmp_path / "a.json", {item: 2.0**30})
    with pytest.raises(MidpointError, match="no rating from 1 to 5"):
        run("estimate", model.directory, absurd)
    unknown = model.report(tmp_path / "u.json", {"no such item": 3})
    with pytest.raises(MidpointError, match="no such item"):
        run("estimate", model.directory, unknown)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(MidpointError, match=r"bad\.json.*not_json"):
        run("estimate", model.directory, tmp_path / "bad.json")
    with pytest.raises(MidpointError, match=r"gone\.json cannot be read"):
        run("estimate", model.directory, tmp_path / "gone.json")
