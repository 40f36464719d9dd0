"""The page in a real Chromium, as on a phone: a tap, the first load, scrolling, searching.

A phone is emulated by Chromium itself: a processor slowed down four times, and for loading the
slow 4G of Lighthouse. `--before TREE` measures another checkout in the same run, such as a worktree
of the main branch, and prints ratios.
"""

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
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console

from benchmarks.measuring.measure import (
    ROOT,
    conditions,
    options,
    or_quick,
    show,
    warn_if_busy,
    write_results,
)
from midpoint.analyst import Factorizer, disclose, fit_positions
from midpoint.analyst.disclose.site import Site
from midpoint.data import PRESETS, simulate

SOURCE = "simulated-movielens-1m"
SIZES = or_quick({"tap": 3_706, "load": 10_000}, {"tap": 500, "load": 1_000})
"""Titles of the sites: MovieLens 1M's, and a large shop's."""
RATINGS, TAPS, LOADS = or_quick((100, 30, 3), (10, 5, 1))
SLOWER = 4
"""How much slower a phone's processor is."""
SLOW_4G = {"latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}
"""Lighthouse's: milliseconds of a round trip, bytes a second down and up."""
TAP_BAR, RATEABLE_BAR, COMPLETE_BAR, FRAME_BAR, SIZE_BAR = 10.0, 2000.0, 6000.0, 50.0, 200.0
"""Milliseconds of a tap, until titles can be rated, until all is checked; of a frame; kilobytes."""
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"]
AGAIN = """
import sys
from pathlib import Path
from midpoint.analyst.disclose.site import Site
source, digest, target = Site(Path(sys.argv[1])), sys.argv[2], Site(Path(sys.argv[3]))
target.publish(source.profiles(digest), source.disclosure(digest), time=1_800_000_000)
"""
"""Publishes what one tree learned by another: what is published beside it may differ."""

PERSON = """() => {
  // Somebody who chooses and rates as soon as there is something to press.
  const seen = (window.seen = {});
  const act = () => {
    const first = document.querySelector('[data-item]');
    const star = first?.querySelectorAll('[role=radio]')[3];
    if (!first) {
      const form = document.querySelector('form');
      const choice = form?.querySelector('input[type=radio]:not(:checked)');
      if (!choice || seen.chose) return;
      seen.chose = performance.now();
      choice.click();
      form.requestSubmit();
    } else if (star && !seen.tapped) {
      seen.tapped = performance.now();
      star.click();
    } else if (!seen.rateable && document.querySelector('[data-item] [aria-checked=true]')) {
      seen.rateable = performance.now();
    }
    if (!seen.complete && [...document.querySelectorAll('.fate')].some((one) => one.textContent)) {
      seen.complete = performance.now();
    }
  };
  new MutationObserver(act).observe(document, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
}"""
TAP = """async (taps) => {
  const rows = [...document.querySelectorAll('[data-item]')].slice(0, 10);
  const card = document.querySelector('[aria-labelledby=leaves-title]');
  const drawn = [], exact = [];
  for (let turn = 0; turn < taps; turn++) {
    const stars = rows[turn % rows.length].querySelectorAll('[role=radio]');
    const star = [...stars].filter((one) => one.getAttribute('aria-checked') !== 'true')[turn % 4];
    const start = performance.now();
    star.click();
    await Promise.resolve();
    document.body.getBoundingClientRect();
    drawn.push(performance.now() - start);
    while (card.hasAttribute('aria-busy')) await new Promise((then) => setTimeout(then));
    exact.push(performance.now() - start);
    await new Promise((then) => setTimeout(then, 100));
  }
  return { drawn, exact };
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


def publish(directory: Path, titles: int) -> str:
    """Publish simulated ratings of MovieLens-1M's size, with counterparts; return the digest."""
    ratings = simulate(replace(PRESETS[SOURCE], items=titles), seed=0).ratings
    profiles = fit_positions(Factorizer().fit(ratings, "gender"), ratings)
    disclosure = disclose(profiles, "cmpss")
    Site(directory).publish(profiles, disclosure, time=1_800_000_000)
    return disclosure.digest


@contextmanager
def serving(tree: Path, directory: Path) -> Iterator[str]:
    """Serve a site by the program of one tree."""
    log = directory / "serve.log"
    program = [sys.executable, "-c", "from midpoint.cli import main; main()"]
    command = [*program, "serve", str(directory), "--port", "0", "--rate", "0", "--no-log"]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, stderr=stream, stdout=stream, cwd=tree, env=_environment(tree)
        )
    try:
        yield _address(process, log)
    finally:
        process.terminate()
        process.wait()


def _environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree / "src")}


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
    """Return the compressed kilobytes of the page's first load, and of what is published."""
    with httpx.Client(base_url=url, headers={"Accept-Encoding": "br"}, timeout=60) as client:
        named = re.findall(r'(?:src|href)="(/assets/[^"]+)"', client.get("/").text)
        paths = ["/", *named]  # what else there is, is loaded after the first check
        public = ["/v1/chain", "/v1/disclosure", "/v1/catalogue"]

        def kilobytes(paths: list[str]) -> float:
            answers = [client.get(path).headers["content-length"] for path in paths]
            return sum(map(int, answers)) / 1000

        return {"page": kilobytes(paths), "published": kilobytes(public)}


def warm(url: str, directory: Path) -> None:
    """Have the service read and compress what it publishes: she is not its first visitor."""
    with httpx.Client(base_url=url, headers={"Accept-Encoding": "br"}, timeout=60) as client:
        for kind in ("disclosures", "catalogues"):
            for path in (directory / kind).glob("*.json"):
                client.get(f"/v1/{kind}/{path.stem}").raise_for_status()


