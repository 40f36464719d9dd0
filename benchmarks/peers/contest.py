"""One contestant in a process of its own: `NAME SPLIT OUT REPEATS`, used by others."""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measuring.measure import peak_memory, summary, timed
from benchmarks.peers.columns import RandomSplit, rmse
from benchmarks.peers.contestant import Contestant
from benchmarks.peers.libraries import PEERS
from benchmarks.peers.ours import OURS

CONTESTANTS = {**OURS, **PEERS}
PATIENCE = 90.0
"""Seconds after which a slow contestant is not repeated any more, once it had three runs."""


def compete(contestant: Contestant, split: RandomSplit, repeats: int) -> dict[str, Any]:
    """Build and fit once cold, imports included, then warm; data are built again for every fit."""
    data, cold_build = timed(lambda: contestant.build(split.train))
    model, cold_fit = timed(lambda: contestant.fit(data))
    builds, fits, errors = list[float](), list[float](), list[float | None]()
    start = perf_counter()
    while len(fits) < repeats and (len(fits) < 3 or perf_counter() - start < PATIENCE):
        # Let go of the last run's data first, or freeing them would count.
        del data, model
        data, seconds = timed(lambda: contestant.build(split.train))
        builds.append(seconds)
        model, seconds = timed(lambda: contestant.fit(data))  # noqa: B023
        fits.append(seconds)
        errors.append(_error(contestant, model, split))
    result: dict[str, Any] = {
        "name": contestant.name,
        "setting": contestant.setting,
        "cold": cold_build + cold_fit,
        "peak_megabytes": peak_memory(),
    }
    if fits:
        result |= {
            "build": summary(builds),
            "fit": summary(fits),
            "total": summary([b + f for b, f in zip(builds, fits, strict=True)]),
            "rmse": _worst(errors),
            "runs": len(fits),
        }
    return result


def _error(contestant: Contestant, model: Any, split: RandomSplit) -> float | None:
    predicted = contestant.predict(model, split.test)
    if predicted is None:
        return None
    values = split.train.values
    return rmse(np.clip(predicted, values.min(), values.max()), split.test.values)


def _worst(errors: list[float | None]) -> float | None:
    """Report the worst run: a lucky one proves nothing."""
    known = [error for error in errors if error is not None]
    return max(known) if known else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=CONTESTANTS)
    parser.add_argument("split", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("repeats", type=int)
    chosen = parser.parse_args()
    split = RandomSplit.load(chosen.split)
    result = compete(CONTESTANTS[chosen.name], split, chosen.repeats)
    chosen.out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
