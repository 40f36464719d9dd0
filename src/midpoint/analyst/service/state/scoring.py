"""Scores for all who wait for them, read and computed at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from midpoint.analyst.score.scorer import ALL, Wish
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Storage, Sums


@dataclass(frozen=True)
class Wanted:
    """One request for scores."""

    token: bytes
    """SHA-256 of the device's token."""
    model: Model
    """The model to score by."""
    wish: Wish = ALL
    """The items to score."""


def scores_of(storage: Storage, many: Sequence[Wanted]) -> list[bytes]:
    """Return the bytes of `Scores` for each request; somebody unknown gets the prior's."""
    written: list[bytes] = [b""] * len(many)
    for model in {wanted.model.key: wanted.model for wanted in many}.values():
        of_model = [n for n, wanted in enumerate(many) if wanted.model.key == model.key]
        sums = _sums(storage, [many[n].token for n in of_model], model)
        estimates = model.estimates([sums[many[n].token] for n in of_model])
        raws = model.scores(estimates, [many[n].wish for n in of_model])
        for n, raw in zip(of_model, raws, strict=True):
            written[n] = raw
    return written


def _sums(storage: Storage, tokens: Sequence[bytes], model: Model) -> dict[bytes, Sums]:
    """Read what is kept; sum up the answers of those of whom nothing is kept under this model."""
    kept = storage.sums(tokens)
    ready = {token: sums for token, sums in kept.items() if sums and sums.model == model.key}
    stale = [token for token in kept if token not in ready]
    if stale:
        for token, summary in storage.summaries(stale).items():
            ready[token] = model.sums(model.evidence(summary.answers))
    return {token: ready.get(token) or model.nothing for token in tokens}
