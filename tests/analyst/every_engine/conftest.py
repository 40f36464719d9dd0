"""One Spark for all tests of a run, on two cores of this machine."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Start Spark when the first test asks for it."""
    from midpoint.analyst.spark import open_session  # noqa: PLC0415 - quick tests do without

    session = open_session("local[2]", driver_memory="1g", sql_shuffle_partitions="2")
    yield session
    session.stop()
