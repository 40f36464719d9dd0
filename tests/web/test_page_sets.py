"""A site without ratings: people name what they have played, in the site's own words."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import PRESETS, simulate
from midpoint.wire import Report, Wording
from tests.support.page.service import Service
from tests.web.conftest import Size, Visit
from tests.web.test_page_accessibility import violations

pytestmark = pytest.mark.slow
PLAYS = replace(PRESETS["simulated-plays"], users=300, items=60, ratings=6_000)
SONGS = Wording(item="song", items="songs", done="played")


@pytest.fixture(scope="module")
def songs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("songs")
    profiles = Factorizer(dimension=4).fit(simulate(PLAYS, seed=1).ratings, "gender")
    disclosure = disclose(profiles, "dmpss")
    Site(directory).publish(profiles, disclosure, time=1_800_000_000, wording=SONGS)
    running = Service(directory)
    running.start()
    yield running
    running.kill()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_songs_from_the_first_visit_to_being_forgotten(
    visit: Visit, songs: Service, size: Size
) -> None:
    she = visit(size, url=songs.url, scheme="dark" if size == "phone" else "light")
    she.open()
    expect(she.page.get_by_text("Say which songs you have played")).to_be_visible()
    faults = violations(she)
    she.page.get_by_role("radio", name="Female", exact=True).check()
    she.page.get_by_role("button", name="Start", exact=True).click()
    expect(she.page.get_by_role("heading", name="Which songs have you played?")).to_be_visible()
    marks = she.rows.get_by_role("button", name="Played it")
    for index in range(10):
        marks.nth(index).click()
    marks.nth(9).click()  # pressed again it is taken back
    expect(she.page.locator("[data-item] [aria-pressed=true]")).to_have_count(9)
    fates = she.page.locator("[data-item] .fate")
    expect(fates.filter(has_text="will be sent").first).to_be_visible()
    expect(she.page.get_by_role("radiogroup")).to_have_count(0)
    faults += violations(she)
    she.go("What leaves")
    expect(she.leaving.first).to_contain_text("played")
    she.send()
    she.wait_for_recommendations()
    [sent] = [one.post_data_buffer for one in she.requests if one.url.endswith("/v1/reports")]
    values = {value for _, value in Report.parse(sent or b"").answers}
    assert values == {1 << 16}  # the one level: there is nothing to move

    first = she.page.locator(".recommended li").first
    expect(first).not_to_contain_text("give or take")
    first.get_by_role("button", name="Played it").click()
    expect(first.locator(".fate")).not_to_be_empty()
    faults += violations(she)
    she.go("Ledger")
    rows = she.page.get_by_role("table").first.get_by_role("row")
    expect(rows).to_have_count(10)
    expect(rows.nth(1)).to_contain_text("played")
    faults += violations(she)
    she.page.get_by_role("button", name="Forget me").click()
    she.page.get_by_role("dialog").get_by_role("button", name="Forget me").click()
    expect(she.page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert she.calls.count("DELETE /v1/pseudonym") == 1
    assert faults == []
