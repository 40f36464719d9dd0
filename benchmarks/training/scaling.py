"""How time and memory of training grow with the number of ratings; simulated data.

From 100 K to 10 M ratings, users growing in proportion and items with the square root, from the
shape of MovieLens-1M. Every size is fitted in a fresh process. Flixster's size has a bar for
memory: 1.5 GB at most, ratings and libraries included.
"""

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    command_of,
    conditions,
    options,
    peak_memory,
    show,
    timed,
    warn_if_busy,
    write_results,
)
from benchmarks.peers.columns import Columns
from benchmarks.peers.ours import factorizer

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
FEW, MANY = 2, 12
"""Iterations of two fits; their difference is the iterations' own time, without preparation."""
REPEATS = 3
BAR = 1536.0
"""Megabytes."""


def simulated(size: int | None) -> Columns:
    """Draw ratings: so many of MovieLens' shape, or Flixster's."""
    from midpoint.data import PRESETS, simulate  # noqa: PLC0415 - not in the child

    config = PRESETS["simulated-flixster"]
    if size is not None:
        share = size / 1_000_209
        config = replace(
            PRESETS["simulated-movielens-1m"],
            users=round(6_040 * share),
            items=round(3_706 * share**0.5),
            ratings=size,
        )
    ratings = simulate(config, seed=0).ratings
    return Columns(ratings.user, ratings.item, ratings.value)


def measure(path: Path) -> dict[str, Any]:
    """Fit the columns in this file, in this process, and say what it took."""
    from midpoint.data import Ratings  # noqa: PLC0415 - part of the child's memory

    with np.load(path) as file:
        columns = Columns(file["arr_0"], file["arr_1"], file["arr_2"])
    ratings = Ratings.from_columns(*columns)
    del columns
    before = peak_memory()
    factorizer(FEW).fit(ratings)
    few, many = (_seconds(ratings, iterations) for iterations in (FEW, MANY))
    return {
        "ratings": len(ratings),
        "users": ratings.n_users,
        "items": ratings.n_items,
        "iteration_seconds": (many - few) / (MANY - FEW),
        "megabytes_before_fit": before,
        "peak_megabytes": peak_memory(),
    }


def _seconds(ratings: Any, iterations: int) -> float:
    return min(timed(lambda: factorizer(iterations).fit(ratings))[1] for _ in range(REPEATS))


def in_fresh_process(columns: Columns, directory: Path) -> dict[str, Any]:
    """Measure in a process that holds these columns and nothing else."""
    path, out = directory / "columns.npz", directory / "out.json"
    np.savez(path, *columns)
    subprocess.run([*command_of(__file__), "--measure", str(path), str(out)], check=True)
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def exponent(curve: list[dict[str, Any]]) -> float:
    """Return p of time ∝ ratings^p, by least squares on the logarithms; 1 is linear."""
    logs = np.log([[point["ratings"], point["iteration_seconds"]] for point in curve])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _row(name: str, point: dict[str, Any]) -> list[str]:
    seconds = point["iteration_seconds"]
    return [
        name,
        f"{point['ratings']:,}",
        f"{point['users']:,} x {point['items']:,}",
        f"{seconds * 1e3:.1f}",
        f"{seconds / point['ratings'] * 1e9:.1f}",
        f"{point['peak_megabytes']:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of ratings")
    parser.add_argument("--measure", type=Path, nargs=2, help=argparse.SUPPRESS)
    chosen = options(parser, sizes=[100_000, 300_000])
    if chosen.measure:
        path, out = chosen.measure
        out.write_text(json.dumps(measure(path)))
        return
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    points = []
    with TemporaryDirectory() as directory:
        for size in (*chosen.sizes, None):
            console.print(f"{size:,} ratings ..." if size else "Flixster's size ...")
            points.append(in_fresh_process(simulated(size), Path(directory)))
    *curve, flixster = points
    head = ("", "ratings", "users x items", "ms an iteration", "ns a rating", "peak MB")
    rows = [*[_row("simulated", point) for point in curve], _row("Flixster's size", flixster)]
    show("Training at d = 20, simulated ratings", head, rows)
    growth = exponent(curve) if len(curve) > 1 else None
    if growth:
        print(f"\nTime an iteration grows as ratings to the power {growth:.2f}.")
    enough = flixster["peak_megabytes"] <= BAR
    print(f"Peak memory at Flixster's size is under {BAR:,.0f} MB: {'yes' if enough else 'NO'}")
    kept = {"conditions": start, "bar_megabytes": BAR, "exponent": growth}
    kept |= {"curve": curve, "flixster": flixster}
    if tuple(chosen.sizes) == SIZES or chosen.quick:
        console.print(f"Figures are in {write_results('scaling', kept)}")


if __name__ == "__main__":
    main()
