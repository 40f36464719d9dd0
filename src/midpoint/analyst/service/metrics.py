"""Figures for operators, about the service and about no person.

With several workers each writes to files in a directory that they share, and the worker that is
asked adds them up: `prometheus_client`'s multiprocess mode, which PROMETHEUS_MULTIPROC_DIR chooses
before start.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ERRORS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)


class _Workers(MultiProcessCollector):
    """The figures of all workers, those that ended included."""

    def collect(self) -> Iterable[Metric]:
        """Add them up, without files that a worker was killed at before it wrote to them."""
        files = [path for path in Path(os.environ[DIRECTORY]).glob("*.db") if path.stat().st_size]
        return self.merge([str(path) for path in files])  # type: ignore[no-untyped-call, no-any-return]


class Metrics:
    """All figures of one worker."""

    media = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.requests = Counter(
            "midpoint_requests",
            "Requests by route, method and status.",
            ["route", "method", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "midpoint_request_seconds",
            "Seconds until a request was answered.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self.declined = Counter(
            "midpoint_declined", "Requests declined, by code.", ["code"], registry=registry
        )
        self.reports = Counter(
            "midpoint_reports", "Reports kept, new and repeated.", ["kind"], registry=registry
        )
        self.batch = Histogram(
            "midpoint_commit_requests", "Requests in one commit.", buckets=SIZES, registry=registry
        )
        self.commit = Histogram(
            "midpoint_commit_seconds", "Seconds of one commit.", buckets=SECONDS, registry=registry
        )
        self.error = Histogram(
            "midpoint_profile_error",
            "Expected squared error of a profile after a report.",
            buckets=ERRORS,
            registry=registry,
        )

    def shown(self) -> bytes:
        """Return all figures as text, those of all workers together."""
        if DIRECTORY not in os.environ:
            return generate_latest(self._registry)
        everyone = CollectorRegistry()
        _Workers(everyone)  # type: ignore[no-untyped-call]
        return generate_latest(everyone)
