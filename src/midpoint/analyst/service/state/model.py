"""Item profiles made ready for many requests: what to ask next, an estimate, scores as bytes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.score.evidence import Estimate, Evidence
from midpoint.analyst.score.scorer import Scorer
from midpoint.analyst.score.top_n import shortlist
from midpoint.analyst.solicit.selection import select
from midpoint.wire import Disclosure, from_fixed, to_fixed
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]
BLOCK = 2**15
"""Answers that are summed up at a time, at most, unless they are one person's."""


class Model:
    """What one published model computes: `Scorer`, with arrays in the order of the disclosure."""

    def __init__(self, profiles: ItemProfiles, disclosure: Disclosure) -> None:
        order, scorer = profiles.order, Scorer(profiles, disclosure)
        self.disclosure = disclosure
        self.digest = disclosure.digest  # it is worked out again each time it is asked for
        self._items = list(disclosure.items)
        self._index = disclosure.index
        self._offsets = scorer.corrections
        self._vectors = profiles.vectors[order].astype(np.float64)
        self._root = np.sqrt(1.0 if scorer.weights is None else scorer.weights[order])
        self._heard = self._vectors * self._root[:, None]
        self._centre = profiles.centre[order]
        self._noise = profiles.noise_variance
        self._precision = np.asarray(np.linalg.inv(profiles.profile_covariance), np.float64)
        self._pull = self._precision @ profiles.profile_mean
        counted = profiles.statistics
        self._rated = None if counted is None else counted.count.sum(axis=1)[order]
        self._people = 0 if counted is None else int(counted.users.sum())
        informative = profiles.informative[order]
        self._allowed = informative if self._rated is None else informative & (self._rated > 0)
        self._first: dict[int, list[str]] = {}

    def estimate(self, answers: Mapping[str, int]) -> tuple[Evidence, Estimate]:
        """Estimate a profile from answers; those about items that are gone do not count."""
        return self.estimates([answers])[0]

    def estimates(self, many: Sequence[Mapping[str, int]]) -> list[tuple[Evidence, Estimate]]:
        """Estimate the profiles of several people at once.

        x-hat = S (C^-1 m + sum w y v / sigma^2),  S = (C^-1 + sum w v v^T / sigma^2)^-1,

        with w the report weights of this disclosure.
        """
        longest = max(map(len, many))
        if len(many) > 1 and len(many) * longest > BLOCK:
            half = len(many) // 2
            return self.estimates(many[:half]) + self.estimates(many[half:])
        filled = np.arange(longest) < np.array([len(answers) for answers in many])[:, None]
        index = np.full(filled.shape, -1)
        index[filled] = [self._index.get(item, -1) for answers in many for item in answers]
        value = np.zeros(filled.shape, dtype=np.int64)
        value[filled] = [y for answers in many for y in answers.values()]
        there = index >= 0
        V = self._heard[index] * there[:, :, None]
        information = V.transpose(0, 2, 1) @ V
        beyond = (from_fixed(value) - self._centre[index]) * self._root[index]
        moment = (beyond[:, None, :] @ V)[:, 0]
        covariance = np.linalg.inv(self._precision + information / self._noise)
        mean = (covariance @ (self._pull + moment / self._noise)[:, :, None])[:, :, 0]
        count = there.sum(axis=1).tolist()
        return [
            (Evidence(information[n], moment[n], count[n]), Estimate(mean[n], covariance[n]))
            for n in range(len(many))
        ]

    def ask(self, answers: Mapping[str, int], touched: Iterable[str], budget: int) -> list[str]:
        """Choose the items to ask next (Sec. 6.2), ascending; none of those touched before.

        The choice depends on this person's answers, and on what everyone can know.
        """
        known = [self._index[item] for item in touched if item in self._index]
        if not known:
            return self._ask_first(budget)
        candidates = self._allowed.copy()
        candidates[known] = False
        return self._choose(candidates, self.estimate(answers)[0].information, budget)

    def _ask_first(self, budget: int) -> list[str]:
        """Return what somebody new is asked: the same for everyone, so it is chosen once."""
        if budget not in self._first:
            nothing = np.zeros_like(self._precision)
            self._first[budget] = self._choose(self._allowed, nothing, budget)
        return self._first[budget]

    def _choose(self, candidates: Mask, start: Float, budget: int) -> list[str]:
        if not candidates.any():
            return []
        chosen = select(
            self._heard,
            budget,
            start=start,
            prior=self._noise * self._precision,
            weights=None if self._rated is None else self._rated / self._people,
            candidates=candidates,
            certified=False,
        )
        return [self._items[j] for j in chosen.items]

    def scores(self, estimate: Estimate, top: int | None = None, margin: int = 0) -> bytes:
        """Return the bytes of `Scores` for all items, or for the private top-N.

        They are ours, so they are written without being checked item by item.
        """
        score = to_fixed(self._centre + self._vectors @ estimate.mean)
        vectors, items = self._vectors, self._items
        if top is not None:  # deviations of these alone: over all items they take most of the time
            listed = shortlist(score, self._offsets, top=top, margin=margin)
            score, vectors = score[listed], vectors[listed]
            items = [items[j] for j in listed]
        spread = ((vectors @ estimate.covariance) * vectors).sum(axis=1)
        deviation = to_fixed(np.sqrt(self._noise + spread))
        return encode(
            {
                "deviation": deviation.tolist(),
                "disclosure": self.digest,
                "items": items,
                "score": score.tolist(),
                "version": VERSION,
            }
        )
