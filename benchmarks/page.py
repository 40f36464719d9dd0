"""The page in a real Chromium: first load, a report of 200 ratings, scrolling, searching."""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright
from rich.console import Console

from measure import conditions, show, warn_if_busy, write_results
from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import load

SOURCE = "simulated-movielens-1m"
RATINGS = 200
REPORT_BAR, FRAME_BAR, LOAD_BAR = 50.0, 50.0, 200.0
"""Milliseconds for a report, and for a frame that people notice; kilobytes of the first load."""
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"]

RATE_AGAIN = """async () => {
  const row = document.activeElement.closest('[data-item]');
  const stars = row.querySelectorAll('[role=radio]');
  const worked = [], drawn = [];
  for (let turn = 0; turn < 20; turn++) {
    const start = performance.now();
    stars[turn % 2 ? 1 : 3].click();
    const computed = performance.now();
    await Promise.resolve();
    document.body.getBoundingClientRect();
    worked.push(computed - start);
    drawn.push(performance.now() - start);
  }
  return { worked, drawn };
}"""
SCROLL = """async () => {
  const frames = [];
  const next = () => new Promise(requestAnimationFrame);
  let last = await next();
  for (let turn = 0; turn < 240; turn++) {
    scrollBy(0, 200);
    const now = await next();
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
SEARCH = """async (text) => {
  const box = document.querySelector('input[type=search]');
  const times = [];
  for (let length = 1; length <= text.length; length++) {
    const start = performance.now();
    box.value = text.slice(0, length);
    box.dispatchEvent(new Event('input', { bubbles: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}"""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Publish simulated ratings of MovieLens-1M's size and serve them."""
    profiles = Factorizer().fit(load(SOURCE), "gender")
    Site(folder).publish(profiles, disclose(profiles, "dmpss"), time=1_800_000_000)
    program = Path(sys.executable).with_name("midpoint")
    log = folder / "serve.log"
    command = [str(program), "serve", str(folder), "--port", "0", "--rate", "0", "--no-log"]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stderr=stream, stdout=stream)
    try:
        yield _address(process, log)
    finally:
        process.terminate()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        said = re.search(r"http://[0-9.]+:\d+", log.read_text())
        try:
            if said and httpx.get(f"{said[0]}/health/ready").is_success:
                return said[0]
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"the service did not start: {log.read_text()}")


def sizes(url: str) -> dict[str, float]:
    """Return the compressed kilobytes of the page's own files, and of what is published."""
    with httpx.Client(base_url=url, headers={"Accept-Encoding": "br"}, timeout=60) as client:
        files = client.get("/assets.json").json()["files"]
        paths = ["/" if name == "index.html" else f"/{name}" for name in files]
        public = ["/v1/chain", "/v1/disclosure", "/v1/catalogue"]

        def kilobytes(paths: list[str]) -> float:
            answers = [client.get(path).headers["content-length"] for path in paths]
            return sum(map(int, answers)) / 1000

        return {"page": kilobytes(paths), "published": kilobytes(public)}


def first_load(page: Page, url: str) -> float:
    """Return the milliseconds from the address to the first button, everything checked."""
    start = time.perf_counter()
    page.goto(url)
    page.get_by_role("button", name="Start rating").wait_for(timeout=60_000)
    return (time.perf_counter() - start) * 1000


def rate_many(page: Page) -> dict[str, list[float]]:
    """Rate by keyboard, then time one more rating: all decided again, gauges and list drawn."""
    page.get_by_role("radio", name="Female", exact=True).check()
    page.get_by_role("button", name="Start rating").click()
    page.locator("[data-item]").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="All titles").click()
    page.locator("[data-item]").first.get_by_role("radio").first.focus()
    for turn in range(RATINGS):
        page.keyboard.press(str(1 + turn * 7 % 5))
        if turn < RATINGS - 1:
            page.keyboard.press("ArrowDown")
    timed: dict[str, list[float]] = page.evaluate(RATE_AGAIN)
    return timed


def figures(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        "median": statistics.median(ordered),
        "p95": ordered[int(0.95 * (len(ordered) - 1))],
        "worst": ordered[-1],
    }


def measure(url: str) -> dict[str, Any]:
    found = os.environ.get("MIDPOINT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        loaded = first_load(page, url)
        rated = rate_many(page)
        page.evaluate("scrollTo(0, 0)")
        frames = page.evaluate(SCROLL)
        searched = page.evaluate(SEARCH, "film 01234")
        browser.close()
    return {
        "first_load": loaded,
        "report": figures(rated["worked"]),
        "report_and_drawing": figures(rated["drawn"]),
        "frame": figures(frames),
        "frames_over_bar": sum(one > FRAME_BAR for one in frames) / len(frames),
        "search": figures(searched),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url:
        size, times = sizes(url), measure(url)
    kinds = {
        "a report of 200 ratings": "report",
        "the same, drawn": "report_and_drawing",
        "a frame while 3,706 titles scroll": "frame",
        "a letter more in the search": "search",
    }
    rows = [
        [name, *(f"{times[key][which]:.1f}" for which in ("median", "p95", "worst"))]
        for name, key in kinds.items()
    ]
    show("The page in Chromium, milliseconds", ["what", "median", "95 %", "worst"], rows)
    print(
        f"\nFirst load {size['page']:.0f} KB compressed, to be under {LOAD_BAR:g}, besides"
        f" {size['published']:.0f} KB that the service publishes; ready after"
        f" {times['first_load']:.0f} ms\nA report of {RATINGS} ratings"
        f" {times['report']['median']:.1f} ms, to be under {REPORT_BAR:g}:"
        f" {'yes' if times['report']['median'] < REPORT_BAR else 'NO'}"
        f"\nFrames over {FRAME_BAR:g} ms while scrolling: {times['frames_over_bar']:.1%}"
    )
    kept = {"conditions": start, "source": SOURCE, "kilobytes": size, "milliseconds": times}
    console.print(f"Figures are in {write_results('page', kept)}")


if __name__ == "__main__":
    main()
