"""What could be guessed: the two gauges, what an auditor measured, several features at once."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from midpoint.data import PRESETS, Scale, Simulation, simulate
from midpoint.data.simulation import SimulatedFeature
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.web.conftest import Visit, publish

pytestmark = pytest.mark.slow
CLAIM = "Claimed by somebody you have not confirmed"
MANY = (5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1)


def _gauge(she: Person, name: str) -> Locator:
    return she.page.get_by_role("figure", name=name).first


def test_raw_ratings_tell_and_what_is_sent_does_not(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    raw, sent = _gauge(she, "From what you rated"), _gauge(she, "From what you send")
    expect(raw).to_contain_text("an even guess")
    she.rate_first(MANY)
    expect(raw).to_contain_text("for “")
    expect(raw).not_to_contain_text("50 %for")
    expect(sent).to_contain_text("50 %")
    expect(sent).to_contain_text("an even guess")


def test_the_auditors_figure_stands_beside_with_its_key(visit: Visit) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    claim = she.page.get_by_role("heading", name=CLAIM)
    measured = she.page.get_by_role("heading", name="Measured by an auditor")
    bar = she.page.get_by_role("img", name="Measured AUC 0.56")
    often = she.page.get_by_text("56 times in 100")
    against = she.page.get_by_text("somebody who knows this of 1,000 other users of this service")
    expect(claim).to_be_visible()
    for part in (
        measured,
        bar,
        often,
        against,
    ):  # anyone can make a key: a stranger's figure is a claim
        expect(part).to_have_count(0)
    assert "AUC" not in she.page.locator(".measured").inner_text()

    she.page.get_by_text("Signed as “Test auditor”, key not confirmed").click()
    expect(she.page.get_by_text("Claimed: AUC 0.56")).to_be_visible()
    she.page.get_by_role("button", name="I compared the key, trust it").click()
    for _ in range(2):
        expect(she.page.get_by_text("Signed by Test auditor, key confirmed")).to_be_visible()
        for part in (measured, bar, often, against):
            expect(part).to_be_visible()
        expect(claim).to_have_count(0)
        she.page.reload()
    she.page.get_by_text("Signed by Test auditor").click()
    she.page.get_by_role("button", name="No longer trust this key").click()
    expect(claim).to_be_visible()
    expect(often).to_have_count(0)


def test_it_says_when_nobody_certified(visit: Visit) -> None:
    she = visit()
    she.page.route(
        "**/certificates",
        lambda route: route.fulfill(
            status=200, content_type="application/json", body='{"certificates":[],"version":1}'
        ),
    )
    she.open()
    she.choose("Female")
    expect(she.page.get_by_text("Nobody certified this")).to_be_visible()
    expect(she.page.get_by_text("AUC")).to_have_count(0)


@pytest.fixture
def joint_service(tmp_path: Path) -> Iterator[Service]:
    """Two features at once, and half stars."""
    features = (
        SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.3),
        SimulatedFeature("age", ("young", "adult", "senior"), bias_sd=0.3, selection_sd=0.3),
    )
    config = replace(PRESETS["simulated-tiny"], features=features, scale=Scale.stars(0.5, 5, 0.5))
    made: Simulation = simulate(config, seed=1)
    publish(made, tmp_path, "gender", "age")
    running = Service(tmp_path)
    running.start()
    yield running
    running.kill()


def test_two_features_are_protected_together(visit: Visit, joint_service: Service) -> None:
    she = visit(url=joint_service.url)
    she.open()
    she.page.get_by_role("radio", name="Male", exact=True).check()
    she.page.get_by_role("button", name="Start rating").click()
    expect(she.page.get_by_role("alert")).to_contain_text("Choose your age first")
    she.choose("young")
    expect(she.rows.first.get_by_role("radio", name="3.5 stars", exact=True)).to_be_visible()
    she.rate_first(MANY)
    expect(she.page.get_by_role("figure", name="From what you rated")).to_have_count(2)
    she.send()
    she.wait_for_recommendations()
    (sent,) = [one.post_data or "" for one in she.requests if one.url.endswith("/v1/reports")]
    assert set(json.loads(sent)) == {"answers", "disclosure", "id", "round", "version"}
    expect(she.page.get_by_role("button", name="gender and age")).to_be_visible()
