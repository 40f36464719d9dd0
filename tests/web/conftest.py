"""A published site, a running service, and browsers of two sizes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from midpoint.wire import Certificate, Signed, SigningKey
from tests.support.page.person import DESKTOP, PHONE, Person
from tests.support.page.service import FLAGS, Service, chromium

Size = Literal["phone", "desktop"]
Visit = Callable[..., Person]
# Coins that a test draws by its name: what is revealed, and when, is the same in every run. Each
# load draws others, so somebody who starts over is somebody new.
COINS = """
  try {
    const loads = Number(sessionStorage.getItem('loads') ?? 0) + 1;
    sessionStorage.setItem('loads', loads);
    let state = %d + loads;
    crypto.getRandomValues = (bytes) => {
      for (let i = 0; i < bytes.length; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        bytes[i] = state >>> 24;
      }
      return bytes;
    };
  } catch { /* a page without storage, such as an empty one, draws its own */ }
"""
expect.set_options(timeout=20_000)  # milliseconds: a busy machine is slow, not wrong


def publish(simulated: Simulation, directory: Path, *features: str) -> Site:
    """Train on simulated people, publish, and certify."""
    profiles = Factorizer(dimension=4).fit(simulated.ratings, features or "gender")
    disclosure = disclose(profiles, "dmpss")
    site = Site(directory)
    site.publish(profiles, disclosure, time=1_800_000_000)
    auditor = SigningKey(b"a" * 32)
    measured = Certificate(
        disclosure=disclosure.digest,
        data="0" * 64,
        auditor="Test auditor",
        key=auditor.public,
        attack="boosted trees",
        auc=563_000,
        auc_low=541_000,
        auc_high=585_000,
        null_low=489_000,
        null_high=512_000,
        rmse_cost=6_000,
        time=1_800_000_000,
        adversary="outsider",
        panel=4_000,
        outsiders=1_000,
        people=6_000,
        named=12_000,
    )
    site.certify(Signed.seal(measured, auditor))
    return site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def service(tiny: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One that all share: each person is a pseudonym of her own."""
    directory = tmp_path_factory.mktemp("site")
    publish(tiny, directory)
    running = Service(directory)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def own_service(tiny: Simulation, tmp_path: Path) -> Iterator[Service]:
    """One that a test may end and start again."""
    publish(tiny, tmp_path)
    running = Service(tmp_path)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def visit(browser: Browser, service: Service, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Somebody comes with an empty browser; at the end nothing was logged as an error."""
    opened: list[BrowserContext] = []
    people: list[Person] = []

    def come(
        size: Size = "desktop",
        *,
        url: str | None = None,
        scheme: Literal["light", "dark"] = "light",
        script: str | None = None,
        may_fail: bool = False,
    ) -> Person:
        given: dict[str, Any] = {"viewport": PHONE, "is_mobile": True, "has_touch": True}
        if size == "desktop":
            given = {"viewport": DESKTOP}
        context = browser.new_context(color_scheme=scheme, reduced_motion="reduce", **given)
        context.set_default_timeout(20_000)
        opened.append(context)
        context.add_init_script(COINS % crc32(f"{request.node.name} {len(opened)}".encode()))
        if script is not None:
            context.add_init_script(script)
        person = Person.at(context, url or service.url)
        if not may_fail:
            people.append(person)
        return person

    yield come
    logged = [line for person in people for line in person.errors]
    for context in opened:
        context.close()
    assert logged == []
