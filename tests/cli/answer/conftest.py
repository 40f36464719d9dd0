"""A service for the tests of `midpoint answer`."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http.app import create_app
from midpoint.analyst.service.server import Address, configured, listening
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.user.agent import Agent
from tests.support.models.small_model import trained


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service in a thread, on a port that the system chooses."""
    site = Site(tmp_path_factory.mktemp("site"))
    site.publish(trained().profiles, trained().disclosure, time=1_700_000_000)
    database = sqlite_url(site.root / "midpoint.sqlite")
    migrate(database)
    settings = Settings(site=str(site.root), database=database, ask=6, rate=0, log=False)
    local = Address(port=0)
    server = uvicorn.Server(configured(create_app(settings), local))
    with listening(local) as (opened, address):
        thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield address
        server.should_exit = True
        thread.join()


@pytest.fixture
def agent(url: str, tmp_path: Path) -> Iterator[Agent]:
    """Return a new person's agent."""
    with Agent.open(url, tmp_path / "home") as opened:
        yield opened
