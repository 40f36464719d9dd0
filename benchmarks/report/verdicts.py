"""Where a peer wins, in words: what figures in results/ say against us."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.privacy.privacy import OURS

Measured = Mapping[str, Any]
PEERS = "**Where a peer wins:**"
"""How a verdict begins."""
RAW = "no"
"""Ratings as they are, which nobody competes with."""


def factorization(results: Measured) -> Iterator[str]:
    """Compare each peer with the quicker and with the more accurate of our rows."""
    rows = results["contestants"]
    quick, best = rows["midpoint"], rows["midpoint-best"]
    for name, row in rows.items():
        if name.startswith("midpoint") or "fit" not in row:
            continue
        for part, what in (("total", "build and fit"), ("fit", "fit")):
            ratio = row[part]["best"] / quick[part]["best"]
            if ratio < 1:
                yield f"{row['name']} takes {ratio:.2f} of our time to {what}"
        if row["rmse"] is not None and row["rmse"] < best["rmse"]:
            yield f"{row['name']} has RMSE {row['rmse']:.4f} beside our {best['rmse']:.4f}"


def new_users(results: Measured) -> Iterator[str]:
    """Compare the mean error of the folds, and the best times."""
    ours, *peers = ((name, merged(folds)) for name, folds in results["folds"].items())
    measures = {
        "rmse": "of our RMSE",
        "one_by_one": "of our time for a profile, one by one",
        "in_one_call": "of our time for a profile, in one call",
    }
    for name, peer in peers:
        for key, what in measures.items():
            if key in peer and peer[key] < ours[1][key]:
                yield f"{name} has {peer[key] / ours[1][key]:.2f} {what}"


def merged(folds: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean error of all folds, and the best of their times."""
    keys = {key for fold in folds for key in fold}
    values = {key: [fold[key] for fold in folds if key in fold] for key in keys}
    return {key: float(np.mean(v) if key == "rmse" else min(v)) for key, v in values.items()}


def privacy(results: Measured) -> Iterator[str]:
    """Name peers that leak no more than a scheme of ours and cost less, or leak less for no more.

    Those that leak less than all of ours at a higher cost are named as such. What is no more than
    chance leaks nothing.
    """
    for data, rows in results["data"].items():
        best = min((one for name, one in rows.items() if name in OURS), key=_standing)
        for name, peer in rows.items():
            if name in {RAW, *OURS}:
                continue
            if _standing(peer)[0] < _standing(best)[0] and peer["cost"] > best["cost"]:
                yield (
                    f"{data}: {name} leaks less ({_figures(peer)})"
                    f" than all of ours ({_figures(best)})"
                )
            for scheme in OURS:
                own = rows.get(scheme)
                if own is not None and _beats(_standing(peer), _standing(own)):
                    yield f"{data}: {name} ({_figures(peer)}) wins over {scheme} ({_figures(own)})"


def privacy_sets(results: Measured) -> Iterator[str]:
    """Name peers that leak no more than a scheme of ours and have better lists."""
    rows = results["data"]
    peers = {name: row for name, row in rows.items() if name.endswith(("family)", "removed"))}
    for name, peer in peers.items():
        for scheme in rows.keys() - peers.keys() - {RAW}:
            if peer["judge"] <= rows[scheme]["judge"] and peer["ndcg"] > rows[scheme]["ndcg"]:
                yield f"{name} (AUC {peer['judge']:.3f}, NDCG@10 {peer['ndcg']:.4f}) beats {scheme}"


def sets(results: Measured) -> Iterator[str]:
    """Compare the mean of the lists, and the times of an iteration."""
    for name in list(results["lists"][0])[1:]:
        ours, peer = (
            float(np.mean([fold[key] for fold in results["lists"]])) for key in ("Midpoint", name)
        )
        if peer > ours:
            yield f"{name} has NDCG@10 {peer:.4f} beside our {ours:.4f}"
    for dimension, times in results["times"].items():
        for name, took in times["iteration"].items():
            if took < times["iteration"]["Midpoint"]:
                yield f"{name} is faster at {dimension} dimensions"


def service(results: Measured) -> Iterator[str]:
    """Compare lists a second with those of Cornac's serving app, where it ran."""
    reads, peers = results["sqlite"]["reads"], results.get("cornac") or {}
    for own, other in (("/v1/scores?top=10&margin=100", "k=10"), ("/v1/scores", "k=-1")):
        for connections in (1, 32, 256):
            ours = reads[f"{own} {connections}"]["per_second"]
            peer = peers.get(f"Cornac /recommend?{other} {connections}", {}).get("per_second", 0)
            if peer > ours:
                at_once = "one connection" if connections == 1 else f"{connections} connections"
                yield (
                    f"Cornac's serving app ({other}) gives {peer:,.0f} lists a second at {at_once},"
                    f" Midpoint {ours:,.0f}"
                )


def leak(row: Mapping[str, Any]) -> float:
    """Return the AUC of the strongest attacker of all."""
    return float(max(row["clean"][1], row["adaptive"][1]))


def _standing(row: Mapping[str, Any]) -> tuple[float, float]:
    strongest = leak(row)
    return (strongest - 0.5 if strongest > row["null"] else 0.0), row["cost"]


def _beats(some: tuple[float, float], other: tuple[float, float]) -> bool:
    return some != other and all(a <= b for a, b in zip(some, other, strict=True))


def _figures(row: Mapping[str, Any]) -> str:
    return f"AUC {leak(row):.3f}, cost {row['cost']:+.1%}"


VERDICTS: Mapping[str, Callable[[Measured], Iterator[str]]] = MappingProxyType(
    {
        "factorization": factorization,
        "new_users": new_users,
        "privacy": privacy,
        "privacy_sets": privacy_sets,
        "service": service,
        "service_reads": service,
        "sets": sets,
    }
)
"""By the name of the program."""


def verdict(name: str, results: Measured) -> str | None:
    """Say in one paragraph where peers win; None where a program has no peers."""
    if name not in VERDICTS:
        return None
    wins = list(VERDICTS[name](results))
    if not wins:
        return f"{PEERS} nowhere in these figures."
    return "\n".join([f"{PEERS}\n", *(f"- {win}" for win in wins)])
