"""Bytes of everything that is kept or sent: the constants in `docs/guides/scaling.md`.

A catalogue of 10,000 simulated items, d = 20, one feature of two categories, five stars, the
default scheme. What scoring them costs the service is given in seconds of cores, which others' work
adds little to.
"""

import gzip
from argparse import ArgumentParser
from dataclasses import replace
from time import process_time
from typing import Any

import brotli  # type: ignore[import-untyped]
import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.measuring.measure import conditions, options, or_quick, show, summary, write_results
from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.score.scorer import Wish
from midpoint.analyst.service.state.model import Model
from midpoint.data import PRESETS, simulate
from midpoint.wire import Report, to_fixed

ITEMS = or_quick(10_000, 1_000)
ANSWERS = 100
TOP, MARGIN = 10, 100
REPEATS = 15
COMPRESSION = 9
"""Quality of brotli: more takes long and saves little."""


def sizes() -> dict[str, Any]:
    """Make one of each and weigh it."""
    config = replace(PRESETS["simulated-movielens-1m"], users=4_000, items=ITEMS, ratings=1_000_000)
    ratings = simulate(config, seed=0).ratings
    profiles = Factorizer(dimension=20, iterations=3).fit(ratings, "gender")
    disclosure = disclose(profiles, "dmpss")
    rng = np.random.default_rng(0)
    items = rng.choice(ITEMS, ANSWERS, replace=False)
    value = rng.integers(1, 6, ANSWERS).astype(np.float64)
    names = profiles.item_ids[items].tolist()
    report = Report(
        id="0" * 32,
        disclosure=disclosure.digest,
        round=0,
        answers=tuple(sorted(zip(names, to_fixed(value).tolist(), strict=True))),
    )
    model = Model(profiles, disclosure)
    with threadpool_limits(1):  # as the service sets it
        runs = [_scored(model, dict(report.answers)) for _ in range(REPEATS)]
    return {
        "items": ITEMS,
        "dimension": profiles.dimension,
        "user_profile_bytes": 4 * profiles.dimension,
        "user_evidence_bytes": 4 * (profiles.dimension * (profiles.dimension + 3) // 2),
        "item_profile_bytes": 4 * profiles.dimension + 8 * (1 + profiles.offset.shape[1]),
        "disclosure": _weights(disclosure.raw),
        "report_of_100": _weights(report.raw),
        "scores_top_10_margin_100": _weights(runs[0][0]),
        "scoring_core_seconds": summary([seconds for _, seconds in runs]),
    }


def _scored(model: Model, answers: dict[str, int]) -> tuple[bytes, float]:
    """Do what the service does for one request of scores; return it and the cores' seconds."""
    start = process_time()
    profiles = model.estimates([model.sums(model.evidence(answers))])
    content = model.scores(profiles, [Wish(TOP, MARGIN)])
    return content[0], process_time() - start


def _weights(content: bytes) -> dict[str, int]:
    packed = brotli.compress(content, quality=COMPRESSION)
    return {"raw": len(content), "gzip": len(gzip.compress(content)), "brotli": len(packed)}


def main() -> None:
    options(ArgumentParser(description=__doc__))
    measured = sizes()
    rows = [
        [name.replace("_", " "), *(f"{measured[name][how]:,}" for how in ("raw", "gzip", "brotli"))]
        for name in ("disclosure", "report_of_100", "scores_top_10_margin_100")
    ]
    show(f"Bytes sent, {ITEMS:,} items", ("", "raw", "gzip", "brotli"), rows)
    write_results("sizes", {"conditions": conditions(), **measured})


if __name__ == "__main__":
    main()
