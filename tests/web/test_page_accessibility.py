"""axe finds nothing to fix, in light and dark, with the page's own policy in force."""

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from tests.support.page.person import Person
from tests.web.conftest import Size, Visit

pytestmark = pytest.mark.slow
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def violations(she: Person) -> list[str]:
    """Run axe as the browser's own tools would, since the policy lets no other script in."""
    she.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = she.page.evaluate(
        "async () => (await axe.run(document, { resultTypes: ['violations'] })).violations"
    )
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.fixture(autouse=True)
def axe_is_here() -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; run npm ci in web/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_every_part_is_accessible(
    visit: Visit, size: Size, scheme: Literal["light", "dark"]
) -> None:
    she = visit(size, scheme=scheme)
    she.open()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    found = {"welcome": violations(she)}
    she.page.get_by_role("button", name="I am in none of these").click()
    expect(she.page.get_by_role("listitem").first).to_be_visible()
    found["none"] = violations(she)
    she.page.get_by_role("button", name="Back to the choice").click()
    she.choose("Female")
    she.rate_first((5, 4, 1, 2, 5, 3, 4, 4, 2, 1))
    found["rate"] = violations(she)
    she.go("What leaves")
    she.page.get_by_text("Show the exact bytes").click()
    she.page.get_by_text("Signed as “Test auditor”").click()
    found["leaves"] = violations(she)
    she.page.get_by_role("button", name="I compared the key").click()
    expect(she.page.get_by_text("Measured by an auditor")).to_be_visible()
    found["measured"] = violations(she)
    she.page.get_by_role("button", name="gender protected").click()
    found["change"] = violations(she)
    she.page.get_by_role("button", name="Cancel").click()
    she.send()
    she.wait_for_recommendations()
    found["for you"] = violations(she)
    she.go("Ledger")
    she.page.get_by_role("button", name="Forget me").click()
    found["ledger"] = violations(she)
    assert [line for part in found.values() for line in part] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_refusal_is_accessible(visit: Visit, scheme: Literal["light", "dark"]) -> None:
    she = visit(scheme=scheme)
    she.page.route("**/v1/chain", lambda route: route.fulfill(status=200, body="{}"))
    she.open()
    expect(she.page.get_by_role("alert")).to_be_visible()
    assert violations(she) == []


def test_axe_would_find_something(visit: Visit) -> None:
    """The control: a button without a name is found."""
    she = visit()
    she.open()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()
    she.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [line.split(":")[0] for line in violations(she)] == ["button-name"]
