"""The extension in a real Chromium, against a running service that may lie."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from midpoint.data import Simulation
from midpoint.wire import ONE
from tests.support.page.extension import Installed, allow, build, installed
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.support.sites.witnessing import DAY, running_witness
from tests.web.conftest import publish

pytestmark = pytest.mark.slow
FETCHED = """(url) => fetch(url).then((answer) => answer.status, () => "refused")"""
DATABASES = "() => indexedDB.databases().then((all) => all.map(({ name }) => name))"
FRAMED = """(url) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = url;
  frame.onload = () => { try { resolve(frame.contentDocument?.body.innerText ?? "closed"); }
                         catch { resolve("closed"); } };
  document.body.append(frame);
})"""
IMPORTED = """(url) => import(url).then(() => "ran", () => "refused")"""
UNHIDE = "() => chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: [1] })"
POSTED = "(url) => fetch(url, { method: 'POST', body: '{}', referrerPolicy: 'no-referrer' })"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("extension")) / "chromium"


@pytest.fixture
def extension(browser: Browser, directory: Path, tmp_path: Path) -> Iterator[Installed]:
    """Just installed by somebody who agrees whenever the browser asks her."""
    chromiums = browser.browser_type  # one Playwright for all browsers of a run
    hosts = ["http://127.0.0.1/*", "http://localhost/*"]
    with installed(chromiums, directory, tmp_path / "profile", hosts) as running:
        yield running


def answered(she: Person) -> None:
    she.choose("Female")
    she.rate_first((5, 3, 4, 2))
    she.send()
    she.wait_for_recommendations()


def asked_of(she: Person, service: Service) -> list[str]:
    return [one.method for one in she.requests if one.url.startswith(service.url)]


def test_nothing_is_asked_of_a_service_before_she_agrees(
    browser: Browser, directory: Path, service: Service, tmp_path: Path
) -> None:
    """Here the browser's own question stays unanswered."""
    with installed(browser.browser_type, directory, tmp_path / "profile") as extension:
        she = extension.at(service.url)
        she.open()
        expect(she.page.get_by_text(f"Use Midpoint at {service.url}?")).to_be_visible()
        she.page.get_by_role("button", name="Allow and open").click()
        she.page.wait_for_timeout(500)
        assert asked_of(she, service) == []
        assert she.page.evaluate(DATABASES) == []
        assert she.page.evaluate(FETCHED, f"{service.url}/witnesses.json") == "refused"
        she.page.get_by_label("Address of the service").fill("http://films.example")
        she.page.get_by_role("button", name="Open", exact=True).click()
        expect(she.page.get_by_role("alert")).to_contain_text("plain HTTP is for localhost")


def test_she_answers_from_her_own_page_and_the_service_sees_no_more_than_of_others(
    extension: Installed, service: Service
) -> None:
    assert extension.press(f"{service.url}/#rate").endswith("?service=" + quoted(service.url))
    assert extension.press("chrome://version") == extension.page
    she = extension.at(service.url)
    allow(she)
    answered(she)
    loaded = {one.url.split("/")[2] for one in she.requests if one.resource_type == "script"}
    assert loaded == {extension.page.split("/")[2]}
    for request in she.requests:
        if request.url.startswith(service.url):
            assert not request.all_headers().keys() & {"origin", "referer", "cookie"}
    she.go("Ledger")
    she.page.reload()
    expect(she.page.get_by_text("Answer 1", exact=True)).to_be_visible()
    expect(she.page.get_by_text("did not promise to keep")).to_be_hidden()
    assert she.errors == []
    # The control: without the rule the browser says where the request comes from.
    extension.worker.evaluate(UNHIDE)
    she.page.evaluate(POSTED, f"{service.url}/v1/reports")
    *_, posted = (one for one in she.requests if one.url == f"{service.url}/v1/reports")
    assert "origin" in posted.all_headers()


def test_the_services_page_sees_nothing_of_it_and_its_code_does_not_run_there(
    extension: Installed, service: Service
) -> None:
    she = extension.at(service.url)
    allow(she)
    she.page.get_by_role("button", name="Start rating").wait_for()
    database = f"midpoint/{service.url}"
    assert database in she.page.evaluate(DATABASES)
    theirs = extension.context.new_page()
    theirs.goto(service.url)
    theirs.get_by_role("button", name="Start rating").wait_for()
    assert theirs.evaluate(DATABASES) == ["midpoint"]
    assert theirs.evaluate("typeof globalThis.chrome?.runtime?.sendMessage") == "undefined"
    assert theirs.evaluate(FETCHED, extension.page) == "refused"
    assert theirs.evaluate(FRAMED, extension.page) == "closed"
    script = theirs.locator("script[src]").first.get_attribute("src")
    assert theirs.evaluate(IMPORTED, f"{service.url}{script}") == "ran"
    assert she.page.evaluate(IMPORTED, f"{service.url}{script}") == "refused"
    theirs.close()


