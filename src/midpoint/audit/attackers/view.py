"""What an attacker gets to see: reports, item profiles, the disclosure and the scale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.data import Scale
from midpoint.protocol import Reports
from midpoint.wire import Disclosure, from_fixed

Float = NDArray[np.float64]
Matrix = Any
"""A sparse matrix in rows (scipy's CSR), which has no types."""
FEW = 2000
"""With fewer training people than this, one nested fold is too noisy to choose settings by."""


@dataclass(frozen=True, eq=False)
class View:
    """What the analyst sees of N people, and what it knows itself about M items."""

    reports: Reports
    """What they reported, whether raw ratings or obfuscated ones."""
    profiles: ItemProfiles
    """The item profiles that attackers use; `reports.item` are indices into them."""
    disclosure: Disclosure
    """The disclosure that their devices obfuscated under."""
    scale: Scale
    """The scale of reported values."""
    parts: tuple["View", ...] = ()
    """The views that were pooled into it, if their people had different disclosures."""
    nested_folds: tuple["NestedFold", ...] = ()
    """For training people: trials by which attackers choose their settings."""
    apart: tuple[tuple[NDArray[np.intp], "View"], ...] = ()
    """For training people with raw ratings, part by part: their indices, and a view of them with
    item profiles learned without them. Attackers that use profiles alone need it."""
    panel: "Panel | None" = None
    """The people of whom the disclosure was made, where they are known."""

    @classmethod
    def pooled(
        cls, views: Sequence[Self], profiles: ItemProfiles, disclosure: Disclosure, **more: Any
    ) -> Self:
        """Concatenate views of people who had different disclosures.

        Attackers train on people who were obfuscated under disclosures made without them. The
        profiles and the disclosure of the result are those of the people that will be attacked.
        """
        reports = pool_reports([view.reports for view in views])
        return cls(reports, profiles, disclosure, views[0].scale, tuple(views), **more)

    @property
    def n_users(self) -> int:
        """Number of people, those who revealed nothing included."""
        return len(self.reports.user_offsets) - 1

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of items that each person revealed. Shape (N,)."""
        return np.diff(self.reports.user_offsets)

    @cached_property
    def user(self) -> NDArray[np.intp]:
        """Index of the person of each reported rating. Shape (n,)."""
        return np.repeat(np.arange(self.n_users), self.counts)

    @cached_property
    def profile(self) -> Float:
        """People's profiles: as devices sent them, or estimated from reports. Shape (N, D)."""
        if self.reports.profile is not None:
            return self.reports.profile
        rows = self.reports.user_offsets, self.reports.item, self.reports.value
        return estimate_profiles(self.profiles, *rows, sets=False, threads=1)

    @cached_property
    def residual(self) -> Float:
        """What their profiles leave unexplained of each reported rating. Shape (n,)."""
        item = self.reports.item
        taste = np.einsum("nd,nd->n", self.profile[self.user], self.profiles.vectors[item])
        return np.asarray(self.reports.value - self.profiles.centre[item] - taste)

    def table(self, entries: NDArray[Any], column: NDArray[Any], width: int) -> Matrix:
        """Return a sparse table with a row for each person, one entry per rating. (N, width)."""
        parts = entries.astype(np.float32), column.astype(np.int32), self.reports.user_offsets
        return sparse.csr_matrix(parts, shape=(self.n_users, width))

    def item_table(self, entries: NDArray[Any]) -> Matrix:
        """Return a sparse table of people by items, one entry per rating. Shape (N, M)."""
        return self.table(entries, self.reports.item, self.profiles.n_items)


@dataclass(frozen=True, eq=False)
class Panel:
    """The people whose ratings a disclosure was made of, and what they would send under it."""

    draw: Callable[[], Sequence[View]]
    """Returns a view of them for each draw of the coins; computed when called, since it is slow."""
    category: NDArray[np.integer]
    """Their categories. Shape (people,)."""


@dataclass(frozen=True, eq=False)
class NestedFold:
    """A trial on training people: attackers learn from some, and are judged on the others.

    The people judged took no part in the disclosures of those learned from. Otherwise scores would
    have their sign flipped: what is special about the judged by chance goes into the disclosures,
    which take it out of the others' reports.
    """

    learn: tuple[View, ...]
    """Views of the people to learn from, one for each draw of the coins."""
    learners: NDArray[np.intp]
    """Their indices among the training people."""
    judge: View
    """The view of the people to be judged on."""
    judged: NDArray[np.intp]
    """Their indices among the training people."""
    shows_sign: bool = True
    """Whether the judged took no part in the disclosures, so that they show an attacker's sign."""


def nested_fold(
    show: Callable[[int, frozenset[int], int], View],
    members: Sequence[NDArray[np.intp]],
    judged: int,
    draws: int,
) -> NestedFold:
    """Make the trial that judges one part of the training people, and learns from the others.

    Args:
        show: Returns the view of a part, given the parts that its disclosure and profiles are
            fitted without, and the draw of the coins.
        members: Indices of each part's people among all those that will be trained on.
        judged: The part to judge by.
        draws: Draws of the coins to learn from.
    """
    judge = show(judged, frozenset({judged}), 0)
    others = [part for part in range(len(members)) if part != judged]
    learn = tuple(
        judge.pooled(
            [show(part, frozenset({part, judged}), draw) for part in others],
            judge.profiles,
            judge.disclosure,
        )
        for draw in range(draws)
    )
    learners = np.concatenate([members[part] for part in others])
    return NestedFold(learn, learners, judge, members[judged])


def pool_reports(reports: Sequence[Reports]) -> Reports:
    """Concatenate reports."""
    starts = accumulate((len(part.item) for part in reports), initial=0)
    offsets = [part.user_offsets[1:] + start for part, start in zip(reports, starts, strict=False)]
    sent = [part.profile for part in reports if part.profile is not None]
    return Reports(
        kept=np.concatenate([part.kept for part in reports]),
        user_offsets=np.concatenate([np.zeros(1, np.int64), *offsets]),
        item=np.concatenate([part.item for part in reports]),
        value=np.concatenate([part.value for part in reports]),
        profile=np.concatenate(sent) if sent else None,
    )


def report_scale(disclosure: Disclosure, scale: Scale) -> Scale:
    """Return the scale that reports are on: the ratings' own, or fewer of its levels."""
    reported = disclosure.scale.reported
    return scale if reported is None else Scale.discrete(from_fixed(reported).tolist())
