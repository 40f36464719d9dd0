"""Somebody at the page, by what she sees: roles and names, no ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from playwright.sync_api import BrowserContext, Locator, Page, Request, expect

PHONE = {"width": 390, "height": 844}
KEPT = """(number) => new Promise((resolve) => {
  const opening = indexedDB.open("midpoint", 1);
  opening.onsuccess = () => {
    const asked = opening.result.transaction("texts").objectStore("texts").get("notes");
    asked.onsuccess = () => {
      opening.result.close();
      resolve(JSON.parse(asked.result ?? '{"ratings":[]}').ratings.length === number);
    };
  };
})"""
DESKTOP = {"width": 1280, "height": 860}
PATIENCE = 20  # seconds


@dataclass
class Person:
    """A browser tab, the requests it made, and the errors it logged."""

    context: BrowserContext
    page: Page
    url: str
    requests: list[Request] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, context: BrowserContext, url: str) -> "Person":
        """Open an empty tab that is watched."""
        made = cls(context, context.new_page(), url)
        made.page.on("request", made.note)
        made.page.on("pageerror", lambda error: made.errors.append(str(error)))
        made.page.on(
            "console",
            lambda line: made.errors.append(line.text) if line.type == "error" else None,
        )
        return made

    def note(self, request: Request) -> None:
        self.requests.append(request)

    @property
    def is_wide(self) -> bool:
        size = self.page.viewport_size
        return size is not None and size["width"] > 900

    @property
    def calls(self) -> list[str]:
        """What was asked of the service's interface, in order."""
        return [f"{one.method} {path}" for one in self.requests if "/v1/" in (path := _path(one))]

    @property
    def sent(self) -> list[str]:
        """Requests that carried anything of hers."""
        return [line for line in self.calls if not line.startswith("GET")]

    def open(self) -> None:
        self.page.goto(self.url)

    def choose(self, category: str) -> None:
        self.page.get_by_role("radio", name=category, exact=True).check()
        self.page.get_by_role("button", name="Start rating").click()
        self.rows.first.wait_for()

    @property
    def rows(self) -> Locator:
        return self.page.locator("[data-item]")

    def rate(self, index: int, stars: int) -> None:
        """Rate the title at this index of the whole list, of which only a part is drawn."""
        row = self.page.locator(f"[data-item][aria-posinset='{index + 1}']")
        group = row.get_by_role("radiogroup")
        group.get_by_role("radio").nth(stars - 1).click()

    def rate_first(self, stars: Sequence[int]) -> None:
        for index, number in enumerate(stars):
            self.rate(index, number)

    def go(self, view: str) -> None:
        """Follow the navigation; on a wide screen what leaves is always there."""
        if view == "What leaves" and self.is_wide:
            return
        self.page.get_by_role("navigation").get_by_role("link", name=view).click()

    def send(self) -> None:
        if not self.is_wide:
            self.go("What leaves")
        self.page.get_by_role("button", name="Send this answer").click()

    def wait_for_recommendations(self) -> None:
        self.page.locator(".recommended li").first.wait_for()

    def wait_until_kept(self, ratings: int) -> None:
        """Wait until the browser's own storage holds so many ratings.

        `wait_for_function` takes a promise for true, whatever it resolves to.
        """
        until = monotonic() + PATIENCE
        while not self.page.evaluate(KEPT, ratings):
            assert monotonic() < until, f"the browser does not hold {ratings} ratings"
            self.page.wait_for_timeout(20)

    def exact_bytes(self) -> str:
        """Return what would be sent, once it is worked out; until then nothing is shown."""
        shown = self.page.locator("details pre").first
        expect(shown).not_to_be_empty()
        return shown.inner_text()

    @property
    def leaving(self) -> Locator:
        return self.page.locator(".leaving li")


def _path(request: Request) -> str:
    return "/" + request.url.split("/", 3)[-1]
