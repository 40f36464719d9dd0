"""What protection costs: errors of predictions, ratings withheld, bits disclosed."""

from collections.abc import Iterator

import numpy as np

from midpoint.audit.measure.findings import MATCHED, PENALIZED, RMSE, Cost
from midpoint.audit.measure.results import baseline
from midpoint.audit.measure.statistics import NORMAL_95, paired_cost, root_mean
from midpoint.audit.measure.stored import Float, Stored


def cost(stored: Stored, scheme: str) -> Cost:
    """Compare errors with the best that raw ratings give, user by user."""
    kinds = [metric.removeprefix("rmse_") for metric in RMSE]
    raw = stored.every(baseline(stored.store.manifest()["schemes"], scheme), *stored.accuracy)
    compared = kinds[:1] if stored.plan.paper else kinds
    squares = [np.concatenate([one[kind] for one in raw]) for kind in compared]
    best = min(squares, key=np.sum)
    folds = stored.every(scheme, *stored.accuracy)
    here = np.concatenate([fold[compared[-1]] for fold in folds])
    return Cost(*paired_cost(here, best))


def accuracy(stored: Stored, scheme: str) -> Iterator[tuple[str, float, float, float]]:
    """Return errors and the share withheld, with intervals over users, and the bits."""
    parts = stored.every(scheme, *stored.accuracy)
    hidden = np.concatenate([one["hidden"] for one in parts])
    for metric in (*RMSE, PENALIZED, MATCHED) if stored.plan.paper else RMSE:
        squares = np.concatenate([one[metric.removeprefix("rmse_")] for one in parts])
        yield metric, *root_mean(squares, hidden)
    share = withheld(stored, scheme)
    half = NORMAL_95 * float(share.std(ddof=1)) / len(share) ** 0.5
    mean = float(share.mean())
    yield "withheld", mean, max(mean - half, 0.0), min(mean + half, 1.0)
    bits = float(np.mean([float(one["bits"]) for one in parts]))
    yield "disclosed_bits", bits, bits, bits


def withheld(stored: Stored, scheme: str) -> Float:
    """Return the share of each user's ratings that stays with her. Shape (N,)."""
    parts = stored.every(scheme, *stored.accuracy)
    given, kept = (np.concatenate([one[key] for one in parts]) for key in ("given", "kept"))
    return np.asarray(1 - kept / np.maximum(given, 1))


def deciles(stored: Stored, scheme: str) -> tuple[float, ...]:
    """Return deciles over users of the share withheld."""
    return tuple(np.quantile(withheld(stored, scheme), np.linspace(0, 1, 11)).tolist())
