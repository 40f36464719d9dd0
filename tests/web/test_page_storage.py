"""What the browser keeps: a failure that passes loses nothing, and only broken content may go."""

import pytest
from playwright.sync_api import expect

from tests.support.page.person import Person
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow

NONE = "Object.defineProperty(globalThis, 'indexedDB', { value: undefined });"
FAILS_AT_FIRST = """
  if (!sessionStorage.getItem('again')) {
    IDBFactory.prototype.open = () => { throw new DOMException('busy', 'UnknownError'); };
  }
  sessionStorage.setItem('again', 'yes');
"""
NEVER_OPENS = """
  IDBFactory.prototype.open = () => { throw new DOMException('no', 'InvalidStateError'); };
"""
NO_ROOM = """() => {
  IDBObjectStore.prototype.put = function () { this.transaction.abort(); };
}"""
BREAK = """(changed) => new Promise((resolve) => {
  const opening = indexedDB.open('midpoint', 1);
  opening.onsuccess = () => {
    const writing = opening.result.transaction('texts', 'readwrite');
    const texts = writing.objectStore('texts');
    for (const [name, text] of Object.entries(changed)) texts.put(text, name);
    writing.oncomplete = () => { opening.result.close(); resolve(); };
  };
})"""
PROMISES = """
  globalThis.asked = [];
  navigator.storage.persist = async () => { asked.push('persist'); return %s; };
  const send = fetch;
  globalThis.fetch = (url, ...rest) => { asked.push(String(url)); return send(url, ...rest); };
"""
MAY_GO = "did not promise to keep this for good"


def _erasers(she: Person) -> int:
    return she.page.get_by_role("button", name="Erase").count()


def _token(she: Person, call: str) -> list[str]:
    found = [one for one in she.requests if one.method + one.url.removeprefix(she.url) == call]
    return [one.all_headers()["authorization"] for one in found]


def test_where_there_is_no_storage_it_works_and_says_so(visit: Visit) -> None:
    she = visit(script=NONE)
    she.open()
    expect(she.page.get_by_text("gives the page no storage")).to_be_visible()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    she.send()
    she.wait_for_recommendations()


def test_storage_that_does_not_open_once_is_tried_again(visit: Visit) -> None:
    she = visit(script=FAILS_AT_FIRST)
    she.open()
    expect(she.page.get_by_text("did not open its storage")).to_be_visible()
    assert _erasers(she) == 0
    assert she.calls == []
    she.page.get_by_role("button", name="Load again").click()
    she.choose("Female")
    expect(she.page.get_by_text("storage")).to_have_count(0)


def test_without_storage_only_if_she_agrees(visit: Visit) -> None:
    she = visit(script=NEVER_OPENS)
    she.open()
    expect(she.page.get_by_role("button", name="Load again")).to_be_visible()
    assert she.calls == []
    she.page.get_by_role("button", name="Go on without storage").click()
    expect(she.page.get_by_text("gives the page no storage")).to_be_visible()
    expect(she.page.get_by_text("did not open its storage")).to_have_count(0)
    she.choose("Female")


def test_a_step_that_was_not_kept_is_no_reason_to_erase(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first((5, 4))
    she.wait_until_kept(2)
    she.page.evaluate(NO_ROOM)
    she.rate(2, 3)
    expect(she.page.get_by_text("the last step was not kept")).to_be_visible()
    assert _erasers(she) == 0
    she.page.get_by_role("button", name="Load again").click()
    expect(she.leaving).to_have_count(2)


@pytest.mark.parametrize("broken", [{"ledger": "x\n"}, {"notes": "{"}, {"pin": "{}"}])
def test_what_is_broken_is_erased_at_the_service_first(
    visit: Visit, broken: dict[str, str]
) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.page.evaluate(BREAK, broken)
    she.page.reload()
    expect(she.page.get_by_text("does not fit together any more")).to_be_visible()
    (mine,) = _token(she, "POST/v1/solicitation")

    she.page.route("**/v1/pseudonym", lambda route: route.fulfill(status=500, body="no"))
    she.page.get_by_role("button", name="Erase at the service, then here").click()
    expect(she.page.get_by_text("did not confirm that it erased")).to_be_visible()
    she.page.unroute_all()
    she.page.get_by_role("button", name="Erase at the service, then here").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    assert _token(she, "DELETE/v1/pseudonym") == [mine] * 2
    she.choose("Female")
    assert _token(she, "POST/v1/solicitation")[-1] != mine
    she.errors.clear()  # the answer 500 is logged by the browser


def test_without_a_readable_secret_there_is_nobody_to_erase(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.page.evaluate(BREAK, {"secret": "none"})
    she.page.reload()
    she.page.get_by_role("button", name="Erase at the service, then here").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    assert "DELETE /v1/pseudonym" not in she.calls


@pytest.mark.parametrize("promised", [True, False])
def test_the_browser_is_asked_to_keep_it_before_the_first_answer(
    visit: Visit, *, promised: bool
) -> None:
    she = visit(script=PROMISES % str(promised).lower())
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    she.send()
    she.wait_for_recommendations()
    asked = she.page.evaluate("asked")
    reports = [index for index, path in enumerate(asked) if path.endswith("/v1/reports")]
    assert asked.count("persist") == 1
    assert asked.index("persist") < min(reports)
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 1", exact=True)).to_be_visible()
    expect(she.page.get_by_text(MAY_GO)).to_be_visible(visible=not promised)
