"""What one call costs: imports, the command line, and one person's device and scores.

The device and the analyst are those of the library's six lines, on 100 ratings of one person of
MovieLens 100K, under the scheme with counterparts. Times are of the processor, best of several, so
that what else runs on the machine hardly counts.
"""

import argparse
import logging
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

from rich.console import Console

import midpoint as mp
from benchmarks.measuring.measure import conditions, options, show, warn_if_busy, write_results

RATINGS = 100
STARTS: Mapping[str, str] = {
    "python, nothing imported": "pass",
    "import midpoint": "import midpoint",
    "import midpoint; Device": "from midpoint import Device",
    "import midpoint; Analyst": "from midpoint import Analyst",
    "midpoint --help": "import sys; sys.argv = ['midpoint', '--help']; import midpoint.cli as c;"
    " c.main()",
}
BAR = 0.3
"""Seconds that `midpoint --help` may take."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-100k", help="name or path")
    parser.add_argument("--scheme", default="cmpss")
    parser.add_argument("--repeats", type=int, default=9, help="of which the best counts")
    chosen = options(parser, repeats=2)
    console = Console(stderr=True)
    warn_if_busy(console)
    kept: dict[str, Any] = {"conditions": conditions(), "source": chosen.source, "bar": BAR}
    kept["starts"] = {
        name: min(_seconds(program) for _ in range(chosen.repeats))
        for name, program in STARTS.items()
    }
    rows = [[name, f"{seconds * 1e3:.0f}"] for name, seconds in kept["starts"].items()]
    show("A new process", ("what", "ms of processor time"), rows)
    kept["calls"] = calls(chosen.source, chosen.scheme, chosen.repeats)
    rows = [[name, f"{seconds * 1e6:.0f}"] for name, seconds in kept["calls"].items()]
    show(f"One call, scheme {chosen.scheme}", ("what", "µs of processor time"), rows)
    taken = kept["starts"]["midpoint --help"]
    print(f"\n`midpoint --help` {taken:.2f} s, to be under {BAR}: {'yes' if taken < BAR else 'NO'}")
    console.print(f"Figures are in {write_results('single_call', kept)}")


def calls(source: str, scheme: str, repeats: int) -> dict[str, float]:
    """Return seconds of the library's calls for one person."""
    logging.disable(logging.WARNING)  # each device in memory says that it is a simulation
    ratings = mp.load(source)
    analyst = mp.Analyst.train(ratings, "gender", scheme=scheme)
    rows = ratings.of_user(0)
    values = zip(ratings.item[rows][:RATINGS], ratings.value[rows][:RATINGS], strict=True)
    rated = {str(ratings.item_ids[item]): float(value) for item, value in values}
    published = analyst.published

    def device() -> mp.Device:
        return mp.Device(published, gender="F")

    hers = device()
    report = hers.protect(rated)
    scores = analyst.score(report)
    return {
        "Device(published)": _best(lambda _: device(), repeats),
        f"Device.protect, {len(rated)} ratings": _best(lambda d: d.protect(rated), repeats, device),
        "Device.protect again": _best(lambda _: hers.protect(rated), repeats),
        f"Analyst.score, {ratings.n_items} items": _best(lambda _: analyst.score(report), repeats),
        f"Device.rank, {ratings.n_items} items": _best(lambda _: hers.rank(scores), repeats),
    }


def _best(work: Callable[[Any], Any], repeats: int, make: Callable[[], Any] = dict) -> float:
    """Return the least time of a call on something made before it."""
    times = []
    for _ in range(repeats):
        something = make()
        start = process_time()
        work(something)
        times.append(process_time() - start)
    return min(times)


def _seconds(program: str) -> float:
    """Return what a program takes of the processor in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
