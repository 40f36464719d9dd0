"""A person from her first visit to being forgotten, on a phone and on a desktop."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.wire import ONE, Entry
from tests.support.page.service import Service
from tests.web.conftest import Size, Visit

pytestmark = pytest.mark.slow
TEN = (5, 4, 4, 2, 1, 5, 3, 4, 5, 2)
BOTH = pytest.mark.parametrize("size", ["phone", "desktop"])
HELD = """async () => {
  globalThis.held = true;
  const request = indexedDB.open("midpoint");
  await new Promise((resolve) => { request.onsuccess = resolve; });
  const [name] = request.result.objectStoreNames;
  const writing = request.result.transaction(name, "readwrite");
  const again = () => {
    if (globalThis.held) writing.objectStore(name).get("none").onsuccess = again;
    else request.result.close();
  };
  again();
}"""
"""Holds the page's storage: all that would write there waits."""


@BOTH
def test_ten_films_and_what_becomes_of_them(visit: Visit, size: Size) -> None:
    she = visit(size)
    she.open()
    expect(she.page.get_by_text("never leaves this browser").first).to_be_visible()
    expect(she.page.get_by_text("Kept in this browser only, and never sent.")).to_be_visible()
    she.choose("Female")
    assert she.sent == ["POST /v1/solicitation"]

    she.rate_first(TEN)
    she.go("What leaves")
    she.page.get_by_role("button", name="Show 5 more").click()
    expect(she.leaving).to_have_count(10)
    exact = she.page.get_by_text("Show the exact bytes")
    exact.click()
    bytes_ = she.page.locator("details pre").first
    expect(bytes_).to_contain_text('"answers"')  # blank until they are exact
    shown = json.loads(bytes_.inner_text())
    assert she.sent == ["POST /v1/solicitation"]  # nothing of this was sent by looking at it

    she.send()
    she.wait_for_recommendations()
    sent = [one.post_data for one in she.requests if one.url.endswith("/v1/reports")]
    assert [json.loads(text or "") for text in sent] == [shown]
    assert 0 < len(shown["answers"]) <= len(TEN)
    first = she.page.locator(".recommended li").first
    expect(first).to_contain_text("give or take")


@BOTH
def test_her_ledger_outlives_a_reload_and_nothing_outlives_forgetting(
    visit: Visit, size: Size
) -> None:
    she = visit(size)
    she.open()
    she.choose("Male")
    she.rate_first(TEN[:6])
    she.send()
    she.wait_for_recommendations()

    she.page.reload()
    she.go("Ledger")
    table = she.page.get_by_role("table").first
    expect(table.get_by_role("row")).to_have_count(7)
    she.page.get_by_role("button", name="Forget me").click()
    dialog = she.page.get_by_role("dialog")
    expect(dialog.get_by_text("the service can compare the two answers")).to_be_visible()
    dialog.get_by_role("button", name="Forget me").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    assert she.calls.count("DELETE /v1/pseudonym") == 1

    she.page.reload()
    she.choose("Male")
    she.go("Ledger")
    expect(she.page.get_by_text("Nothing has been sent yet.")).to_be_visible()


