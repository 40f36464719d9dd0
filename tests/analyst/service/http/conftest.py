"""One running service for the tests of the interface."""

from collections.abc import Iterator

import httpx
import pytest

from midpoint.analyst import (
    Training,
)
from midpoint.analyst.disclose.site import Site
from tests.support.sites.serving import Person, published, running, settings_of


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, trained_stars: Training) -> Site:
    return published(tmp_path_factory.mktemp("site"), trained_stars.items)


@pytest.fixture(scope="package")
def client(site: Site) -> Iterator[httpx.Client]:
    with running(settings_of(site)) as opened:
        yield opened


@pytest.fixture
def ann(client: httpx.Client) -> Person:
    return Person(client)
