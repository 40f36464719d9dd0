"""What the network sees does not depend on the secret, but for the report's answers."""

import json
from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.support.page.person import Person
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow

SAME_COINS = """
  crypto.getRandomValues = (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 37 + 11) % 256;
    return bytes;
  };
"""
LEAKY = (
    SAME_COINS
    + """
  document.addEventListener("change", (event) => {
    if (event.target.parentElement?.textContent === "Male") fetch("/v1/chain/head");
  });
"""
)


def _seen(request: Request) -> dict[str, Any]:
    """One request as the network sees it; of a report, everything but its body."""
    headers = dict(request.all_headers())
    body = request.post_data
    if request.url.endswith("/v1/reports"):
        headers.pop("content-length", None)
        body = ", ".join(json.loads(body or "{}"))
    return {"method": request.method, "url": request.url, "headers": headers, "body": body}


def _walk(she: Person, category: str, other: str) -> list[dict[str, Any]]:
    """Two rounds, a look around, a change of mind about the category, and goodbye."""
    she.open()
    she.choose(category)
    she.rate_first((5, 4, 1, 2, 5, 3, 4, 4, 2, 1, 5, 5))
    she.page.get_by_role("searchbox").fill("film 00")
    she.page.get_by_role("searchbox").fill("")
    she.send()
    she.wait_for_recommendations()
    she.page.get_by_role("button", name="gender protected").click()
    she.page.get_by_role("radio", name=other, exact=True).check()
    she.page.get_by_role("button", name="Save").click()
    she.go("Rate")
    she.rate_first((3, 4, 5))
    she.send()
    expect(she.page.get_by_role("heading", name="For you")).to_be_visible()
    she.page.reload()
    she.go("Ledger")
    she.page.get_by_role("button", name="Forget me").click()
    she.page.get_by_role("dialog").get_by_role("button", name="Forget me").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    return [_seen(one) for one in she.requests]


def test_two_people_who_differ_in_the_secret_look_the_same(visit: Visit) -> None:
    first = _walk(visit(script=SAME_COINS), "Female", "Male")
    second = _walk(visit(script=SAME_COINS), "Male", "Female")
    assert first == second
    reports = [one for one in first if one["url"].endswith("/v1/reports")]
    assert len(reports) == 2


def test_their_answers_do_differ(visit: Visit) -> None:
    """The control for the coins: what is left out of the comparison is not the same."""
    texts = []
    for category in ("Female", "Male"):
        she = visit(script=SAME_COINS)
        she.open()
        she.choose(category)
        she.rate_first((5, 4, 1, 2, 5, 3, 4, 4, 2, 1, 5, 5, 4, 3, 2, 1))
        she.page.get_by_text("Show the exact bytes").click()
        texts.append(she.exact_bytes())
    assert texts[0] != texts[1]


def _answers_by_stars(she: Person, category: str, titles: int) -> list[dict[int, int | None]]:
    """For each title, what would be sent for each number of stars; None if it stays."""
    she.open()
    she.choose(category)
    she.page.get_by_text("Show the exact bytes").evaluate("e => e.parentElement.open = true")
    items = [she.rows.nth(index).get_attribute("data-item") for index in range(titles)]
    found: list[dict[int, int | None]] = [{} for _ in items]
    for stars in range(1, 6):
        she.rate_first((stars,) * titles)
        sent = dict(json.loads(she.exact_bytes())["answers"])
        for item, answers in zip(items, found, strict=True):
            answers[stars] = sent.get(item)
    return found


def _meeting(hers: dict[int, int | None], his: dict[int, int | None]) -> tuple[int, int] | None:
    """Stars that differ and are sent as the same, if there are any; else equal stars."""
    same = [(a, b) for a in hers for b in his if hers[a] == his[b] is not None]
    return max(same, key=lambda pair: pair[0] != pair[1], default=None)


def _last_words(she: Person, category: str, stars: list[int]) -> list[Any]:
    """Rate, send, be forgotten; everything that the network sees, the report's bytes included."""
    she.open()
    she.choose(category)
    for index, number in enumerate(stars):
        if number:
            she.rate(index, number)
    she.send()
    she.wait_for_recommendations()
    she.go("Ledger")
    she.page.get_by_role("button", name="Forget me").click()
    she.page.get_by_role("dialog").get_by_role("button", name="Forget me").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    return [(one.method, one.url, dict(one.all_headers()), one.post_data) for one in she.requests]


def test_people_whose_answers_come_out_equal_send_identical_bytes(visit: Visit) -> None:
    """Another category and other stars, the same answers: nothing at all distinguishes them."""
    hers, his = (
        _answers_by_stars(visit(script=SAME_COINS), category, 8) for category in ("Female", "Male")
    )
    met = [_meeting(a, b) or (0, 0) for a, b in zip(hers, his, strict=True)]
    assert any(a != b for a, b in met)
    first, second = [a for a, _ in met], [b for _, b in met]
    assert _last_words(visit(script=SAME_COINS), "Female", first) == _last_words(
        visit(script=SAME_COINS), "Male", second
    )
    # The control: his stars under her category come out otherwise.
    reports = [
        [answers.get(s) for answers, s in zip(hers, stars, strict=True)]
        for stars in (first, second)
    ]
    assert reports[0] != reports[1]


def test_a_page_that_tells_by_asking_would_be_caught(visit: Visit) -> None:
    """The control for the trace: a request that only one category makes is seen."""
    first = _walk(visit(script=LEAKY), "Female", "Female")
    second = _walk(visit(script=LEAKY), "Male", "Male")
    assert first != second