def test_a_service_that_changes_under_the_pin_is_refused_and_loses_her_nothing(
    extension: Installed, own_service: Service, tiny: Simulation, tmp_path: Path
) -> None:
    """Another site, with another key, answers at the same address."""
    she = extension.at(own_service.url)
    allow(she)
    answered(she)
    own_service.kill()
    liar = Service(tmp_path / "liar")
    publish(tiny, liar.site)
    liar.port = own_service.port
    liar.start()
    before = len(she.sent)
    she.page.reload()
    expect(she.page.get_by_text("Code: key_changed")).to_be_visible()
    assert len(she.sent) == before
    liar.kill()
    own_service.start()
    she.page.get_by_role("button", name="Check again").click()
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 1", exact=True)).to_be_visible()


def test_she_may_ask_a_witness_that_the_service_does_not_name(
    extension: Installed, service: Service, tmp_path: Path
) -> None:
    with running_witness(service.url, tmp_path / "witness") as witness:
        witness.look(after=2 * DAY)
        she = extension.at(by_name(service))
        allow(she)
        she.choose("Female")
        she.go("Ledger")
        she.page.get_by_role("button", name="Change what you demand").click()
        she.page.get_by_label("Witness", exact=True).fill("http://films.example")
        save = she.page.get_by_role("button", name="Save and check again")
        save.click()
        expect(she.page.get_by_role("alert")).to_contain_text("Give the witness's address")
        she.page.get_by_label("Witness", exact=True).fill(witness.address)
        with she.page.expect_request(f"{witness.address}/**"):
            save.click()
        expect(she.page.get_by_text(f"{witness.address} has shown for 24 hours")).to_be_visible()


def test_one_service_at_two_addresses_is_one_person(
    extension: Installed, service: Service, own_service: Service
) -> None:
    """Else it would see the coins of one opinion tossed twice; another service is another one."""
    known = extension.at(service.url)
    allow(known)
    answered(known)
    again = extension.at(by_name(service))
    allow(again)
    expect(again.page.get_by_text("Code: known_elsewhere")).to_be_visible()
    expect(again.page.get_by_text(service.url)).to_be_visible()
    assert again.sent == []
    other = extension.at(own_service.url)
    allow(other)
    other.choose("Female")


def test_removing_a_service_withdraws_the_permission_and_keeps_what_was_decided(
    extension: Installed, service: Service, own_service: Service
) -> None:
    """To the other service she sent nothing."""
    other = own_service.url
    new, known = extension.at(other), extension.at(service.url)
    allow(new)
    new.page.get_by_role("button", name="Start rating").wait_for()
    allow(known)
    answered(known)
    known.page.goto(extension.page)
    for address, said in (
        (other, "is removed, with all that was kept"),
        (service.url, "The ledger of what you sent there is kept"),
    ):
        known.page.get_by_role("button", name=f"Remove {address}").click()
        expect(known.page.get_by_role("status")).to_contain_text(said)
    expect(new.page.get_by_role("button", name="Allow and open")).to_be_visible()
    kept = known.page.evaluate(DATABASES)
    assert f"midpoint/{service.url}" in kept
    assert f"midpoint/{other}" not in kept
    assert known.page.evaluate(FETCHED, f"{service.url}/witnesses.json") == "refused"
    known.open()
    expect(known.page.get_by_role("button", name="Allow and open")).to_be_visible()


def by_name(service: Service) -> str:
    """The same service at another origin."""
    return f"http://localhost:{service.port}"


def quoted(address: str) -> str:
    return address.replace(":", "%3A").replace("/", "%2F")


def test_somebody_who_says_no_category_chooses_what_leaves(
    extension: Installed, service: Service
) -> None:
    she = extension.at(service.url)
    allow(she)
    she.page.get_by_role("button", name="I am in none of these").click()
    expect(she.page.get_by_role("heading", name="Best for everyone")).to_be_visible()
    assert she.sent == []
    she.page.get_by_label("I agree that nothing is protected").check()
    she.page.get_by_role("button", name="Rate in the clear").click()
    she.rate_first((5, 3))
    she.page.get_by_text("Show the exact bytes").click()
    answers = json.loads(she.exact_bytes())["answers"]
    assert sorted(value // ONE for _, value in answers) == [3, 5]
