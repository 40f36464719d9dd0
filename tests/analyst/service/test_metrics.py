import pytest

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
