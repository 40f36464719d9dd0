"""Each of the engines, for the contracts that all of them keep."""

import pytest

from midpoint.analyst.engines import Engine, LocalEngine, StreamingEngine
from tests.support.tables.tables_on_disk import FROM_DISK


@pytest.fixture(params=["local", *FROM_DISK])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Return each of the engines."""
    if request.param == "local":
        return LocalEngine()
    if request.param == "stream":
        return StreamingEngine()
    from midpoint.analyst.engines.spark import SparkEngine  # noqa: PLC0415 - quick tests do without

    return SparkEngine(request.getfixturevalue("spark"))
