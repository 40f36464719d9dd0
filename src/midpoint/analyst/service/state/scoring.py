"""Scores for all who wait for them, read and computed at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Storage, Sums


@dataclass(frozen=True)
class Wanted:
    """One request for scores."""

    token: bytes
    """SHA-256 of the device's token."""
    model: Model
    """What to score by."""
    top: int | None = None
    """How many best items of every category; None for all items."""
    margin: int = 0
    """How many items may be taken out of them."""


def scores_of(storage: Storage, many: Sequence[Wanted]) -> list[bytes]:
    """Return the bytes of `Scores` for each request; whoever is not known gets the prior's."""
    found: list[bytes] = [b""] * len(many)
    for model in {wanted.model.key: wanted.model for wanted in many}.values():
        mine = [n for n, wanted in enumerate(many) if wanted.model.key == model.key]
        sums = _sums(storage, [many[n].token for n in mine], model)
        profiles = model.estimates([sums[many[n].token] for n in mine])
        written = model.scores(profiles, [(many[n].top, many[n].margin) for n in mine])
        for n, raw in zip(mine, written, strict=True):
            found[n] = raw
    return found


def _sums(storage: Storage, tokens: Sequence[bytes], model: Model) -> dict[bytes, Sums]:
    """Read what is kept; sum up the answers of those of whom nothing is kept under this model."""
    kept = storage.sums(tokens)
    ready = {token: sums for token, sums in kept.items() if sums and sums.model == model.key}
    stale = [token for token in kept if token not in ready]
    if stale:
        for token, summary in storage.summaries(stale).items():
            ready[token] = model.sums(model.evidence(summary.answers))
    return {token: ready.get(token) or model.nothing for token in tokens}
