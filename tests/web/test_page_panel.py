"""Joining the panel on the page: read first, tick, join, leave; nothing is shared before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.analyst.storage.collection import kept_panel
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.data import Simulation
from midpoint.wire import ONE, PanelRatings
from tests.support.page.service import Service
from tests.web.conftest import Visit, publish

pytestmark = pytest.mark.slow
STARS = (5, 4, 2)


@pytest.fixture
def open_service(tiny: Simulation, tmp_path: Path) -> Iterator[Service]:
    publish(tiny, tmp_path)
    running = Service(tmp_path, "--panel")
    running.start()
    yield running
    running.kill()


def members(service: Service) -> list[PanelRatings]:
    return [shared for _, shared in kept_panel(sqlite_url(service.site / "midpoint.sqlite"))]


def test_she_reads_ticks_joins_and_leaves(visit: Visit, open_service: Service) -> None:
    she = visit(url=open_service.url)
    she.open()
    she.choose("Female")
    she.rate_first(STARS)
    she.send()
    she.wait_for_recommendations()
    she.go("Ledger")
    assert "/v1/panel" not in " ".join(she.calls)
    she.page.get_by_text("The panel: share your ratings").click()
    expect(she.page.get_by_text("Nothing of it is protected")).to_be_visible()
    join = she.page.get_by_role("button", name="Join the panel")
    expect(join).to_be_disabled()
    assert members(open_service) == []
    bodies = [request.post_data or "" for request in she.requests]
    assert not any('"F"' in body for body in bodies)

    she.page.get_by_label("Yes, share my gender").check()
    join.click()
    expect(she.page.get_by_text("You joined the panel on")).to_be_visible()
    (shared,) = members(open_service)
    assert shared.category == (("gender", "F"),)
    assert sorted(value for _, value in shared.ratings) == sorted(n * ONE for n in STARS)
    sent = [r.post_data for r in she.requests if r.url.endswith("/v1/panel") and r.post_data]
    assert [json.loads(text or "") for text in sent] == [json.loads(shared.raw)]

    she.page.reload()
    she.go("Ledger")
    she.page.get_by_text("The panel: share your ratings").click()
    she.page.get_by_role("button", name="Leave the panel").click()
    expect(she.page.get_by_role("button", name="Join the panel")).to_be_visible()
    assert members(open_service) == []


def test_a_service_that_takes_nobody_says_so(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first(STARS)
    she.go("Ledger")
    she.page.get_by_text("The panel: share your ratings").click()
    expect(she.page.get_by_text("takes nobody into its panel")).to_be_visible()
    assert not any("/v1/panel" in line for line in she.sent)
