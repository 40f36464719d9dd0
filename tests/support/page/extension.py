"""The browser extension, built from its sources, in a real Chromium."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, BrowserType, Worker, expect
from playwright.sync_api import TimeoutError as LateError

from tests.support.page.person import DESKTOP, Person
from tests.support.page.service import FLAGS, chromium

SOURCES = Path(__file__).parents[3] / "web"
PRESS = """async (url) => {
  const [tab] = await chrome.tabs.query({ active: true });
  chrome.action.onClicked.dispatch({ ...tab, url });
}"""


def build(directory: Path) -> Path:
    """Build the extension into a directory, as `npm run build:extension` does."""
    if shutil.which("npm") is None:
        pytest.skip("the extension is built with Node, which is not installed")
    vite = SOURCES / "node_modules" / ".bin" / "vite"
    command = [str(vite), "build", "--config", "vite.extension.config.ts", "--logLevel", "error"]
    command += ["--outDir", str(directory)]
    subprocess.run(command, cwd=SOURCES, check=True, capture_output=True)
    return directory


def name_of(directory: Path) -> str:
    """Return the name that Chromium gives an extension, from the public key in its manifest."""
    key = json.loads((directory / "manifest.json").read_text("utf-8"))["key"]
    hexadecimal = sha256(base64.b64decode(key)).hexdigest()[:32]
    return "".join(chr(ord("a") + int(digit, 16)) for digit in hexadecimal)


class Installed:
    """A browser with the extension."""

    def __init__(self, context: BrowserContext, worker: Worker, name: str) -> None:
        self.context = context
        self.worker = worker
        self.page = f"chrome-extension://{name}/page.html"

    def at(self, service: str) -> Person:
        """Open an empty tab of somebody who is about to use the extension for a service."""
        return Person.at(self.context, f"{self.page}?service={service}")

    def press(self, site: str) -> str:
        """Press the extension's button on a site; return the address of what opens, closed again.

        Left open, it would start with the next tab that is allowed, as two tabs of one person.
        """
        with self.context.expect_page() as opened:
            self.worker.evaluate(PRESS, site)
        opened.value.wait_for_url(f"{self.page}*")
        address = opened.value.url
        opened.value.close()
        return address


def allow(she: Person) -> None:
    """Open the extension's page and agree."""
    she.open()
    she.page.get_by_role("button", name="Allow and open").click()
    expect(she.page.get_by_text("Other services")).to_be_visible()


@contextmanager
def installed(
    chromiums: BrowserType, directory: Path, profile: Path, agrees_to: Sequence[str] = ()
) -> Iterator[Installed]:
    """Start a browser with the extension.

    A program cannot press the button of the browser's own question. So the profile remembers that
    she answered it with yes before: then the extension's request is granted without the question.
    """
    name = name_of(directory)
    hosts = {"api": [], "explicit_host": [*agrees_to], "manifest_permissions": []}
    granted = {"granted_permissions": hosts, "runtime_granted_permissions": hosts}
    (profile / "Default").mkdir(parents=True)
    preferences = {"extensions": {"settings": {name: granted}}} if agrees_to else {}
    (profile / "Default" / "Preferences").write_text(json.dumps(preferences))
    context = chromiums.launch_persistent_context(
        str(profile),
        executable_path=chromium(),
        headless=False,  # which would be the old mode, without extensions
        args=[
            "--headless=new",
            *FLAGS,
            f"--disable-extensions-except={directory}",
            f"--load-extension={directory}",
        ],
        viewport={"width": DESKTOP["width"], "height": DESKTOP["height"]},
        reduced_motion="reduce",
    )
    context.set_default_timeout(20_000)
    try:
        yield Installed(context, _worker(context), name)
    finally:
        context.close()


def _worker(context: BrowserContext) -> Worker:
    if context.service_workers:
        return context.service_workers[0]
    try:
        return context.wait_for_event("serviceworker")
    except LateError as error:
        said = "this browser loads no extension; name a Chromium in MIDPOINT_CHROMIUM"
        raise RuntimeError(said) from error
