"""The page under the scheme with counterparts: what leaves and what can be guessed from it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.analyst import Factorizer, disclose, fit_positions
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from tests.support.page_service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
MANY = (5,) * 16


@pytest.fixture
def positions_service(tiny: Simulation, tmp_path: Path) -> Iterator[Service]:
    """One whose disclosure has a prior of positions."""
    profiles = Factorizer(dimension=4).fit(tiny.ratings, "gender")
    profiles = fit_positions(profiles, tiny.ratings, selection_factors=2, taste_factors=4)
    Site(tmp_path).publish(profiles, disclose(profiles, "cmpss"), time=1_800_000_000)
    running = Service(tmp_path)
    running.start()
    yield running
    running.kill()


def test_ratings_leave_as_those_of_counterparts(visit: Visit, positions_service: Service) -> None:
    she = visit(url=positions_service.url)
    she.open()
    she.choose("Female")
    she.rate_first(MANY)
    raw = she.page.get_by_role("figure", name="From raw ratings").first
    sent = she.page.get_by_role("figure", name="From what you send").first
    expect(raw).to_contain_text("for “")
    expect(sent).to_contain_text("50 %")
    she.send()
    she.wait_for_recommendations()
    (report,) = [one.post_data or "" for one in she.requests if one.url.endswith("/v1/reports")]
    assert set(json.loads(report)) == {"answers", "disclosure", "id", "round", "version"}
    assert json.loads(report)["answers"]
