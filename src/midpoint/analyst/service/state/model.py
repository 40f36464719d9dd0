"""Item profiles made ready for many requests: what to ask next, an estimate, scores as bytes."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.decimals import decimals
from midpoint.analyst.score.evidence import Estimate, Evidence
from midpoint.analyst.score.scorer import Scored, Scorer, Wish
from midpoint.analyst.solicit.questions import Questions
from midpoint.analyst.solicit.selection import Selection
from midpoint.analyst.storage import Summary, Sums
from midpoint.wire import Disclosure
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

Float = NDArray[np.float64]
Integers = NDArray[np.int64]


class Model:
    """What one published model computes: by `Scorer`, from and to bytes, and what to ask next."""

    def __init__(self, profiles: ItemProfiles, disclosure: Disclosure) -> None:
        scorer = Scorer(profiles, disclosure)
        self.disclosure = disclosure
        self.digest = scorer.digest
        self.scorer = scorer
        self._index = disclosure.index
        self._questions = Questions(profiles, disclosure, report_weights=scorer.weights)
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
        predictor, weights = self.scorer.predictor, self.scorer.weights
        root = np.sqrt(1.0 if weights is None else weights[self.scorer.items.order])
        sets = self.scorer.items.set_prior
        factors = [] if sets is None else [sets.factors]
        for numbers in (predictor.vectors * root[:, None], root, predictor.centre, *factors):
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
        D, (a, b) = self.scorer.items.dimension, self._triangle
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
        if not summary.items.keys() & self._index.keys():
            return self._ask_first(budget)
        if not self._questions.candidates(summary.items).any():
            return []
        known = self._kept(summary)
        chosen = self._questions.choose(
            budget,
            information=known.information,
            answers=int(known.count),
            touched=summary.items,
        )
        return self._names(chosen)

    def _ask_first(self, budget: int) -> list[str]:
        """Return what somebody new is asked: the same for everyone, so it is chosen once."""
        if budget not in self._first:
            some = self._questions.candidates().any()
            self._first[budget] = self._names(self._questions.choose(budget)) if some else []
        return self._first[budget]

    def _names(self, chosen: Selection) -> list[str]:
        return sorted(self.scorer.items.item_ids[chosen.items].tolist())

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
