"""Factorize MovieLens-1M beside the peers: time to build the data and to fit, and RMSE.

Every contestant gets the same arrays (a seeded 90/10 split, shuffled), runs in a process of its
own, once cold, then several times warm. Ratios are times over Midpoint's.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    command_of,
    conditions,
    options,
    show,
    warn_if_busy,
    write_results,
)
from benchmarks.peers import contest
from benchmarks.peers.columns import Columns, RandomSplit
from benchmarks.peers.contest import CONTESTANTS
from benchmarks.peers.ours import OURS, factorizer
from midpoint.data import load

SEED = 20
SHARE = 0.9
REFERENCE = "midpoint"
DIMENSIONS = (20, 64, 128)
"""Of which an iteration is timed."""
ITERATIONS = 12
ITERATION_BAR = 15
"""Milliseconds that an iteration of the first of them may take on MovieLens 1M, on two cores."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-1m", help="name or path of ratings")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, help="leave the others out")
    parser.add_argument(
        "--repeats", type=int, default=7, help="warm runs, of which the best counts"
    )
    chosen = options(parser, source="movielens-100k", repeats=1)
    console = Console(stderr=True)
    warn_if_busy(console)
    split = RandomSplit.draw(_columns(chosen.source), share=SHARE, seed=SEED)
    results: dict[str, Any] = {
        "conditions": conditions(),
        "source": chosen.source,
        "training_ratings": len(split.train.values),
        "test_ratings": len(split.test.values),
        "contestants": {},
    }
    with TemporaryDirectory() as directory:
        split.save(Path(directory) / "split.npz")
        for name in chosen.only or CONTESTANTS:
            console.print(f"{CONTESTANTS[name].name} ...")
            results["contestants"][name] = run(name, Path(directory), chosen.repeats)
    results["conditions"]["load_after"] = round(os.getloadavg()[0], 2)
    _show(results["contestants"])
    if not chosen.only or set(chosen.only) & set(OURS):
        results["iterations"] = iterations(chosen.source)
    if not chosen.only:
        console.print(f"\nFigures are in {write_results('factorization', results)}")


def iterations(source: str) -> dict[int, dict[str, float]]:
    """Time an iteration of ours, both sides of it, by the number of factors; in milliseconds."""
    ratings, kept = load(source), dict[int, dict[str, float]]()
    for dimension in DIMENSIONS:
        plan = replace(factorizer(ITERATIONS, sets=False), dimension=dimension)
        moments = list[tuple[float, float]]()
        for _ in range(2):  # the first one compiles
            moments.clear()
            plan.train(ratings, None, lambda _: moments.append((perf_counter(), process_time())))  # noqa: B023 - used at once
        wall, processor = 1e3 * np.diff(moments, axis=0)[1:].T
        kept[dimension] = {"best": wall.min(), "median": np.median(wall), "cpu": processor.min()}
    head = ("factors", "ms an iteration", "median", "ms of processor time")
    rows = [[str(d), *(f"{t[key]:.1f}" for key in t)] for d, t in kept.items()]
    show("An iteration of alternating least squares", head, rows)
    least = kept[DIMENSIONS[0]]["best"]
    print(f"\n{least:.1f} ms, to be at most {ITERATION_BAR}:"
          f" {'yes' if least <= ITERATION_BAR else 'NO'}")  # fmt: skip
    return kept


def run(name: str, directory: Path, repeats: int) -> dict[str, Any]:
    """Let one contestant compete in fresh processes.

    Ours compiles its kernels at the first use on a machine and keeps them; that very first start
    is a run of its own, with an empty cache.
    """
    cache = directory / f"compiled-{name}"
    if name not in OURS:
        return _process(name, directory, repeats, {})
    first = _process(name, directory, 0, {"NUMBA_CACHE_DIR": str(cache)})
    result = _process(name, directory, repeats, {"NUMBA_CACHE_DIR": str(cache)})
    return result | {"first_ever": first.get("cold")}


def _process(
    name: str, directory: Path, repeats: int, environment: Mapping[str, str]
) -> dict[str, Any]:
    out = directory / "out.json"
    out.unlink(missing_ok=True)
    given = [name, str(directory / "split.npz"), str(out), str(repeats)]
    command = [*command_of(contest.__file__), *given]
    own = CONTESTANTS[name].environment
    done = subprocess.run(
        command,
        env={**os.environ, **own, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"name": CONTESTANTS[name].name, "failed": reason}
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def _columns(source: str) -> Columns:
    ratings = load(source)
    return Columns(ratings.user, ratings.item, ratings.value)


def _show(contestants: Mapping[str, Mapping[str, Any]]) -> None:
    reference = contestants.get(REFERENCE, {})
    head = ("", "build + fit, ratio", "fit, ratio", "build s", "fit s", "median s", "RMSE")
    rows = [_row(result, reference) for result in contestants.values()]
    show("Best of several warm runs; ratios to Midpoint", (*head, "cold s", "setting"), rows)
    for result in contestants.values():
        if result.get("first_ever"):
            print(
                f"\nThe first {result['name']} fit ever on a machine compiles for"
                f" {result['first_ever']:.1f} s in all."
            )


def _row(result: Mapping[str, Any], reference: Mapping[str, Any]) -> list[str]:
    if "fit" not in result:
        return [result["name"], *[""] * 7, result.get("failed", "no warm runs")[:60]]
    ratios = [
        f"{result[part]['best'] / reference[part]['best']:.1f}" if part in reference else ""
        for part in ("total", "fit")
    ]
    error = result["rmse"]
    return [
        result["name"],
        *ratios,
        f"{result['build']['best']:.2f}",
        f"{result['fit']['best']:.2f}",
        f"{result['total']['median']:.2f}",
        "-" if error is None else f"{error:.4f}",
        f"{result['cold']:.1f}",
        result["setting"],
    ]


if __name__ == "__main__":
    main()
