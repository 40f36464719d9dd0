"""Reports in, scores out: the same for every category; her device corrects and ranks them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.fold_in import Method, estimate_profiles
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.score.evidence import Estimate, Evidence, least_squares, posterior
from midpoint.analyst.score.predictions import Predictor
from midpoint.analyst.score.report_rules import ReportRules
from midpoint.analyst.score.top_n import shortlist, shortlist_size
from midpoint.analyst.score.weights import report_weights
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Report, Scores, correction, from_fixed

Float = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Wish:
    """What scores somebody wants: of all items, or of as many as her best are among."""

    top: int | None = None
    """How many best items of every category; None for all items."""
    margin: int = 0
    """How many items may be taken out of them."""


ALL = Wish()
"""Scores of all items."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Items scored for one person, in fixed point and in the order of messages."""

    listed: NDArray[np.intp] | None
    """Indices in messages of the scored items, ascending; None for all. Shape (n,)."""
    score: Integers
    """Predicted ratings midway between the categories. Shape (n,)."""
    deviation: Integers
    """Their standard deviations. Shape (n,)."""


class Scorer:
    """What people reported under one disclosure, turned into profiles and scores.

    Both estimators read the same sums (`Evidence`): "map" weighs each item's reports by how much
    noise the coins added, under the training users' mean and covariance as prior; under
    "least-squares" all count alike, as in the paper (Eq. 11).

    Args:
        profiles: The item profiles.
        disclosure: What the reporting devices went by; it is of the same items.
        estimator: "map" or "least-squares".
        alpha: Share of ratings that were obfuscated at all.
    """

    items: ItemProfiles
    """The item profiles."""
    estimator: Method
    """How profiles are estimated."""
    weights: Float | None
    """Report weights by item, in the order of the profiles; None where all count alike. (M,)."""

    def __init__(
        self,
        profiles: ItemProfiles,
        disclosure: Disclosure,
        *,
        estimator: Method = "map",
        alpha: float = 1.0,
    ) -> None:
        if disclosure.items != tuple(profiles.item_ids[profiles.order].tolist()):
            raise MidpointError(
                f"the disclosure ({len(disclosure.items)} items, such as {disclosure.items[0]!r})"
                f" is of other items than the profiles ({profiles.n_items}); name the one that the"
                " reports were made under, or disclose again"
            )
        self.items = profiles
        self.estimator = estimator
        self.weights = (
            report_weights(profiles, disclosure, alpha=alpha) if estimator == "map" else None
        )
        self._disclosure = disclosure

    @cached_property
    def digest(self) -> str:
        """Digest of the disclosure."""
        return self._disclosure.digest

    @cached_property
    def rules(self) -> ReportRules:
        """What devices may answer under the disclosure."""
        return ReportRules(self._disclosure)

    @cached_property
    def corrections(self) -> Integers:
        """What each category's devices add to scores, in the order of messages. Shape (M, K)."""
        return correction(self._disclosure)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The items, in the order of messages."""
        return tuple(self.items.item_ids[self.items.order].tolist())

    @cached_property
    def predictor(self) -> Predictor:
        """What predicts ratings, in the order of messages."""
        return Predictor(self.items)

    def __repr__(self) -> str:
        """Say what it scores by."""
        return (
            f"<Scorer: {self.items.n_items} items, scheme {self.rules.scheme}, estimator"
            f" {self.estimator}, disclosure {self.digest[:12]}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Go to another process with all that it needs, which is less than the disclosure."""
        made = {name: getattr(self, name) for name in ("digest", "rules", "corrections")}
        rest = ("_disclosure", "names", "predictor")  # made again where they are needed
        return {name: v for name, v in self.__dict__.items() if name not in rest} | made

    def answers(self, reports: Iterable[Report]) -> dict[str, int]:
        """Read one person's reports as answers by item, in fixed point; each item counts once.

        A report is refused that was made under another disclosure, that holds what no device sends
        under this one (`ReportRules`), or that answers an item otherwise than another report.
        """
        answers: dict[str, int] = {}
        for report in reports:
            if report.disclosure != self.digest:
                raise MidpointError(
                    f"report {report.id} was made under disclosure {report.disclosure[:12]}, not"
                    f" {self.digest[:12]}; name the one it was made under"
                )
            self.rules.require(report)
            for item, value in report.answers:
                if answers.setdefault(item, value) != value:
                    raise MidpointError(
                        f"report {report.id} answers item {item!r} otherwise than an earlier one; a"
                        " device never does that, so these are reports of two people"
                    )
        return answers

    def evidence(self, reports: Iterable[Report]) -> Evidence:
        """Sum up one person's reports, repeated interactions included (Sec. 6.3)."""
        return self.sum_up(self.answers(reports))

    def sum_up(self, answers: Mapping[str, int]) -> Evidence:
        """Sum up answers by item, in fixed point, that were read before."""
        index = self.items.index_of(answers)
        value = from_fixed(np.fromiter(answers.values(), np.int64, len(answers)))
        return Evidence.of(self.items, index, value, self.weights)

    def solve(self, evidence: Evidence) -> Estimate:
        """Estimate a profile from its evidence, or several from theirs (`Evidence`)."""
        if self.estimator == "map":
            return posterior(evidence, self.items)
        return least_squares(evidence, self.items.noise_variance)

    def estimate(self, reports: Iterable[Report]) -> Estimate:
        """Estimate one person's profile; of nothing reported it is the prior."""
        return self.solve(self.evidence(reports))

    def scores(self, reports: Iterable[Report]) -> Scores:
        """Score all items for one person, in the order of their identifiers."""
        return self.scores_of(self.estimate(reports))

    def top(self, reports: Iterable[Report], *, top: int, margin: int) -> Scores:
        """Return scores that hold every category's best items, so that a device asks for none.

        Whatever her category, and whichever items she has rated (no more than `margin`, withheld
        ones included), her `top` best of the others are among them. The size depends on public
        numbers only; see `shortlist`, which is given whole numbers of the wire, as the device will
        add them.

        That is by her category's offsets. With counterparts a device also takes off what it moved,
        shift_j = <move, taste_j>, which nobody else knows. Then what it shows at any rank is worse
        than the best of all items there by at most max_j shift_j - min_j shift_j. For with b_j its
        score before that, in falling order over the items she has not rated, the n first are
        listed, and hers are at least b_n - max shift, while no n items reach more than
        b_n - min shift. Where that matters, send all scores: so do devices up to 20,000 items.
        """
        return self.top_of(self.estimate(reports), top=top, margin=margin)

    def scores_of(self, estimate: Estimate) -> Scores:
        """Score all items by a profile."""
        return self._message(self.score(estimate.stacked, [ALL])[0])

    def top_of(self, estimate: Estimate, *, top: int, margin: int) -> Scores:
        """Return the scores of `top` by a profile."""
        return self._message(self.score(estimate.stacked, [Wish(top, margin)])[0])

    def score(self, estimates: Estimate, wishes: Sequence[Wish]) -> list[Scored]:
        """Score items for several people, each as she wishes, by the estimates of all of them."""
        score = self.predictor.scores(estimates.mean)
        whole = [n for n, wish in enumerate(wishes) if self._is_for_all(wish)]
        covariance = estimates.covariance
        deviation = dict(zip(whole, self.predictor.deviations(covariance[whole]), strict=True))
        scored = []
        for n, wish in enumerate(wishes):
            if wish.top is None or n in deviation:
                scored.append(Scored(None, score[n], deviation[n]))
                continue
            listed = shortlist(score[n], self.corrections, top=wish.top, margin=wish.margin)
            deviations = self.predictor.deviations_at(listed, covariance[n])
            scored.append(Scored(listed, score[n][listed], deviations))
        return scored

    def _is_for_all(self, wish: Wish) -> bool:
        """Tell whether the list holds all items: it is then written as theirs, at once."""
        if wish.top is None:
            return True
        items, categories = self.corrections.shape
        size = shortlist_size(wish.top, wish.margin, categories, items)
        return wish.top > 0 and size == items

    def _message(self, scored: Scored) -> Scores:
        names = self.names
        return Scores.model_construct(  # made here, so there is nothing to check
            disclosure=self.digest,
            items=names if scored.listed is None else tuple(names[j] for j in scored.listed),
            score=tuple(scored.score.tolist()),
            deviation=tuple(scored.deviation.tolist()),
        )

    def shortlist(
        self, profile: Float, *, top: int, margin: int
    ) -> tuple[NDArray[np.intp], Integers]:
        """Return the indices in messages of the items of `top`, and their scores in fixed point."""
        score = self.predictor.scores(profile[None])[0]
        listed = shortlist(score, self.corrections, top=top, margin=margin)
        return listed, score[listed]

    def profiles(
        self,
        offsets: NDArray[np.int64],
        item: NDArray[np.int32],
        value: NDArray[np.floating],
        *,
        threads: int | None = None,
    ) -> Float:
        """Estimate many people's profiles at once, in single precision.

        Args:
            offsets: Person i has the reported ratings `offsets[i]:offsets[i + 1]`.
            item: Which item each is of, by index among the profiles.
            value: The reported ratings.
            threads: All usable cores unless given.

        Returns:
            The profiles. Shape (people, D).
        """
        return estimate_profiles(
            self.items,
            offsets,
            item,
            value,
            method=self.estimator,
            weights=self.weights,
            threads=threads,
        )
