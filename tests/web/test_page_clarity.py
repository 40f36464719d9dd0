"""What a person may wonder about: the page says it where she looks."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from midpoint.analyst import Factorizer, disclose, fit_positions
from midpoint.analyst.disclose.site import Site
from midpoint.data import PRESETS, Scale, simulate
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
COLOUR = "(element) => getComputedStyle(element).fill"
WIDE_ONES = """() => [...document.querySelectorAll('body *')]
  .filter((one) => !one.closest('.unseen, .skip, pre'))
  .filter((one) => one.getBoundingClientRect().right > 320.5)
  .map((one) => one.outerHTML.slice(0, 80))"""

LONGEST = """() => document.querySelectorAll('tbody tr').forEach((row) => {
  const words = ['A title of more than one line of a phone', 'played', 'withheld'];
  words.forEach((word, column) => { row.cells[column].textContent = word; });
})"""
"""A long title, and the longest words that cells have beside it."""
GAP = """() => {
  const seen = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getBoundingClientRect();
  };
  const rows = [...document.querySelectorAll('tbody tr')];
  return Math.min(...rows.map((row) => seen(row.cells[2]).left - seen(row.cells[1]).right));
}"""
"""The least space between two words of a table, in pixels."""
NARROW = "() => document.querySelectorAll('td').forEach((cell) => { cell.style.paddingLeft = 0; })"


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A site of half stars, with counterparts."""
    directory = tmp_path_factory.mktemp("halves")
    config = replace(PRESETS["simulated-tiny"], scale=Scale.stars(0.5, 5, 0.5))
    ratings = simulate(config, seed=1).ratings
    profiles = fit_positions(Factorizer(dimension=4).fit(ratings, "gender"), ratings)
    Site(directory).publish(profiles, disclose(profiles, "cmpss"), time=1_800_000_000)
    running = Service(directory)
    running.start()
    yield running
    running.kill()


def test_what_ratings_give_away_is_shown_by_a_film_of_this_site(visit: Visit) -> None:
    she = visit()
    she.open()
    expect(she.page.get_by_role("heading", name="What ratings give away")).to_be_visible()
    example = she.page.locator(".giveaway p").last
    expect(example).to_contain_text("times as often as")
    expect(example).to_contain_text("Film 00")


def test_own_ratings_stay_visible_after_sending_and_that_is_said_before(visit: Visit) -> None:
    she = visit("phone")
    she.open()
    she.choose("Female")
    expect(she.page.get_by_text("After that it is final.")).to_be_visible()
    given = (5, 4, 1, 2, 3)
    items = [she.rows.nth(index).get_attribute("data-item") for index in range(5)]
    she.rate_first(given)
    expect(she.page.get_by_text("Final once sent.")).to_be_visible()
    she.go("What leaves")
    expect(she.page.get_by_text("Once sent, this is final")).to_be_visible()
    she.send()
    she.wait_for_recommendations()
    she.page.reload()
    she.go("Rate")
    she.page.get_by_role("button", name="Rated 5").click()
    for item, stars in zip(items, given, strict=True):
        row = she.page.locator(f"[data-item='{item}']")
        said = "1 star" if stars == 1 else f"{stars} stars"
        expect(row.get_by_role("img", name=f"You: {said}", exact=True)).to_be_visible()
        expect(row.get_by_role("radio")).to_have_count(0)  # nothing to press any more
        expect(row.locator(".fate")).to_have_text(re.compile("^(sent as [1-5]|withheld)$"))


