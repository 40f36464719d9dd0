"""What protection costs: errors of predictions, ratings withheld, bits disclosed."""

from collections.abc import Iterator

import numpy as np

from midpoint.audit.measure.findings import COVERAGE, INFERRED, NDCG, RANKING, RMSE, Cost
from midpoint.audit.measure.results import baseline
from midpoint.audit.measure.statistics import (
    coverage_interval,
    mean_interval,
    paired_cost,
    paired_loss,
    root_mean,
)
from midpoint.audit.measure.stored import Float, Stored
from midpoint.audit.run.store import Arrays


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


def ndcg_cost(stored: Stored, scheme: str) -> Cost | None:
    """Compare NDCG@10 with the best that raw ratings give, user by user; None if not ranked."""
    raw = stored.every(baseline(stored.store.manifest()["schemes"], scheme), *stored.accuracy)
    folds = stored.every(scheme, *stored.accuracy)
    if not (_is_ranked(folds) and _is_ranked(raw)):
        return None
    ways = [way for way in ("ndcg", "ndcg_inferred") if all(way in one for one in raw)]
    best = max((np.concatenate([one[way] for one in raw]) for way in ways), key=np.nansum)
    return Cost(*paired_loss(np.concatenate([fold["ndcg"] for fold in folds]), best))


def ranking(stored: Stored, scheme: str) -> Iterator[tuple[str, float, float, float]]:
    """Return how good lists are, with intervals over users; nothing where they were not ranked."""
    parts = stored.every(scheme, *stored.accuracy)
    if not _is_ranked(parts):
        return
    for metric in RANKING:
        if metric == COVERAGE:
            shares = np.array([float(one[COVERAGE]) for one in parts])
            alone = [one["alone"] for one in parts]
            yield metric, *coverage_interval(shares, alone, stored.people.n_items)
        else:
            kind = metric.partition("_")[0]
            yield metric, *mean_interval(np.concatenate([one[kind] for one in parts]))


def _is_ranked(parts: list[Arrays]) -> bool:
    return all(NDCG.partition("_")[0] in one for one in parts)


def accuracy(stored: Stored, scheme: str) -> Iterator[tuple[str, float, float, float]]:
    """Return errors, lists and the share withheld, with intervals over users, and the bits."""
    parts = stored.every(scheme, *stored.accuracy)
    hidden = np.concatenate([one["hidden"] for one in parts])
    graded = () if stored.people.scale.is_unary else RMSE
    for metric in (*RMSE, *INFERRED[1:]) if stored.plan.paper else graded:
        squares = np.concatenate([one[metric.removeprefix("rmse_")] for one in parts])
        yield metric, *root_mean(squares, hidden)
    yield from ranking(stored, scheme)
    yield "withheld", *mean_interval(withheld(stored, scheme))
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
