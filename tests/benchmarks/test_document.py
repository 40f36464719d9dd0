"""The page of benchmarks: no empty table, the newest audit first, rounds beside each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report import document

HEAD = "dataset,feature,scheme,metric,attack,value,low,high,folds,seed"


def keep(results: Path, name: str, date: str, time: str | None = None, **more: Any) -> None:
    where = {"date": date, "cores": 2, "load_before": 0.5} | ({"time": time} if time else {})
    rows = more.pop("rows", [["lr on dmp", "0.5", "met"]])
    tables = [{"title": f"bars of {name}", "head": ["what", "wanted", ""], "rows": rows}]
    found = {"conditions": where, "tables": tables} | more
    (results / f"audit-{name}.json").write_text(json.dumps(found))


def headings(written: list[str]) -> list[str]:
    return [part.strip() for part in written if part.startswith("###")]


def test_the_newest_audit_of_a_case_is_first_and_others_are_called_older(tmp_path: Path) -> None:
    keep(tmp_path, "tv-gender-5-folds-no-dmp", "2026-02-03")
    keep(tmp_path, "tv-gender", "2026-02-01")
    keep(tmp_path, "tv-gender-rounds", "2026-01-01")
    written = list(document.audits(tmp_path))
    assert headings(written) == [
        "### tv-gender, 5 folds: no, dmp",
        "### tv-gender",
        "### tv-gender-rounds",
    ]
    (older,) = (k for k, part in enumerate(written) if part.startswith("An older run"))
    assert "2026-02-01" in written[older]
    assert written[older - 1].strip() == "### tv-gender"


def test_of_one_day_the_time_tells_and_else_the_larger_audit_is_first(tmp_path: Path) -> None:
    keep(tmp_path, "a-no-dmp", "2026-02-01", "09:30")
    keep(tmp_path, "a", "2026-02-01", "08:00")
    keep(tmp_path, "b-2-folds", "2026-02-01")
    keep(tmp_path, "b-5-folds-no-dmp", "2026-02-01")
    keep(tmp_path, "b-12-folds", "2026-02-01")
    written = list(document.audits(tmp_path))
    expected = ["a: no, dmp", "a", "b, 12 folds", "b, 2 folds", "b, 5 folds: no, dmp"]
    assert headings(written) == [f"### {one}" for one in expected]
    assert sum(part.startswith("An older run") for part in written) == 1


def test_a_table_without_rows_is_left_out(tmp_path: Path) -> None:
    keep(tmp_path, "full", "2026-02-01")
    keep(tmp_path, "bare", "2026-02-01", rows=[])
    written = "\n".join(document.audits(tmp_path))
    assert "bars of full" in written
    assert "| lr on dmp | 0.5 | met |" in written
    assert "bars of bare" not in written
    assert written.count("| what |") == 1


def test_rounds_show_what_was_read_of_each_kind_of_device(tmp_path: Path) -> None:
    keep(tmp_path, "rounds-4-folds", "2026-02-01", rows=[], said="nothing was read")
    devices = {"no": 0.7, "dmpss": 0.55, "dmpss:forgetful": 0.6, "dmpss:tossing": 0.9}
    lines = [HEAD, "d,gender,dmpss,auc,lr,0.61,0.55,0.66,4,0"]
    for device, value in devices.items():
        scheme, _, kind = device.partition(":")
        name = f"{scheme}:rounds=3" + (f":{kind}" if kind else "")
        lines += [
            f"d,gender,{name},auc,{attack},{value},{value - 0.05},{value + 0.05},4,0"
            for attack in ("lr", "lr[F]")
        ]
    (tmp_path / "audit-rounds-4-folds.csv").write_text("\n".join(lines) + "\n")
    written = "\n".join(document.audits(tmp_path))
    assert "**dmpss, whole transcripts of 3 rounds, 4 folds: AUC**" in written
    assert "| attacker | raw | decisions final | forgetful | tossing |" in written
    row = "| lr | 0.700 (0.650-0.750) | 0.550 (0.500-0.600) | 0.600 (0.550-0.650) | 0.900"
    assert row in written
    assert "lr[F]" not in written
    assert "0.610" not in written
    assert "In words: nothing was read." in written


def test_the_code_that_made_figures_is_named_where_it_was_kept(tmp_path: Path) -> None:
    keep(tmp_path, "known", "2026-02-01", code="abc" * 21)
    assert "; code `abcabcabcabc`." in "\n".join(document.audits(tmp_path))
    keep(tmp_path, "known", "2026-02-01")
    assert "code" not in "\n".join(document.audits(tmp_path))


def test_a_program_without_figures_has_no_chapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "docs" / "results").mkdir(parents=True)
    monkeypatch.setattr(document, "RESULTS", tmp_path / "results")
    monkeypatch.setattr("sys.argv", ["document.py"])
    monkeypatch.setattr(document, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(document, "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text("<!-- written by make bench -->\n<!-- end -->")
    keep(tmp_path / "results", "tv", "2026-02-01")
    document.main()
    page = (tmp_path / "docs" / "results" / "benchmarks.md").read_text()
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## The audit in full"
    ]
    assert "### tv\n" in page