def test_a_wrong_guess_is_explained_and_a_right_one_is_not(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.page.get_by_role("button", name="All films").click()
    wrong = she.page.get_by_text("The first guess is wrong")
    _rate_until(she, "for “Male”")
    expect(wrong).to_be_visible()
    expect(wrong).to_contain_text("more usual among “Male”")
    she.page.get_by_role("button", name="gender protected").click()
    she.page.get_by_role("dialog").get_by_role("radio", name="Male", exact=True).check()
    she.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(wrong).to_be_hidden()


def _rate_until(she: Person, guess: str) -> None:
    """Rate films one after the other, each so that it looks more like this guess."""
    raw = she.page.get_by_role("figure", name="From what you rated")
    busy = she.page.locator("[aria-labelledby=leaves-title][aria-busy]")
    for index in range(12):
        for stars in (1, 5):
            she.rate(index, stars)
            expect(busy).to_have_count(0)
            if guess in raw.inner_text():
                return
    raise AssertionError(f"no rating made the guess {guess}")


def test_a_withheld_rating_says_why_on_its_row(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Male")
    she.page.get_by_role("button", name="All films").click()
    withheld, sent = (she.page.locator(f"[data-item]:has(.fate.{way})") for way in ("in", "out"))
    busy = she.page.locator("[aria-labelledby=leaves-title][aria-busy]")
    for index in range(40):  # her coins decide after how many
        she.rate(index, 4)
        expect(busy).to_have_count(0)
        if withheld.count() and sent.count():
            break
    expect(withheld.first.locator(".fate")).to_have_text("withheld")
    expect(withheld.first.locator(".reason")).to_have_text(
        re.compile("Your group rates it more often|Changed by what you rated since")
    )
    expect(sent.first.locator(".fate")).to_contain_text("goes as")


def test_a_fate_that_changes_while_rating_says_why(visit: Visit, halves: Service) -> None:
    she = visit(url=halves.url)
    she.open()
    she.choose("Female")
    she.page.get_by_role("button", name="All films").click()
    changed = she.page.get_by_text("Changed by what you rated since")
    busy = she.page.locator("[aria-labelledby=leaves-title][aria-busy]")
    for index in range(30):
        she.rate(index, (10, 1, 8)[index % 3])
        expect(busy).to_have_count(0)
        if changed.count() > 0:
            break
    expect(changed.first).to_be_visible()
    more = she.page.get_by_role("button", name="more", exact=False)
    if more.is_visible():
        more.click()
    why = she.leaving.get_by_text("Nothing is final until you send.").first
    expect(why).to_contain_text("It was to ")
    expect(why).to_contain_text("shows better who is like you")


def test_half_stars_and_all_parts_fit_the_smallest_phone(visit: Visit, halves: Service) -> None:
    she = visit("phone", url=halves.url, scheme="dark")
    she.page.set_viewport_size({"width": 320, "height": 640})
    she.open()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    assert _too_wide(she.page) == []
    she.choose("Female")
    she.rate_first((3, 10, 7, 1))  # a star and a half, five, three and a half, a half
    expect(she.page.locator("[data-item] [aria-checked=true]").first).to_have_attribute(
        "aria-label", "1.5 stars"
    )
    expect(she.rows.first.locator(".fate")).not_to_be_empty()
    assert _too_wide(she.page) == []
    she.send()
    she.wait_for_recommendations()
    assert _too_wide(she.page) == []
    she.go("Ledger")
    expect(she.page.get_by_role("table").first).to_be_visible()
    assert _too_wide(she.page) == []
    she.page.evaluate(LONGEST)
    assert she.page.evaluate(GAP) >= 8
    she.page.evaluate(NARROW)  # the control
    assert she.page.evaluate(GAP) < 8
    she.page.evaluate("document.querySelector('h2').style.width = '400px'")  # the control
    assert _too_wide(she.page)


def _too_wide(page: Page) -> list[str]:
    found: list[str] = page.evaluate(WIDE_ONES)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_loading_mark_has_its_colours(visit: Visit, scheme: str) -> None:
    she = visit(scheme=scheme)
    she.page.route("**/v1/chain", lambda _: None)  # never answered
    she.open()
    parts = she.page.locator(".opening svg")
    expect(parts).to_be_visible()
    fills = {parts.locator(part).first.evaluate(COLOUR) for part in (".end", ".mid")}
    assert len(fills) == 2
    assert "rgb(0, 0, 0)" not in fills  # what a drawing without a style is painted in


def test_what_she_has_seen_already_is_rated_among_the_recommendations(visit: Visit) -> None:
    she = visit("phone")
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 1, 2, 3))
    she.send()
    she.wait_for_recommendations()
    row = she.page.locator(".recommended li").first
    item = row.get_attribute("data-recommended")
    row.get_by_role("button", name="Seen it").click()
    row.get_by_role("radio", name="4 stars").click()
    expect(row.locator(".fate")).not_to_be_empty()
    she.send()
    gone = she.page.locator(f".recommended li[data-recommended='{item}']")
    expect(gone).to_have_count(0)
    assert she.sent.count("POST /v1/reports") == 2


def test_a_typing_error_is_forgiven(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.page.get_by_role("searchbox").fill("flim 0032")
    expect(she.page.get_by_text("with a similar name")).to_be_visible()
    expect(she.rows.first).to_contain_text("Film 0032")
    she.page.get_by_role("searchbox").fill("qqqq 0032")
    expect(she.page.get_by_text("No film matches.")).to_be_visible()
