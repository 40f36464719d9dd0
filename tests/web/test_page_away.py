"""The service goes away and comes back; nothing is lost and nothing counts twice."""

import sqlite3
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as Waited
from playwright.sync_api import expect

from tests.support.page.service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
AWAY = "The service cannot be reached."


def _reports(service: Service) -> int:
    with sqlite3.connect(service.site / "midpoint.sqlite") as database:
        (number,) = database.execute("SELECT count(*) FROM report").fetchone()
    return int(number)


def test_an_answer_waits_for_the_service(visit: Visit, own_service: Service) -> None:
    she = visit(url=own_service.url, may_fail=True)
    she.open()
    she.choose("Female")
    own_service.kill()
    she.rate_first((5, 4, 2, 3, 4))
    she.send()
    expect(she.page.get_by_text(AWAY)).to_be_visible()
    she.go("Ledger")
    expect(she.page.get_by_text("waiting to be delivered")).to_be_visible()

    try_now = she.page.get_by_role("button", name="Try now")
    expect(try_now).to_be_visible()
    own_service.start()
    with suppress(Waited):  # the page looks by itself, too, and may have been first
        try_now.click(timeout=2_000)
    expect(she.page.get_by_text(AWAY)).to_have_count(0)
    expect(she.page.get_by_text("waiting to be delivered")).to_have_count(0)
    she.go("For you")
    she.wait_for_recommendations()
    assert _reports(own_service) == 1


def test_it_finds_the_service_again_by_itself(visit: Visit, own_service: Service) -> None:
    she = visit(url=own_service.url, may_fail=True)
    she.open()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    own_service.kill()
    she.page.get_by_role("radio", name="Male", exact=True).check()
    she.page.get_by_role("button", name="Start rating").click()
    expect(she.page.get_by_text(AWAY)).to_be_visible()
    own_service.start()
    she.rows.first.wait_for(timeout=60_000)
    expect(she.page.get_by_text(AWAY)).to_have_count(0)


def test_being_forgotten_waits_too(visit: Visit, own_service: Service) -> None:
    she = visit(url=own_service.url, may_fail=True)
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    she.send()
    she.wait_for_recommendations()
    own_service.kill()
    she.go("Ledger")
    she.page.get_by_role("button", name="Forget me").click()
    dialog = she.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Forget me").click()
    expect(dialog.get_by_text("The service could not be reached")).to_be_visible()
    own_service.start()
    with suppress(Waited):  # the page may find the service again before she presses
        dialog.get_by_role("button", name="Forget me").click(timeout=3000)
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    assert _reports(own_service) == 0


def test_what_comes_later_may_be_missing_and_she_can_still_answer(
    visit: Visit, own_service: Service
) -> None:
    """The ledger, recommendations and gauges are loaded after the first check."""
    she = visit(url=own_service.url, may_fail=True)
    for part in ("rest", "guesses"):
        she.page.route(f"**/assets/{part}-*.js", lambda route: route.abort())
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    expect(she.rows.first.locator(".fate")).not_to_be_empty()
    expect(she.page.get_by_role("figure")).to_have_count(0)
    she.page.get_by_role("button", name="gender protected").click()
    expect(she.page.get_by_role("status").get_by_text(AWAY)).to_be_attached()
    she.send()
    expect(she.page.get_by_role("heading", name="For you")).to_be_visible()
    assert _reports(own_service) == 1
    she.page.unroute_all()
    she.go("Ledger")
    expect(she.page.get_by_role("table").first).to_be_visible()
