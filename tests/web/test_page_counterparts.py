"""The page under the scheme with counterparts: what leaves and what can be guessed from it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.analyst import Factorizer, disclose, fit_positions
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from tests.support.page.service import Service
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


LOOK_AT_ONCE = """() => {
  const star = document.querySelectorAll('[data-item]')[3].querySelectorAll('[role=radio]')[1];
  star.click();
  return new Promise((resolve) => queueMicrotask(() => resolve({
    star: star.getAttribute('aria-checked'),
    fate: star.closest('[data-item]').querySelector('.fate').textContent,
    bytes: document.querySelector('pre').textContent,
    busy: document.querySelector('[aria-labelledby=leaves-title]').getAttribute('aria-busy'),
    sends: [...document.querySelectorAll('.sendbar button')].some((button) => !button.disabled),
  })));
}"""


def test_a_star_is_shown_at_once_and_nothing_is_sent_before_what_leaves_is_worked_out(
    visit: Visit, positions_service: Service
) -> None:
    """Between a tap and the exact bytes there are none to be seen, and none to be sent."""
    she = visit(url=positions_service.url)
    she.open()
    she.choose("Female")
    she.rate_first(MANY[:3])
    she.page.get_by_text("Show the exact bytes").click()
    shown = she.page.locator("pre")
    expect(shown).to_contain_text('"answers"')
    at_once = she.page.evaluate(LOOK_AT_ONCE)
    assert at_once == {"star": "true", "fate": "", "bytes": "", "busy": "true", "sends": False}

    expect(shown).to_contain_text('"answers"')
    expect(she.leaving).to_have_count(4)
    exact = shown.inner_text()
    she.send()
    she.wait_for_recommendations()
    (report,) = [one.post_data or "" for one in she.requests if one.url.endswith("/v1/reports")]
    assert report == exact


def test_ratings_leave_as_those_of_counterparts(visit: Visit, positions_service: Service) -> None:
    she = visit(url=positions_service.url)
    she.open()
    she.choose("Female")
    she.rate_first(MANY)
    raw = she.page.get_by_role("figure", name="From what you rated").first
    sent = she.page.get_by_role("figure", name="From what you send").first
    expect(raw).to_contain_text("for “")
    expect(sent).to_contain_text("50 %")
    she.send()
    she.wait_for_recommendations()
    (report,) = [one.post_data or "" for one in she.requests if one.url.endswith("/v1/reports")]
    assert set(json.loads(report)) == {"answers", "disclosure", "id", "round", "version"}
    assert json.loads(report)["answers"]
