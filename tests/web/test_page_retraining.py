"""A new model is published while a page is open: no false alarm, and nothing is decided twice."""

import json

import numpy as np
import pytest
from playwright.sync_api import Route, expect

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from midpoint.wire import Entry
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
LATER = 1_800_000_100


def _publish_without(simulated: Simulation, service: Service, item: str) -> str:
    """Train again on all titles but one, make that current, and return its digest."""
    ratings = simulated.ratings
    others = np.flatnonzero(np.asarray(ratings.item_ids) != item)
    assert others.size == ratings.n_items - 1
    fewer = ratings.select_items(others)
    profiles = Factorizer(dimension=3, seed=2).fit(fewer, "gender")
    disclosure = disclose(profiles, "dmpss")
    assert Site(service.site).publish(profiles, disclosure, time=LATER).entry.sequence == 1
    return disclosure.digest


def _rated(she: Person) -> str:
    """Rate three titles and return the last of them."""
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    she.wait_until_kept(3)
    return she.rows.nth(2).get_attribute("data-item") or ""


def _sent(she: Person) -> list[str]:
    bodies = [one.post_data or "" for one in she.requests if one.url.endswith("/v1/reports")]
    return [json.loads(body)["disclosure"] for body in bodies]


def _expect_no_alarm(she: Person) -> None:
    expect(she.page.get_by_text("was refused")).to_have_count(0)
    expect(she.page.get_by_text("Something went wrong")).to_have_count(0)


def test_a_key_that_the_known_one_vouched_for_is_followed_and_said(
    visit: Visit, own_service: Service
) -> None:
    """Control: before, nothing is said; a key that nobody vouched for is refused elsewhere."""
    she = visit(url=own_service.url)
    assert _rated(she)
    said = she.page.get_by_text("signs with a new key")
    expect(said).to_have_count(0)
    site = Site(own_service.site)
    site.succeed(time=LATER)
    profiles = site.profiles(site.published().chain.entries[0].open(Entry).disclosure)
    fewer = disclose(profiles, "dmpss", bits=8)
    assert site.publish(profiles, fewer, time=LATER + 1).entry.sequence == 2
    with she.page.expect_response("**/v1/solicitation"):
        she.page.evaluate("dispatchEvent(new Event('online'))")
    expect(said).to_be_visible()
    _expect_no_alarm(she)


def test_looking_again_asks_again_under_the_new_figures(
    visit: Visit, own_service: Service, tiny: Simulation
) -> None:
    she = visit(url=own_service.url)
    gone = _rated(she)
    new = _publish_without(tiny, own_service, gone)
    with she.page.expect_response("**/v1/solicitation"):
        she.page.evaluate("dispatchEvent(new Event('online'))")
    _expect_no_alarm(she)
    expect(she.leaving).to_have_count(3)
    expect(she.leaving.first).to_contain_text("withheld")  # the title that is no longer there
    she.send()
    she.wait_for_recommendations()
    _expect_no_alarm(she)
    assert _sent(she) == [new]


def test_an_answer_to_the_old_question_is_taken_and_the_next_is_new(
    visit: Visit, own_service: Service, tiny: Simulation
) -> None:
    she = visit(url=own_service.url)
    gone = _rated(she)
    new = _publish_without(tiny, own_service, gone)
    she.send()
    she.wait_for_recommendations()
    _expect_no_alarm(she)
    she.go("Rate")
    she.rate_first((3, 4))
    she.send()
    expect(she.page.get_by_role("heading", name="For you")).to_be_visible()
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 2", exact=True)).to_be_visible()
    _expect_no_alarm(she)
    old, second = _sent(she)
    assert old != new == second


def test_new_figures_between_question_and_recommendations(
    visit: Visit, own_service: Service, tiny: Simulation
) -> None:
    """Seen while recommendations are fetched on a reload: the question at hand is dropped."""
    she = visit(url=own_service.url)
    gone = _rated(she)
    she.send()
    she.wait_for_recommendations()
    new = ""

    def publish_first(route: Route) -> None:
        nonlocal new
        new = new or _publish_without(tiny, own_service, gone)
        route.continue_()

    she.page.route("**/v1/scores", publish_first)
    she.page.reload()
    she.page.get_by_role("navigation").get_by_role("link", name="For you").click()
    she.wait_for_recommendations()
    _expect_no_alarm(she)
    she.go("Rate")
    she.rate_first((3, 4))
    expect(she.leaving).to_have_count(2)
    she.send()
    expect(she.page.get_by_role("heading", name="For you")).to_be_visible()
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 2", exact=True)).to_be_visible()
    assert _sent(she)[-1] == new
