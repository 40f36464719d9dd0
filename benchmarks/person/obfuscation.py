"""Obfuscate a population of MovieLens-1M's size, and toss one device's coins."""

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
from midpoint.user import PURPOSES, Adjustment, DeviceSecret, Parameters, obfuscate, toss
from midpoint.wire import ONE, SCHEMES, Disclosure, FeatureNames, RatingScale, as_rows

RATINGS, ITEMS, COINS = 1_000_209, 3_706, 1_000
RATINGS_BAR, COINS_BAR = 1.0, 0.020
"""Seconds for all ratings under `dmpss`, and for the coins of one device."""
SCHEMES_TIMED = ("dmpss", "dmp", "mpssr", "mpss", "no")
SEED = 0


def disclosure(scheme: str, rng: np.random.Generator) -> Disclosure:
    """Draw a disclosure for two categories and five stars."""
    shares = np.floor(rng.dirichlet(np.ones(5), size=(ITEMS, 2)) * ONE).astype(np.int64)
    shares[:, :, 0] += ONE - shares.sum(axis=2)
    bias = rng.integers(-ONE // 2, ONE // 2, size=(ITEMS, 1))
    p = rng.uniform(0.05, 0.5, size=(ITEMS, 2))
    drawn = {
        "levels": shares,
        "offset": np.hstack([bias, -bias]),
        "reveal": np.rint(p.min(axis=1, keepdims=True) / p * ONE).astype(np.int64),
    }
    columns: dict[str, Any] = {name: as_rows(drawn[name]) for name in SCHEMES[scheme].columns}
    return Disclosure(
        scheme=scheme,
        features=(FeatureNames(name="gender", categories=("F", "M")),),
        scale=RatingScale(low=ONE, high=5 * ONE, levels=tuple(ONE * k for k in range(1, 6))),
        items=tuple(f"{j:05d}" for j in range(ITEMS)),
        **columns,
    )


def time_scheme(scheme: str, repeats: int) -> dict[str, Any]:
    """Time everyone's ratings at once, coins drawn beforehand and drawing them too."""
    rng = np.random.default_rng(SEED)
    parameters = Parameters.of(disclosure(scheme, rng))
    item = rng.integers(0, ITEMS, RATINGS)
    value = rng.integers(1, 6, RATINGS) * ONE
    category = rng.integers(0, 2, RATINGS)
    coins = rng.random((RATINGS, len(PURPOSES)))
    pure, whole = [], []

    def run(uniform: NDArray[np.float64]) -> object:
        adjustment = Adjustment.identity(parameters, item, category)
        return obfuscate(item, value, category, parameters, uniform, adjustment)

    for _ in range(repeats):
        pure.append(timed(lambda: run(coins))[1])
        whole.append(timed(lambda: run(rng.random((RATINGS, len(PURPOSES)))))[1])
    return {"given_coins": summary(pure), "with_coins": summary(whole)}


def time_coins(repeats: int) -> dict[str, float]:
    """Time the PRF coins of one device for as many items."""
    secret = DeviceSecret(bytes(range(32)))
    items = [f"item-{j}" for j in range(COINS)]
    return summary([timed(lambda: toss(secret, items))[1] for _ in range(repeats)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    chosen = options(parser, repeats=1)
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    schemes = {name: time_scheme(name, chosen.repeats) for name in SCHEMES_TIMED}
    coins = time_coins(chosen.repeats)
    rows = [
        [name, *(f"{t[way][which]:.3f}" for way in t for which in ("best", "median"))]
        for name, t in schemes.items()
    ]
    head = ["scheme", "best s", "median s", "best s, coins drawn too", "median s, coins drawn too"]
    show(f"{RATINGS:,} ratings of {ITEMS:,} items, two categories, five levels", head, rows)
    slowest = schemes["dmpss"]["with_coins"]["best"]
    print(
        f"\ndmpss with its coins {slowest:.3f} s, to be under {RATINGS_BAR:g} s:"
        f" {'yes' if slowest < RATINGS_BAR else 'NO'}"
        f"\nPRF coins of {COINS:,} items {coins['best'] * 1000:.1f} ms, to be under"
        f" {COINS_BAR * 1000:g} ms: {'yes' if coins['best'] < COINS_BAR else 'NO'}"
    )
    sizes = {"ratings": RATINGS, "items": ITEMS, "coins": COINS}
    bars = {"ratings_seconds": RATINGS_BAR, "coins_seconds": COINS_BAR}
    kept = {"conditions": start, **sizes, "bars": bars, "schemes": schemes, "coin_seconds": coins}
    console.print(f"Figures are in {write_results('obfuscation', kept)}")


if __name__ == "__main__":
    main()
