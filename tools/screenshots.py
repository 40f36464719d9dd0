"""Take the documentation's pictures of the page, in a real Chromium: `make screenshots`.

Everything in them is made up: simulated ratings, invented titles. With `--all` every view is taken
on phone and desktop, light and dark, into a directory of its own, to be looked at.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from midpoint.analyst import Factorizer, disclose  # noqa: E402 - the tests' helpers are not installed
from midpoint.analyst.disclose.site import Site  # noqa: E402
from midpoint.data import PRESETS, simulate  # noqa: E402
from midpoint.wire import Wording  # noqa: E402
from tests.support.page.person import DESKTOP, PHONE, Person  # noqa: E402
from tests.support.page.service import FLAGS, Service, chromium  # noqa: E402

TRIES = 12
"""People to go through the page until one has both fates in her first rows."""
IMAGES = ROOT / "docs" / "images"
STARS = (5, 4, 1, 2, 5, 3, 4, 4, 2, 1)
FIRST = ("Quiet", "Last", "Paper", "Seventh", "Winter", "Borrowed", "Northern", "Second")
THEN = ("Harbour", "Letter", "Orchard", "Witness", "Summer", "Bridge", "Garden", "Station")


def serve(directory: Path, preset: str, wording: Wording) -> Service:
    """Publish simulated people's ratings under invented titles, and serve them."""
    made = simulate(replace(PRESETS[preset], users=600, items=60, ratings=12_000), seed=1).ratings
    titles = tuple(f"The {first} {then}" for then, first in product(THEN, FIRST))[: made.n_items]
    profiles = Factorizer(dimension=4).fit(replace(made, item_names=np.array(titles)), "gender")
    Site(directory).publish(
        profiles, disclose(profiles, "dmpss"), time=1_800_000_000, wording=wording
    )
    service = Service(directory)
    service.start()
    return service


def walk(browser: Browser, url: str, out: Path, size: str, scheme: Any, *, sets: bool) -> bool:
    """Go through the page as a person does, and take a picture of every view.

    Returns:
        Whether the first rows show both fates, as a picture of the documentation should.
    """
    given: dict[str, Any] = {"viewport": DESKTOP}
    if size == "phone":
        given = {"viewport": PHONE, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce", **given)
    she = Person.at(context, url)

    def take(view: str) -> None:
        she.page.locator(".toast").wait_for(state="hidden")
        she.page.evaluate("window.scrollTo(0, 0)")
        she.page.screenshot(path=out / f"{size}-{scheme}-{view}.png")

    she.open()
    she.page.get_by_role("radio", name="Female", exact=True).check()
    take("welcome")
    she.page.get_by_role("button", name="Start").first.click()
    she.rows.first.wait_for()
    if sets:
        for index in range(9):
            she.rows.nth(index).get_by_role("button", name="Played it").click()
    else:
        she.rate_first(STARS)
    she.wait_until_kept(9 if sets else len(STARS))
    she.page.locator("[data-item] .fate").nth(8).wait_for()
    first = {fate.inner_text() for fate in she.page.locator("[data-item] .fate").all()[:4]}
    take("rate")
    if not she.is_wide:
        she.go("What leaves")
        she.leaving.first.wait_for()
        take("leaves")
    she.send()
    she.wait_for_recommendations()
    take("recommendations")
    she.go("Ledger")
    she.page.get_by_role("table").first.wait_for()
    take("ledger")
    context.close()
    return "withheld" in first and len(first) > 1


def main() -> None:
    """Serve films and songs, walk through both, and keep the pictures that pages show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, help="directory for every view, size and colour")
    everything = parser.parse_args().all
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        shots = everything or Path(scratch)
        sites = (
            ("films", "simulated-tiny", Wording(item="film", items="films", done="seen")),
            ("songs", "simulated-plays", Wording(item="song", items="songs", done="played")),
        )
        for name, preset, wording in sites:
            (site := Path(scratch) / name).mkdir()
            (out := shots / f"shots-{name}").mkdir(parents=True, exist_ok=True)
            service = serve(site, preset, wording)
            try:
                for size, scheme in product(("phone", "desktop"), ("light", "dark")):
                    if not everything and scheme == "dark":
                        continue
                    for _ in range(1 if everything else TRIES):
                        if walk(browser, service.url, out, size, scheme, sets=name == "songs"):
                            break
            finally:
                service.kill()
        browser.close()
        if everything is None:
            for picture, taken in (
                ("page-desktop", "films/desktop-light-rate"),
                ("page-phone", "films/phone-light-rate"),
                ("page-phone-recommendations", "films/phone-light-recommendations"),
                ("page-phone-songs", "songs/phone-light-rate"),
            ):
                shot = shots / f"shots-{taken}.png"
                (IMAGES / f"{picture}.png").write_bytes(shot.read_bytes())


if __name__ == "__main__":
    main()
