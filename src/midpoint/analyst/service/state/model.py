"""Item profiles made ready for many requests: what to ask next, an estimate, scores as bytes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import symmetric_inverse
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.decimals import decimals
from midpoint.analyst.score.evidence import Evidence
from midpoint.analyst.score.scorer import Scorer
from midpoint.analyst.score.top_n import shortlist
from midpoint.analyst.solicit.selection import select
from midpoint.analyst.storage import Summary, Sums
from midpoint.wire import Disclosure, from_fixed, to_fixed
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

Float = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
PROMISING = 16
"""Items that a question is chosen from, for each that is asked or each dimension, at most."""
PRODUCTS = 2**23
"""Numbers in the table of v_j v_j^T, at most; deviations of more items are worked out without."""


class Profiles(NamedTuple):
    """What is estimated of several people."""

    mean: Float
    """Their profiles. Shape (people, D)."""
    covariance: Float
    """How uncertain each is. Shape (people, D, D)."""


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
        self._expected = self._heard
        if self._rated is not None:
            self._expected = self._heard * np.sqrt(self._rated / self._people)[:, None]
        self._first: dict[int, list[str]] = {}
        self._triangle = np.tril_indices(len(self._pull))
        self._products = self._make_products()
        self._listed = (
            encode({"disclosure": self.digest, "items": self._items, "score": 0})
            .removeprefix(b"{")
            .removesuffix(b":0}")
        )
        self.key = self._make_key()
        """Names all numbers that sums depend on: other numbers, another key."""
        self.nothing = self.sums(self.evidence({}))
        """Sums of somebody who has answered nothing."""

    def _make_key(self) -> str:
        named = hashlib.sha256(self.digest.encode())
        for numbers in (self._heard, self._root, self._centre):
            named.update(np.ascontiguousarray(numbers).tobytes())
        return named.hexdigest()

    def _make_products(self) -> Float | None:
        """Return v_ja v_jb of every item, twice off the diagonal: shape (D (D + 1) / 2, M)."""
        a, b = self._triangle
        if len(a) * len(self._vectors) > PRODUCTS:
            return None
        both = np.where(a == b, 1.0, 2.0)
        return np.ascontiguousarray((self._vectors[:, a] * self._vectors[:, b] * both).T)

    def evidence(self, answers: Mapping[str, int]) -> Evidence:
        """Sum up answers; those about items that are gone do not count."""
        there = [item for item in answers if item in self._index]
        index = np.array([self._index[item] for item in there], np.intp)
        value = from_fixed(np.array([answers[item] for item in there], np.int64))
        V = self._heard[index]
        beyond = (value - self._centre[index]) * self._root[index]
        return Evidence(V.T @ V, beyond @ V, len(there))

    def sums(self, evidence: Evidence) -> Sums:
        """Write evidence down to be kept: the triangle of its matrix, its vector, its count."""
        numbers = (evidence.information[self._triangle], evidence.moment, [evidence.count])
        return Sums(self.key, np.concatenate(numbers, dtype="<f8").tobytes())

    def added(self, summary: Summary, answers: Mapping[str, int]) -> Sums:
        """Add further answers to what is kept of somebody; each item counts once."""
        new = {item: y for item, y in answers.items() if item not in summary.answers}
        return self.sums(self._kept(summary) + self.evidence(new))

    def _kept(self, summary: Summary) -> Evidence:
        """Return the evidence of a summary: as it was kept, or summed up where that was not."""
        if summary.sums is None or summary.sums.model != self.key:
            return self.evidence(summary.answers)
        information, moment, count = self._read([summary.sums.data])
        return Evidence(information[0], moment[0], int(count[0]))

    def _read(self, kept: Sequence[bytes]) -> tuple[Float, Float, Float]:
        """Read sums of several people: (people, D, D), (people, D), (people,)."""
        D, (a, b) = len(self._pull), self._triangle
        numbers = np.frombuffer(b"".join(kept), "<f8").reshape(len(kept), -1)
        information = np.empty((len(kept), D, D))
        information[:, a, b] = information[:, b, a] = numbers[:, : len(a)]
        return information, numbers[:, len(a) : -1], numbers[:, -1]

    def estimates(self, many: Sequence[Sums]) -> Profiles:
        """Estimate the profiles of several people from sums under this model.

        x-hat = S (C^-1 m + sum w y v / sigma^2),  S = (C^-1 + sum w v v^T / sigma^2)^-1,

        with w the report weights of this disclosure.
        """
        information, moment, _ = self._read([sums.data for sums in many])
        covariance = np.asarray(np.linalg.inv(self._precision + information / self._noise))
        mean = (covariance @ (self._pull + moment / self._noise)[:, :, None])[:, :, 0]
        return Profiles(mean, covariance)

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
        most = PROMISING * max(budget, len(self._pull))
        if np.count_nonzero(candidates) <= most:
            return candidates
        B = symmetric_inverse(start + self._noise * self._precision)
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

    def scores(self, profiles: Profiles, wanted: Sequence[tuple[int | None, int]]) -> list[bytes]:
        """Return the bytes of `Scores` for several people.

        Each wants all items, or the private top-N with its margin: (None, 0) or (N, margin). They
        are ours, so they are written without being checked item by item.
        """
        score = to_fixed(self._centre + profiles.mean @ self._vectors.T)
        whole = [n for n, (top, _) in enumerate(wanted) if top is None]
        deviation = dict(zip(whole, self._deviations(profiles.covariance[whole]), strict=True))
        return [
            self._all(score[n], deviation[n])
            if top is None
            else self._top(score[n], profiles.covariance[n], top, margin)
            for n, (top, margin) in enumerate(wanted)
        ]

    def _deviations(self, covariance: Float) -> Integers:
        """Return the standard deviations of all items' ratings, in fixed point. (people, M)."""
        if self._products is None:
            V = self._vectors
            spread = np.empty((len(covariance), len(V)))
            for n, C in enumerate(covariance):
                np.einsum("md,md->m", V @ C, V, out=spread[n])
        else:
            spread = covariance[:, *self._triangle] @ self._products
        return to_fixed(np.sqrt(self._noise + spread))

    def _all(self, score: Integers, deviation: Integers) -> bytes:
        """Write what `encode` would: only two lists differ from person to person."""
        middle = self._listed  # "disclosure":"...","items":[...],"score"
        return b'{"deviation":[%b],%b:[%b],"version":%d}' % (
            decimals(deviation),
            middle,
            decimals(score),
            VERSION,
        )

    def _top(self, score: Integers, covariance: Float, top: int, margin: int) -> bytes:
        listed = shortlist(score, self._offsets, top=top, margin=margin)
        vectors = self._vectors[listed]
        spread = ((vectors @ covariance) * vectors).sum(axis=1)
        return encode(
            {
                "deviation": to_fixed(np.sqrt(self._noise + spread)).tolist(),
                "disclosure": self.digest,
                "items": [self._items[j] for j in listed],
                "score": score[listed].tolist(),
                "version": VERSION,
            }
        )