def test_a_draft_outlives_a_reload_and_is_not_sent(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first(TEN[:3])
    she.wait_until_kept(3)
    she.page.reload()
    expect(she.leaving).to_have_count(3)
    assert she.sent == ["POST /v1/solicitation"] * 2


NONE = "I am in none of these, or do not want to say"


def test_somebody_in_none_of_the_categories_sees_the_best_and_sends_nothing(visit: Visit) -> None:
    she = visit()
    she.open()
    she.page.get_by_role("button", name=NONE).click()
    expect(she.page.get_by_role("heading", name="Best for everyone")).to_be_visible()
    expect(she.page.get_by_role("listitem").first).to_be_visible()
    expect(she.page.get_by_role("button", name="Rate in the clear")).to_be_disabled()
    assert she.sent == []
    she.page.get_by_role("button", name="Back to the choice").click()
    she.choose("Female")
    she.rows.first.wait_for()


def test_ratings_go_in_the_clear_only_if_she_agrees_and_on_this_visit(visit: Visit) -> None:
    she = visit()
    she.open()
    she.page.get_by_role("button", name=NONE).click()
    she.page.get_by_label("I agree that nothing is protected").check()
    assert she.sent == []
    she.page.get_by_role("button", name="Rate in the clear").click()
    she.rate_first(TEN)
    chip = she.page.get_by_role("button", name="Nothing is protected")
    expect(chip).to_be_visible()
    she.go("What leaves")
    expect(she.leaving.first).to_contain_text("nothing is protected: it goes as it is")
    she.page.get_by_text("Show the exact bytes").click()
    answers = json.loads(she.exact_bytes())["answers"]
    assert sorted(value // ONE for _, value in answers) == sorted(TEN)  # as they were rated, all
    raw, sent = (she.page.get_by_role("figure", name=f"From what you {did}").inner_text()
                 for did in ("rated", "send"))  # fmt: skip
    assert raw.split("\n")[1:] == sent.split("\n")[1:]  # and give away as much
    # What was measured is of protected answers; nothing is said of it, or of protection, here.
    measured = she.page.locator(".measured")
    expect(measured.first).to_be_hidden()
    said = she.page.locator("main").inner_text()
    assert "undo the protection" not in said
    assert "can reveal more" not in said
    she.send()
    she.wait_for_recommendations()
    expect(she.page.get_by_text("which was not protected")).to_be_visible()
    chip.click()  # from now on she is protected; what was sent stays sent
    dialog = she.page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Female", exact=True).check()
    dialog.get_by_role("button", name="Save").click()
    expect(she.page.get_by_role("button", name="gender protected")).to_be_visible()
    expect(measured.first).to_be_visible()  # the control
    assert she.sent.count("POST /v1/reports") == 1
    assert she.errors == []


def test_nothing_goes_in_the_clear_while_a_choice_is_kept(visit: Visit) -> None:
    """The browser's storage is slow: what she chose is not kept yet when she presses send."""
    she = visit()
    she.open()
    she.page.get_by_role("button", name=NONE).click()
    she.page.get_by_label("I agree that nothing is protected").check()
    she.page.get_by_role("button", name="Rate in the clear").click()
    she.rate_first(TEN)
    she.wait_until_kept(len(TEN))
    she.go("What leaves")
    send = she.page.get_by_role("button", name="Send this answer")
    expect(send).to_be_enabled()
    she.page.evaluate(HELD)
    she.page.get_by_role("button", name="Nothing is protected").click()
    dialog = she.page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Female", exact=True).check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    send.click()
    she.page.evaluate("() => { globalThis.held = false; }")
    expect(she.page.get_by_role("button", name="gender protected")).to_be_visible()
    expect(she.leaving).to_have_count(5)  # ten of them, the first five shown: nothing was sent
    for line in she.leaving.all():
        expect(line).not_to_contain_text("nothing is protected")
    she.send()
    she.wait_for_recommendations()
    assert she.sent.count("POST /v1/reports") == 1
    assert she.errors == []


def test_in_the_clear_is_asked_again_on_the_next_visit(visit: Visit) -> None:
    she = visit()
    she.open()
    she.page.get_by_role("button", name=NONE).click()
    she.page.get_by_label("I agree that nothing is protected").check()
    she.page.get_by_role("button", name="Rate in the clear").click()
    she.rate_first(TEN[:3])
    she.wait_until_kept(3)
    she.page.reload()
    expect(she.page.get_by_role("button", name=NONE)).to_be_visible()
    assert "POST /v1/reports" not in she.sent


def test_the_ledger_is_exported_as_a_file(visit: Visit, tmp_path: Path) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first(TEN)
    she.send()
    she.wait_for_recommendations()
    she.go("Ledger")
    with she.page.expect_download() as download:
        she.page.get_by_role("button", name="Export as a file").click()
    download.value.save_as(tmp_path / "ledger.json")
    saved = json.loads((tmp_path / "ledger.json").read_text())
    assert [one["round"] for one in saved["rounds"]] == [0]
    assert len(saved["ratings"]) == len(TEN)
    assert Entry.parse(saved["proof"]["shown"][0]["body"].encode()).sequence == 0
    assert "Female" not in (tmp_path / "ledger.json").read_text()


def test_keys_rate_move_and_undo(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rows.first.get_by_role("radio").first.focus()
    for key in ("4", "ArrowDown", "2", "ArrowDown", "5", "u"):
        she.page.keyboard.press(key)
    checked = she.page.locator("[data-item] [aria-checked=true]")
    expect(checked).to_have_count(2)
    labels = [checked.nth(index).get_attribute("aria-label") for index in range(2)]
    assert labels == ["4 stars", "2 stars"]
    she.page.keyboard.press("/")
    expect(she.page.get_by_role("searchbox")).to_be_focused()


def test_any_title_is_found_and_rated_in_a_second_round(visit: Visit, service: Service) -> None:
    del service
    she = visit()
    she.open()
    she.choose("Male")
    she.rate_first(TEN[:5])
    she.send()
    she.wait_for_recommendations()
    she.go("Rate")
    she.page.get_by_role("button", name="All films").click()
    open_ones = she.page.locator("[data-item]:has([role=radiogroup]:visible) .name")
    wanted = open_ones.last.inner_text()
    she.page.get_by_role("searchbox").fill(wanted.lower())
    expect(she.page.get_by_text("1 film found")).to_be_visible()
    she.rate(0, 4)
    she.send()
    expect(she.page.get_by_role("heading", name="For you")).to_be_visible()
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 2", exact=True)).to_be_visible()
    assert she.sent == ["POST /v1/solicitation", "POST /v1/reports"] * 2 + ["POST /v1/solicitation"]


def test_two_tabs_do_not_decide_twice(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    other = she.context.new_page()
    other.goto(she.url)
    other.locator("[data-item]").first.wait_for()
    she.rate(0, 4)
    she.wait_until_kept(1)
    other.locator("[data-item]").nth(1).get_by_role("radio").nth(2).click()
    expect(other.get_by_text("open in another tab")).to_be_visible()
    other.get_by_role("button", name="Use it here").click()
    expect(other.locator(".leaving li")).to_have_count(1)
