from pathlib import Path
from typing import Any

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from midpoint.analyst.service.metrics import DIRECTORY, Metrics


def test_figures_are_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY, raising=False)
    metrics = Metrics()
    metrics.requests.labels(route="/reports", method="POST", status="200").inc()
    metrics.reports.labels(kind="new").inc(3)
    shown = metrics.shown().decode()
    assert 'midpoint_requests_total{method="POST",route="/reports",status="200"} 1.0' in shown
    assert 'midpoint_reports_total{kind="new"} 3.0' in shown
    assert b"midpoint_reports_total{" not in Metrics().shown()  # each worker has its own


def test_a_worker_killed_before_it_wrote_any_hides_nobody_elses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(DIRECTORY, str(tmp_path))
    made: Any = MmapedDict  # it says nothing of its types
    dead = made(str(tmp_path / "counter_1.db"))
    dead.write_value(mmap_key("midpoint_reports", "midpoint_reports_total", [], [], ""), 3.0, 0.0)
    dead.close()
    (tmp_path / "counter_2.db").touch()
    assert b"midpoint_reports_total 3.0" in Metrics().shown()
