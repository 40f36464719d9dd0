"""The page asks a witness and can require a certificate, on the same terms as the terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.analyst import ItemProfiles, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from midpoint.wire import Disclosure, Report, SigningKey
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.support.sites.lies import one_item
from tests.support.sites.witnessing import DAY, HOUR, RunningWitness, running_witness
from tests.web.conftest import Visit, publish

pytestmark = pytest.mark.slow
AUDITOR = SigningKey(b"a" * 32).public


@pytest.fixture
def watched(own_service: Service, tmp_path: Path) -> Iterator[RunningWitness]:
    """A witness that has watched the service for days; the service names it to the page."""
    with running_witness(own_service.url, tmp_path / "witness") as witness:
        witness.look(after=2 * DAY)
        own_service.kill()
        own_service.flags = ("--witness", witness.address)
        own_service.start()
        yield witness


def publish_later(service: Service, witness: RunningWitness) -> tuple[Disclosure, Disclosure]:
    """Publish another disclosure to everyone; return the one before, and it."""
    site = Site(service.site)
    before = site.current()
    assert before is not None
    later = one_item(before, 0)
    profiles = ItemProfiles.load(service.site / "models" / before.digest)
    site.publish(profiles, later, time=int(witness.clock.now))
    return before, later


def answered_under(she: Person) -> str:
    """Rate, send and get recommendations; return the disclosure of the report."""
    she.open()
    she.choose("Female")
    she.rate_first([5, 3, 4, 2])
    she.send()
    she.wait_for_recommendations()
    (sent,) = [one for one in she.requests if one.url.endswith("/v1/reports")]
    return Report.parse((sent.post_data or "").encode()).disclosure


def change_demands(she: Person) -> None:
    she.page.get_by_role("button", name="Change what you demand").click()


def save(she: Person) -> None:
    she.page.get_by_role("button", name="Save and check again").click()


def test_the_page_answers_under_what_the_witness_has_shown_for_a_day(
    visit: Visit, own_service: Service, watched: RunningWitness
) -> None:
    """Control: somebody who asks no witness answers under what was just published."""
    before, later = publish_later(own_service, watched)
    watched.look()
    she, trusting = visit(url=own_service.url), visit(url=own_service.url)
    assert answered_under(she) == before.digest
    asked = [one for one in she.requests if one.url.startswith(watched.address)]
    assert asked
    assert all("authorization" not in one.headers for one in asked)
    she.go("Ledger")
    expect(she.page.get_by_text("Newer figures are out.")).to_be_visible()
    expect(she.page.get_by_text("has shown for 24 hours")).to_be_visible()
    trusting.open()
    trusting.choose("Female")
    trusting.go("Ledger")
    change_demands(trusting)
    trusting.page.get_by_label("Witness", exact=True).select_option("None")
    save(trusting)
    expect(trusting.page.get_by_text("No witness is asked")).to_be_visible()
    expect(trusting.page.get_by_text("Newer figures are out.")).to_be_hidden()
    watched.look(after=25 * HOUR)
    she.page.reload()
    she.go("Ledger")
    expect(she.page.get_by_text("Entry 2")).to_be_visible()
    assert later.digest != before.digest


def test_she_may_demand_fewer_hours_and_what_she_demands_lasts(
    visit: Visit, own_service: Service, watched: RunningWitness
) -> None:
    publish_later(own_service, watched)
    watched.look()
    watched.look(after=2 * HOUR)
    she = visit(url=own_service.url)
    she.open()
    she.choose("Female")
    she.go("Ledger")
    expect(she.page.get_by_text("Entry 1,")).to_be_visible()
    change_demands(she)
    she.page.get_by_label("Hours for which it has to show figures first").fill("2")
    save(she)
    expect(she.page.get_by_text("Entry 2,")).to_be_visible()
    she.page.reload()
    she.go("Ledger")
    expect(she.page.get_by_text("has shown for 2 hours")).to_be_visible()


def test_a_certificate_can_be_required_and_its_figures_count(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.go("Ledger")
    change_demands(she)
    she.page.get_by_label("Require a certificate by an auditor I trust").check()
    save(she)
    expect(she.page.get_by_role("alert")).to_contain_text("Give the key of an auditor")
    keys = she.page.get_by_label("Keys of auditors I trust")
    keys.fill("0" * 64)
    save(she)
    expect(she.page.get_by_text("Code: not_certified")).to_be_visible()
    change_demands(she)
    keys.fill(AUDITOR)
    she.page.get_by_label("Highest AUC to accept").fill("0.55")
    save(she)
    expect(she.page.get_by_text("Code: not_certified")).to_be_visible()
    change_demands(she)
    she.page.get_by_label("Highest AUC to accept").fill("0.6")
    save(she)
    expect(she.page.get_by_text("of at most AUC 0.6")).to_be_visible()


def test_a_service_that_names_no_witness_any_more_is_refused(
    visit: Visit, own_service: Service, watched: RunningWitness
) -> None:
    """Controls: somebody who never had one goes on, and so does she once she chooses none."""
    she = visit(url=own_service.url)
    she.open()
    she.choose("Female")
    publish_later(own_service, watched)
    own_service.kill()
    own_service.flags = ()
    own_service.start()
    she.page.reload()
    expect(she.page.get_by_text("Code: not_witnessed")).to_be_visible()
    expect(she.page.get_by_text("does not name")).to_be_visible()
    new = visit(url=own_service.url)
    new.open()
    new.choose("Female")
    new.go("Ledger")
    expect(new.page.get_by_text("Entry 2,")).to_be_visible()
    change_demands(she)
    she.page.get_by_label("Witness", exact=True).select_option("None")
    save(she)
    she.go("Ledger")
    expect(she.page.get_by_text("No witness is asked")).to_be_visible()
    expect(she.page.get_by_text("Entry 2,")).to_be_visible()


def test_the_key_of_the_witness_and_a_leak_budget_can_be_demanded(
    visit: Visit, own_service: Service, watched: RunningWitness
) -> None:
    she = visit(url=own_service.url)
    she.open()
    she.choose("Female")
    she.go("Ledger")
    change_demands(she)
    she.page.get_by_label("Key of the witness").fill("0" * 64)
    save(she)
    expect(she.page.get_by_text("Code: witness_changed")).to_be_visible()
    change_demands(she)
    she.page.get_by_label("Key of the witness").fill(watched.witness.files.key.public)
    she.page.get_by_label("Highest leak budget to accept").fill("0.9")
    save(she)
    expect(she.page.get_by_text("Code: leak_too_large")).to_be_visible()
    change_demands(she)
    she.page.get_by_label("Highest leak budget to accept").fill("")
    save(she)
    she.go("Ledger")
    expect(she.page.get_by_text("has shown for 24 hours")).to_be_visible()


def test_a_key_that_she_trusts_no_longer_is_checked_by_before_anything_is_sent(
    visit: Visit,
) -> None:
    """Control: while she trusts it, the same answer could be sent."""
    she = visit()
    she.open()
    she.choose("Female")
    she.go("Ledger")
    change_demands(she)
    she.page.get_by_label("Require a certificate by an auditor I trust").check()
    she.page.get_by_label("Keys of auditors I trust").fill(AUDITOR)
    save(she)
    expect(she.page.get_by_text("of at most AUC 0.6")).to_be_visible()
    she.go("Rate")
    she.rate_first([5, 3, 4, 2])
    send = she.page.get_by_role("button", name="Send this answer")
    expect(send).to_be_enabled()
    she.page.get_by_text("Signed by Test auditor").click()
    she.page.get_by_role("button", name="No longer trust this key").click()
    expect(she.page.get_by_text("Code: not_certified")).to_be_visible()
    expect(send).to_be_hidden()
    assert [one for one in she.sent if "reports" in one] == []


def test_a_scheme_that_shows_what_she_rates_is_refused_unless_she_agrees(
    visit: Visit, tiny: Simulation, tmp_path: Path
) -> None:
    profiles = ItemProfiles.load(next((publish(tiny, tmp_path / "a").root / "models").iterdir()))
    site = Site(tmp_path / "b")
    site.publish(profiles, disclose(profiles, "dmp"), time=1_800_000_000)
    running = Service(site.root)
    running.start()
    she = visit(url=running.url)
    she.open()
    expect(she.page.get_by_text("Code: rated_shown")).to_be_visible()
    assert she.sent == []
    she.page.get_by_role("button", name="I agree").click()
    she.choose("Female")
    she.page.reload()
    she.rows.first.wait_for()
    running.kill()
