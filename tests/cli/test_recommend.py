from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import Scorer, disclose
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.user import PrivateCategory, correct
from midpoint.wire import Report, Scores
from tests.support.models.small_model import Model, run, trained


def scored(model: Model, report: Path) -> tuple[Scorer, list[Report]]:
    return Scorer(model.profiles, model.disclosure), [Report.parse(report.read_bytes())]


def test_it_ranks_midway_scores_without_what_was_answered(tmp_path: Path) -> None:
    model = trained()
    answers = model.answers(12)
    report = model.report(tmp_path / "r.json", answers)
    facts = run("recommend", model.directory, report, "--top", 5, "--json")
    rows = facts["recommended"]
    assert len(rows) == 5
    assert facts["shortlist"] == model.profiles.n_items  # 2 (5 + 2,000), or all
    assert not {row["item"] for row in rows} & set(answers)
    scorer, reports = scored(model, report)
    mean, deviation = scorer.estimate(reports).predict(model.profiles)
    mean[np.isin(model.profiles.item_ids, list(answers))] = -np.inf
    assert [row["score"] for row in rows] == pytest.approx(np.sort(mean)[::-1][:5].tolist())
    best = int(np.argmax(mean))
    assert rows[0]["deviation"] == pytest.approx(deviation[best])
    assert rows[0]["shown"] == min(5.0, rows[0]["score"])
    assert str(model.profiles.item_names[best]) in run("recommend", model.directory, report)


@pytest.mark.parametrize("category", ["F", "M"])
def test_the_scores_hold_the_exact_top_for_every_category(tmp_path: Path, category: str) -> None:
    """Even after her device takes out items that the analyst does not know of."""
    model = trained()
    report = model.report(tmp_path / "r.json", model.answers(6))
    out = tmp_path / "scores.json"
    words = ("--top", 4, "--margin", 8, "--disclosure", model.disclosure_file)
    facts = run("recommend", model.directory, report, *words, "--out", out, "--json")
    listed = Scores.parse(out.read_bytes())
    assert len(listed.items) == facts["shortlist"] == 2 * (4 + 8)
    scorer, reports = scored(model, report)
    assert listed == scorer.top(reports, top=4, margin=8)
    everything = scorer.scores(reports)
    private = PrivateCategory.of(model.disclosure, {"gender": category})

    def ranking(scores: Scores, rated: Collection[str]) -> list[str]:
        return [best.item for best in correct(scores, model.disclosure, private, rated, ())]

    rated = set(ranking(everything, ())[:8])
    top = ranking(everything, rated)[:4]
    assert ranking(listed, rated)[:4] == top
    run("recommend", model.directory, report, "--top", 4, "--margin", 0, *words[4:], "--out", out)
    assert ranking(Scores.parse(out.read_bytes()), rated)[:4] != top


def test_scores_go_with_the_disclosure_of_the_reports(tmp_path: Path) -> None:
    model = trained()
    report = model.report(tmp_path / "r.json", model.answers(6))
    out = tmp_path / "s.json"
    other = disclose(model.profiles, "mpr")
    replace_file(tmp_path / "mpr.json", other.raw)
    with pytest.raises(MidpointError, match="made under disclosure"):
        run("recommend", model.directory, report, "--disclosure", tmp_path / "mpr.json",
            "--out", out)  # fmt: skip
    assert not out.exists()
    run("recommend", model.directory, report, "--out", out)
    assert Scores.parse(out.read_bytes()).disclosure == model.disclosure.digest
