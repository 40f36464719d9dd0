"""README's table of speed and error says what the results say."""

import json
from pathlib import Path

import pytest

from benchmarks.report import summary

ROOT = Path(__file__).parents[2]


def test_the_table_in_readme_is_the_one_that_the_results_give() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert summary.rewrite(text, ROOT / "benchmarks" / "results") == text


def test_another_result_gives_another_table(tmp_path: Path) -> None:
    measured = json.loads((ROOT / "benchmarks" / "results" / "scaling.json").read_text())
    measured["flixster"]["peak_megabytes"] = 12_345
    (tmp_path / "scaling.json").write_text(json.dumps(measured))
    assert "**12345 MB**" in summary.table(tmp_path)


def test_a_readme_without_the_marks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no table between"):
        summary.rewrite("no table here", tmp_path)
