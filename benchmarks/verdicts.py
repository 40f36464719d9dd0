"""Where a peer wins, in words: what figures in results/ say against us."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

Found = Mapping[str, Any]
OURS = ("mpr", "dmp", "dmpss")
"""Our schemes beside the peers of privacy."""
RAW = "no"
"""Ratings as they are, which nobody competes with."""


def factorization(found: Found) -> Iterator[str]:
    """Compare each peer with the quicker and with the more accurate of our rows."""
    rows = found["contestants"]
    quick, best = rows["midpoint"], rows["midpoint-best"]
    for name, one in rows.items():
        if name.startswith("midpoint") or "fit" not in one:
            continue
        for part, what in (("total", "build and fit"), ("fit", "fit")):
            ratio = one[part]["best"] / quick[part]["best"]
            if ratio < 1:
                yield f"{one['name']} takes {ratio:.2f} of our time to {what}"
        if one["rmse"] is not None and one["rmse"] < best["rmse"]:
            yield f"{one['name']} has RMSE {one['rmse']:.4f} beside our {best['rmse']:.4f}"


def new_users(found: Found) -> Iterator[str]:
    """Compare the mean error of the folds, and the best times."""
    ours, *peers = ((name, _merged(folds)) for name, folds in found["folds"].items())
    measures = {
        "rmse": "of our RMSE",
        "one_by_one": "of our time for a profile, one by one",
        "in_one_call": "of our time for a profile, in one call",
    }
    for name, one in peers:
        for key, what in measures.items():
            if key in one and one[key] < ours[1][key]:
                yield f"{name} has {one[key] / ours[1][key]:.2f} {what}"


def _merged(folds: list[dict[str, float]]) -> dict[str, float]:
    keys = {key for fold in folds for key in fold}
    values = {key: [fold[key] for fold in folds if key in fold] for key in keys}
    return {key: float(np.mean(v) if key == "rmse" else min(v)) for key, v in values.items()}


def privacy(found: Found) -> Iterator[str]:
    """Name peers that leak no more than a scheme of ours and cost less, or leak less for no more.

    Those that leak less than all of ours at a higher cost are named as such. What is no more than
    chance leaks nothing.
    """
    for data, rows in found["data"].items():
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


def leak(one: Mapping[str, Any]) -> float:
    """Return the AUC of the strongest attacker of all."""
    return float(max(one["clean"][1], one["adaptive"][1]))


def _standing(one: Mapping[str, Any]) -> tuple[float, float]:
    strongest = leak(one)
    return (strongest - 0.5 if strongest > one["null"] else 0.0), one["cost"]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _figures(one: Mapping[str, Any]) -> str:
    return f"AUC {leak(one):.3f}, cost {one['cost']:+.1%}"


VERDICTS: Mapping[str, Callable[[Found], Iterator[str]]] = MappingProxyType(
    {"factorization": factorization, "new_users": new_users, "privacy": privacy}
)
"""By the name of the program."""


def verdict(name: str, found: Found) -> str | None:
    """Say in one paragraph where peers win; None where a program has no peers."""
    if name not in VERDICTS:
        return None
    wins = list(VERDICTS[name](found))
    if not wins:
        return "**Where a peer wins:** nowhere in these figures."
    return "\n".join(["**Where a peer wins:**\n", *(f"- {win}" for win in wins)])
