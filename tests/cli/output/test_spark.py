"""Spark for one command: what fails on a worker is explained, and nothing else is."""

from typing import Any

import pytest
from pyspark.errors import PythonException

from midpoint.cli.output.spark import spark
from midpoint.errors import MidpointError


def test_a_worker_without_midpoint_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midpoint.analyst.engines.spark.open_session", lambda _master: Any)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: Any)  # none is stopped
    said = "Traceback ...\nModuleNotFoundError: No module named 'midpoint'\n"
    remedy = r"lacks .*No module named 'midpoint'\); install midpoint\[spark\] on every machine"
    with pytest.raises(MidpointError, match=remedy), spark(None):
        raise PythonException(said)
    # Anything else that fails there is not explained away.
    with pytest.raises(PythonException, match="ZeroDivisionError"), spark(None):
        raise PythonException("ZeroDivisionError: division by zero")
