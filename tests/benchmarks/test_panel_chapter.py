"""What panels and reports teach: shares beside each other, each against its own folds."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report import document as module

WHERE = {"date": "2026-02-03", "cores": 2, "load_before": 0.5}


@pytest.fixture
def document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr(module, "DOCS", tmp_path)
    return module


def keep(results: Path, scheme: str, raw: float, reports: float, panels: tuple[int, ...]) -> None:
    """Keep one fold of one scheme, as the program does."""
    everyone = {"panel": 0, "fold": 0, "alone": raw, "alone_protected": raw}
    figures = ("alone", "both", "as_many_raw", "alone_protected", "both_protected")
    rows = [{"panel": size, "fold": 0, **dict.fromkeys(figures, reports)} for size in panels]
    about = {"scheme": scheme, "source": "movielens-1m", "conditions": WHERE}
    tables = [{"title": f"of {scheme}", "head": ["panel", "RMSE"], "rows": [["500", "1"]]}]
    name = "panel_and_reports" + ("" if scheme == "cmpss" else f"-{scheme}".replace(":", "-"))
    (results / f"{name}.json").write_text(
        json.dumps(about | {"rows": [*rows, everyone], "tables": tables})
    )


def test_each_share_is_compared_with_raw_ratings_of_its_own_folds(
    document: Any, tmp_path: Path
) -> None:
    keep(tmp_path, "cmpss:keep=0.25", 0.8, 0.828, (500,))
    keep(tmp_path, "cmpss", 1.0, 1.01, (500,))
    keep(tmp_path, "dmpss", 1.0, 1.5, (250, 500, 1000))
    written = list(document.panels(tmp_path))
    rows = [line for part in written for line in part.splitlines() if line.startswith("| `")]
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| `cmpss`", "1.0100 (+1.0 %)"],
        ["| `cmpss:keep=0.25`", "0.8280 (+3.5 %)"],
    ]
    headings = [part.strip() for part in written if part.startswith("###")]
    assert headings == [
        "### cmpss, movielens-1m",
        "### dmpss, movielens-1m",
        "### cmpss:keep=0.25, movielens-1m",
    ]
    drawn = (tmp_path / "images" / "benchmark-panel-and-reports.svg").read_text()
    assert drawn.rstrip().endswith("</svg>")


def test_without_runs_there_is_no_chapter(document: Any, tmp_path: Path) -> None:
    assert list(document.panels(tmp_path)) == []
