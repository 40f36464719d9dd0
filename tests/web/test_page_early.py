"""Rating before the disclosure is there; nothing is sent or kept before that passed its checks."""

import pytest
from playwright.sync_api import Route, expect

from tests.support.page.person import Person
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
DISCLOSURE = "**/v1/disclosures/*"
CHECKING = "still loading"


DROP = """() => new Promise((resolve) => {
  const opening = indexedDB.open("midpoint", 1);
  opening.onsuccess = () => {
    const texts = opening.result.transaction("texts", "readwrite").objectStore("texts");
    texts.delete(IDBKeyRange.bound("document/", "document/g"));
    texts.transaction.oncomplete = () => {
      opening.result.close();
      resolve();
    };
  };
})"""
"""Take away the public texts that the page keeps."""


def _hold(she: Person) -> list[Route]:
    """Let the disclosure wait; everything else comes."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    she.page.route(DISCLOSURE, hold)
    return held


def test_she_rates_while_the_disclosure_is_on_its_way(visit: Visit) -> None:
    she = visit()
    held = _hold(she)
    she.open()
    she.choose("Female")
    expect(she.page.get_by_text(CHECKING)).to_be_visible()
    she.rate(0, 4)
    star = she.rows.first.get_by_role("radio").nth(3)
    expect(star).to_have_attribute("aria-checked", "true")
    rated = she.rows.first.get_attribute("data-item")
    assert she.sent == []
    assert she.leaving.count() == 0
    for unknown in ("certain", "Nobody certified this", "Rate a title and see here"):
        assert she.page.get_by_text(unknown).locator("visible=true").count() == 0

    held[0].continue_()
    expect(she.page.get_by_text(CHECKING)).to_have_count(0)
    expect(she.leaving).to_have_count(1)
    expect(she.page.locator(f"[data-item='{rated}'] .fate")).not_to_be_empty()
    she.wait_until_kept(1)
    she.send()
    she.wait_for_recommendations()
    she.page.reload()  # and her choice was kept
    expect(she.page.get_by_role("button", name="gender protected")).to_be_visible()


def test_somebody_who_comes_again_cannot_rate_again_what_is_final(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Male")
    she.rate_first((5, 4))
    items = [she.rows.nth(index).get_attribute("data-item") for index in range(2)]
    she.send()
    she.wait_for_recommendations()
    held = _hold(she)
    she.page.evaluate(DROP)  # a newer disclosure would be asked for as well
    she.page.evaluate("location.hash = '#rate'")
    she.page.reload()
    expect(she.page.get_by_text(CHECKING)).to_be_visible()
    for item in items:
        row = she.page.locator(f"[data-item='{item}']")
        if row.count():
            expect(row.get_by_role("radiogroup")).to_be_hidden()
    held[0].continue_()
    expect(she.page.get_by_text(CHECKING)).to_have_count(0)


def test_a_disclosure_that_fails_later_is_refused_and_nothing_was_sent_or_kept(
    visit: Visit,
) -> None:
    she = visit(may_fail=True)
    held = _hold(she)
    she.open()
    she.choose("Female")
    she.rate(0, 5)
    held[0].fulfill(status=200, content_type="application/json", body=b'{"version":1}')
    expect(she.page.get_by_role("alert")).to_contain_text("missing_field")
    assert she.sent == []
    she.wait_until_kept(0)
    assert she.page.evaluate("indexedDB.databases().then((all) => all.length)") == 1
    she.page.unroute(DISCLOSURE)
    she.page.reload()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
