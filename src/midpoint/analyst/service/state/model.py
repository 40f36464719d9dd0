"""Item profiles made ready for many requests: what to ask next, an estimate, scores as bytes."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import symmetric_inverse
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.decimals import decimals
from midpoint.analyst.score.evidence import Estimate, Evidence
from midpoint.analyst.score.scorer import Scored, Scorer, Wish
from midpoint.analyst.solicit.selection import select
from midpoint.analyst.storage import Summary, Sums
from midpoint.wire import Disclosure
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

Float = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
PROMISING = 16
"""Items that a question is chosen from, for each that is asked or each dimension, at most."""


class Model:
    """What one published model computes: by `Scorer`, from and to bytes, and what to ask next."""

    def __init__(self, profiles: ItemProfiles, disclosure: Disclosure) -> None:
        order, scorer = profiles.order, Scorer(profiles, disclosure)
        self.disclosure = disclosure
        self.digest = scorer.digest
        self.scorer = scorer
        self._index = disclosure.index
        self._root = np.sqrt(1.0 if scorer.weights is None else scorer.weights[order])
        self._heard = scorer.predictor.vectors * self._root[:, None]
        self._prior = profiles.prior_precision
        counted = profiles.statistics
        self._rated = None if counted is None else counted.count.sum(axis=1)[order]
        self._people = 0 if counted is None else int(counted.users.sum())
        informative = profiles.informative[order]
        self._allowed = informative if self._rated is None else informative & (self._rated > 0)
        self._expected = self._heard
        if self._rated is not None:
            self._expected = self._heard * np.sqrt(self._rated / self._people)[:, None]
        self._first: dict[int, list[str]] = {}
        self._triangle = np.tril_indices(profiles.dimension)
        self._listed = (
            encode({"disclosure": self.digest, "items": list(scorer.names), "score": 0})
            .removeprefix(b"{")
            .removesuffix(b":0}")
        )
        self.key = self._make_key()
        """Names all numbers that sums depend on: other numbers, another key."""
        self.nothing = self.sums(self.evidence({}))
        """Sums of somebody who has answered nothing."""

    def _make_key(self) -> str:
        named = hashlib.sha256(self.digest.encode())
        sets = self.scorer.items.set_prior
        factors = [] if sets is None else [sets.factors]
        for numbers in (self._heard, self._root, self.scorer.predictor.centre, *factors):
            named.update(np.ascontiguousarray(numbers).tobytes())
        return named.hexdigest()

    def evidence(self, answers: Mapping[str, int]) -> Evidence:
        """Sum up answers; those about items that are gone do not count."""
        if not answers.keys() <= self._index.keys():
            answers = {item: y for item, y in answers.items() if item in self._index}
        return self.scorer.sum_up(answers)

    def sums(self, evidence: Evidence) -> Sums:
        """Write evidence down to be kept: the triangle of its matrix, its vectors, its count."""
        triangle = evidence.information[self._triangle]
        numbers = (triangle, evidence.moment, evidence.chosen, np.atleast_1d(evidence.count))
        return Sums(self.key, np.concatenate(numbers, dtype="<f8").tobytes())

    def added(self, summary: Summary, answers: Mapping[str, int]) -> Sums:
        """Add further answers to what is kept of somebody; each item counts once."""
        new = {item: y for item, y in answers.items() if item not in summary.answers}
        return self.sums(self._kept(summary) + self.evidence(new))

    def _kept(self, summary: Summary) -> Evidence:
        """Return the evidence of a summary: as it was kept, or summed up where that was not."""
        if summary.sums is None or summary.sums.model != self.key:
            return self.evidence(summary.answers)
        kept = self._read([summary.sums.data])
        return Evidence(
            kept.information[0], kept.moment[0], int(np.sum(kept.count)), kept.chosen[0]
        )

    def _read(self, kept: Sequence[bytes]) -> Evidence:
        """Read the evidence of several people."""
        D, (a, b) = len(self._prior), self._triangle
        numbers = np.frombuffer(b"".join(kept), "<f8").reshape(len(kept), -1)
        information = np.empty((len(kept), D, D))
        information[:, a, b] = information[:, b, a] = numbers[:, : len(a)]
        moment, chosen = numbers[:, len(a) : len(a) + D], numbers[:, len(a) + D : -1]
        return Evidence(information, moment, numbers[:, -1].astype(np.int64), chosen)

    def estimates(self, many: Sequence[Sums]) -> Estimate:
        """Estimate the profiles of several people from sums under this model."""
        return self.scorer.solve(self._read([sums.data for sums in many]))

    def ask(self, summary: Summary, budget: int) -> list[str]:
        """Choose the items to ask next (Sec. 6.2), ascending; none of those touched before.

        The choice depends on this person's answers, and on what everyone can know.
        """
        known = [self._index[item] for item in summary.items if item in self._index]
        if not known:
            return self._ask_first(budget)
        candidates = self._allowed.copy()
        candidates[known] = False
        information = self._kept(summary).information
        return self._choose(self._promising(candidates, information, budget), information, budget)

    def _promising(self, candidates: Mask, start: Float, budget: int) -> Mask:
        """Leave the candidates that say most by themselves: the search looks at each many times.

        That is by how much each lowers tr B: c / (1 + a), as in the first step of the search.
        """
        most = PROMISING * max(budget, len(self._prior))
        if np.count_nonzero(candidates) <= most:
            return candidates
        B = symmetric_inverse(start + self._prior)
        moved = self._expected @ B
        influence = np.einsum("md,md->m", moved, moved)
        gain = influence / (1 + np.einsum("md,md->m", moved, self._expected))
        gain[~candidates] = -1.0
        kept = np.zeros_like(candidates)
        kept[np.argpartition(gain, -most)[-most:]] = True
        return kept

    def _ask_first(self, budget: int) -> list[str]:
        """Return what somebody new is asked: the same for everyone, so it is chosen once."""
        if budget not in self._first:
            nothing = np.zeros_like(self._prior)
            self._first[budget] = self._choose(self._allowed, nothing, budget)
        return self._first[budget]

    def _choose(self, candidates: Mask, start: Float, budget: int) -> list[str]:
        if not candidates.any():
            return []
        chosen = select(
            self._heard,
            budget,
            start=start,
            prior=self._prior,
            weights=None if self._rated is None else self._rated / self._people,
            candidates=candidates,
            certified=False,
        )
        return [self.scorer.names[j] for j in chosen.items]

    def scores(self, estimates: Estimate, wishes: Sequence[Wish]) -> list[bytes]:
        """Return the bytes of `Scores` for several people, each as she wishes.

        They are ours, so they are written without being checked item by item.
        """
        return [self._write(scored) for scored in self.scorer.score(estimates, wishes)]

    def _write(self, scored: Scored) -> bytes:
        """Write what `encode` would: of all items only two lists differ from person to person."""
        if scored.listed is None:
            middle = self._listed  # "disclosure":"...","items":[...],"score"
            return b'{"deviation":[%b],%b:[%b],"version":%d}' % (
                decimals(scored.deviation),
                middle,
                decimals(scored.score),
                VERSION,
            )
        names = self.scorer.names
        return encode(
            {
                "deviation": scored.deviation.tolist(),
                "disclosure": self.digest,
                "items": [names[j] for j in scored.listed],
                "score": scored.score.tolist(),
                "version": VERSION,
            }
        )
