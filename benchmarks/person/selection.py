"""Choose 100 of 10,000 items at D = 20: rank-one updates beside an inverse for every candidate.

Both run in one process on the same simulated profiles. The slow way inverts A + v v^T for all
candidates at once in numpy (its best form here); a few of its steps are timed, evenly spread, and
the rest is extrapolated, which is fair because every step costs the same but for the few items
already chosen. It has no exchange steps and no certificate, so it is compared with greedy alone,
and with all that Midpoint does.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    options,
    show,
    summary,
    timed,
    warn_if_busy,
    write_results,
)
from midpoint.analyst.solicit.search import greedy
from midpoint.analyst.solicit.selection import Selection, select

Float = NDArray[np.float64]
SEED = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=20)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--slow-steps", type=int, default=3, help="steps timed of the slow way")
    chosen = options(parser, items=1_000, budget=20, repeats=2)
    console = Console(stderr=True)
    warn_if_busy(console)
    vectors = simulated(chosen.items, chosen.dimension)
    prior = np.eye(chosen.dimension)
    results: dict[str, Any] = {"conditions": conditions(), **vars(chosen)}
    results |= fast(vectors, prior, chosen.budget, chosen.repeats)
    results |= slow(vectors, prior, chosen.budget, chosen.slow_steps)
    report(results)
    console.print(f"\nFigures are in {write_results('selection', results)}")


def simulated(items: int, dimension: int) -> Float:
    """Draw profiles: level 1, then tastes that matter less and less, some items telling more."""
    rng = np.random.default_rng(SEED)
    vectors = rng.normal(size=(items, dimension)) * np.linspace(1, 0.3, dimension)
    vectors *= rng.gamma(2, 0.5, size=(items, 1))
    vectors[:, 0] = 1
    return vectors


def fast(vectors: Float, prior: Float, budget: int, repeats: int) -> dict[str, Any]:
    """Time greedy alone, with exchanges, and with the certificate."""
    ways = {
        "greedy": lambda: greedy(vectors, prior, budget),
        "greedy_exchange": lambda: select(vectors, budget, prior=prior, certified=False),
        "certified": lambda: select(vectors, budget, prior=prior),
    }
    seconds = {name: [timed(way)[1] for _ in range(repeats)] for name, way in ways.items()}
    best: Selection = select(vectors, budget, prior=prior)
    random = select(vectors, budget, prior=prior, method="random", certified=False)
    return {
        "seconds": {name: summary(times) for name, times in seconds.items()},
        "loss": best.loss,
        "gap": best.gap,
        "random_over_chosen": random.loss / best.loss,
    }


def slow(vectors: Float, prior: Float, budget: int, steps: int) -> dict[str, Any]:
    """Time a few steps with a recomputed inverse per candidate; check that they choose the same."""
    order = greedy(vectors, prior, budget)
    seconds = []
    for step in np.linspace(0, budget - 1, steps).astype(int):
        before = order[:step]
        item, spent = timed(lambda before=before: next_by_inverses(vectors, prior, before))  # type: ignore[misc]
        if item != order[step]:
            raise RuntimeError(f"step {step} chose item {order[step]}, inverses choose {item}")
        seconds.append(spent)
    return {"slow_step_seconds": seconds, "slow_extrapolated": float(np.mean(seconds)) * budget}


def next_by_inverses(vectors: Float, prior: Float, chosen: list[int]) -> int:
    """Return the item with which tr[(A + v v^T)^-1] is least, by inverting for each."""
    information = prior + vectors[chosen].T @ vectors[chosen]
    left = np.setdiff1d(np.arange(len(vectors)), chosen)
    grown = information + np.einsum("ij,ik->ijk", vectors[left], vectors[left])
    return int(left[np.argmin(np.trace(np.linalg.inv(grown), axis1=1, axis2=2))])


def report(results: dict[str, Any]) -> None:
    slow_seconds = results["slow_extrapolated"]
    rows = [
        [name, f"{slow_seconds / s['best']:.0f}", f"{s['best']:.3f}", f"{s['median']:.3f}"]
        for name, s in results["seconds"].items()
    ]
    rows.append(["inverse per candidate (extrapolated)", "1", f"{slow_seconds:.3f}", ""])
    title = f"{results['budget']} of {results['items']} items, D = {results['dimension']}"
    show(title, ["way", "times faster", "best s", "median s"], rows)
    Console().print(
        f"\nCertified gap {results['gap']:.2%}; a random choice loses "
        f"{results['random_over_chosen']:.1f} times as much."
    )


if __name__ == "__main__":
    main()