def phone(browser: Browser, *, network: bool) -> Page:
    """Open an empty tab of a phone."""
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    if network:
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": False, **SLOW_4G})
    return page


def load(browser: Browser, url: str) -> dict[str, float]:
    """Return milliseconds of a first visit, until a star answers and until all is checked."""
    page = phone(browser, network=True)
    page.add_init_script(f"({PERSON})()")
    page.goto(url, wait_until="commit")
    page.wait_for_function("() => window.seen?.complete", timeout=120_000)
    seen: dict[str, float] = page.evaluate("window.seen")
    page.context.close()
    return {name: seen[name] for name in ("rateable", "complete")}


def tap(browser: Browser, url: str) -> dict[str, Any]:
    """Return milliseconds of a tap after many others, and of scrolling and searching."""
    page = phone(browser, network=False)
    page.goto(url)
    page.get_by_role("radio", name="Female", exact=True).check(timeout=120_000)
    page.get_by_role("button", name="Start rating").click()
    page.get_by_role("button", name="All films").click()
    page.locator("[data-item]").first.get_by_role("radio").first.focus()
    for turn in range(RATINGS):
        page.keyboard.press(str(1 + turn * 7 % 5))
        if turn < RATINGS - 1:
            page.keyboard.press("ArrowDown")
    page.evaluate("scrollTo(0, 0)")
    page.locator(".fate.out, .fate.in").first.wait_for(timeout=120_000)
    timed = page.evaluate(TAP, TAPS)
    frames = page.evaluate(SCROLL)
    searched = page.evaluate(SEARCH, "film 01234")
    page.context.close()
    return {
        "tap": figures(timed["drawn"]),
        "exact": figures(timed["exact"]),
        "frame": figures(frames),
        "frames_over_bar": sum(frame > FRAME_BAR for frame in frames) / len(frames),
        "search": figures(searched),
    }


def figures(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        "best": ordered[0],
        "median": statistics.median(ordered),
        "p95": ordered[int(0.95 * (len(ordered) - 1))],
    }


def measure(sites: dict[str, Path], trees: dict[str, Path]) -> dict[str, Any]:
    """Measure the trees in turns, in one browser."""
    chromium = os.environ.get("MIDPOINT_CHROMIUM") or shutil.which("chromium")
    results: dict[str, Any] = {name: {"loads": []} for name in trees}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, tree in trees.items():
            with serving(tree, sites[f"tap {name}"]) as url:
                results[name].update(tap(browser, url))
        for turn in range(LOADS + 1):
            for name, tree in trees.items():
                with serving(tree, sites[f"load {name}"]) as url:
                    results[name]["kilobytes"] = sizes(url)
                    warm(url, sites[f"load {name}"])
                    loaded = load(browser, url)
                if turn > 0:
                    results[name]["loads"].append(loaded)
        browser.close()
    for result in results.values():
        loads = result.pop("loads")
        for what in ("rateable", "complete"):
            result[what] = figures([one[what] for one in loads])
    return results


def make_sites(directory: Path, trees: dict[str, Path], console: Console) -> dict[str, Path]:
    """Learn once for each size; every tree publishes what was learned."""
    sites = {}
    for what, titles in SIZES.items():
        console.print(f"Learning {titles:,} titles with counterparts")
        learned = directory / f"{what}-learned"
        learned.mkdir()
        digest = publish(learned, titles)
        for name, tree in trees.items():
            sites[f"{what} {name}"] = target = directory / f"{what}-{name}"
            target.mkdir()
            command = [sys.executable, "-c", AGAIN, str(learned), digest, str(target)]
            subprocess.run(command, check=True, cwd=tree, env=_environment(tree))
    return sites


KINDS = {
    "a tap, drawn, 3,706 titles": ("tap", "median", TAP_BAR),
    "until what leaves is exact again": ("exact", "median", None),
    "10,000 titles can be rated on": ("rateable", "best", RATEABLE_BAR),
    "10,000 titles, all checked": ("complete", "best", COMPLETE_BAR),
    "a frame while 3,706 titles scroll": ("frame", "median", FRAME_BAR),
    "a letter more in the search": ("search", "median", None),
}


def rows_of(results: dict[str, Any]) -> list[list[str]]:
    """Return a line for each kind: before, now, how much faster, and the bar."""
    rows = []
    for text, (what, which, bar) in KINDS.items():
        now = results["now"][what][which]
        before = results["before"][what][which] if "before" in results else None
        rows.append(
            [
                text,
                "" if before is None else f"{before:.1f}",
                f"{now:.1f}",
                "" if before is None else f"{before / now:.1f}",
                "" if bar is None else f"{bar:g}",
                "" if bar is None else ("yes" if now < bar else "NO"),
            ]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout, to be measured beside it")
    before = options(parser).before
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    trees = {"before": before.resolve()} if before else {}
    trees["now"] = ROOT
    with tempfile.TemporaryDirectory() as directory:
        results = measure(make_sites(Path(directory), trees, console), trees)
    head = ["what", "before", "now", "times faster", "bar", "held"]
    show(f"The page on a phone ({SLOWER}x slower, slow 4G), milliseconds", head, rows_of(results))
    size = results["now"]["kilobytes"]
    print(
        f"\nFirst load {size['page']:.0f} KB compressed, to be under {SIZE_BAR:g}, besides"
        f" {size['published']:.0f} KB that the service publishes of 10,000 titles"
        f"\nFrames over {FRAME_BAR:g} ms while scrolling: {results['now']['frames_over_bar']:.1%}"
    )
    kept = {"conditions": start, "source": SOURCE, "titles": SIZES, "results": results}
    console.print(f"Figures are in {write_results('page', kept)}")


if __name__ == "__main__":
    main()
