"""What counterparts cost: the command, fits with and without them, positions of a population."""

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    options,
    peak_memory,
    show,
    summary,
    timed,
    warn_if_busy,
    write_results,
)
from midpoint.analyst import Factorizer, disclose, fit_positions
from midpoint.data import PRESETS, Ratings, load, simulate
from midpoint.errors import MidpointError
from midpoint.protocol import adjust_population
from midpoint.user import Parameters
from midpoint.wire import to_fixed

SOURCE, SIMULATED, FEATURE = "movielens-1m", "simulated-movielens-1m", "gender"
SECONDS_BAR = 4.0
"""Seconds that `midpoint train` with counterparts may take of MovieLens 1M on two quiet cores."""


def read(source: str, console: Console) -> Ratings:
    """Return the ratings; simulated ones of MovieLens 1M's size where there are no files."""
    try:
        return load(source)
    except (MidpointError, OSError) as missing:
        console.print(f"[yellow]{missing}; ratings are simulated instead.")
        return simulate(PRESETS[SIMULATED], seed=0).ratings


def command(source: str, repeats: int) -> dict[str, float]:
    """Time `midpoint train` with counterparts, from its start to its end."""
    program = [sys.executable, "-c", "from midpoint.cli import main; main()", "train", source]
    seconds = []
    for _ in range(repeats + 1):  # the first run compiles
        with tempfile.TemporaryDirectory() as directory:
            asked = ["--feature", FEATURE, "--counterparts", "sets", "--out", f"{directory}/model"]
            run = partial(subprocess.run, [*program, *asked], check=True, capture_output=True)
            seconds.append(timed(run)[1])
    return summary(seconds[1:])


def measure(ratings: Ratings, repeats: int) -> dict[str, Any]:
    """Time fits without and with counterparts, and what devices make of it, in turn."""
    factorizer, feature = Factorizer(), ratings.feature(FEATURE)
    known = np.flatnonzero(feature.known)
    people = ratings.select_users(known)
    cell = feature.codes[known].astype(np.intp)
    starts, item = people.user_offsets, people.item.astype(np.intp)
    value = np.asarray(to_fixed(people.value.astype(np.float64)), dtype=np.int64)
    without, positions, population = [], [], []
    for _ in range(repeats + 1):  # the first run compiles
        profiles, seconds = timed(partial(factorizer.fit, ratings, FEATURE))
        without.append(seconds)
        before = peak_memory()
        fitted, seconds = timed(partial(fit_positions, profiles, ratings))
        positions.append(seconds)
        more = peak_memory() - before
        parameters = Parameters.of(disclose(fitted, "cmpss"))
        rated = starts, item, value, cell
        _, seconds = timed(partial(adjust_population, parameters, *rated))
        population.append(seconds)
        if len(without) == 1:
            memory = more
    return {
        "people": len(cell),
        "items": ratings.n_items,
        "ratings": len(ratings.item),
        "without": summary(without[1:]),
        "positions": summary(positions[1:]),
        "population": summary(population[1:]),
        "megabytes_more": memory,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default=SOURCE)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = options(parser, source="movielens-100k", repeats=1)
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    ratings = read(chosen.source, console)
    known = ratings.name == chosen.source
    figures = {"command": command(chosen.source, chosen.repeats)} if known else {}
    figures |= measure(ratings, chosen.repeats)
    base = figures["without"]["best"]
    rows = [
        [what, f"{figures[key]['best']:.2f}", f"{figures[key]['median']:.2f}", f"{ratio:.1f}"]
        for what, key in (
            ("profiles, without counterparts", "without"),
            ("positions, in addition", "positions"),
            ("what devices do with them, everyone's", "population"),
            ("`midpoint train` with counterparts, in all", "command"),
        )
        if key in figures
        for ratio in [figures[key]["best"] / base]
    ]
    size = (
        f"{figures['people']:,} people, {figures['items']:,} items, {figures['ratings']:,} ratings"
    )
    show(f"{ratings.name}: {size}", ["what", "best s", "median s", "times the profiles"], rows)
    both = base + figures["positions"]["best"]
    taken = figures.get("command", {"best": both})["best"]
    print(
        f"\nProfiles and positions {both:.2f} s, `midpoint train` {taken:.2f} s, to be at most"
        f" {SECONDS_BAR:g} s on 2 quiet cores: {'yes' if taken <= SECONDS_BAR else 'NO'}"
        f"\nThe first fit of positions, compiling, held {figures['megabytes_more']:.0f}"
        " MB more than the profiles"
    )
    kept = {"conditions": start, "source": ratings.name, "seconds_bar": SECONDS_BAR, **figures}
    console.print(f"Figures are in {write_results('counterparts', kept)}")


if __name__ == "__main__":
    main()
