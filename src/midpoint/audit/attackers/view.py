"""What an attacker gets: reports, item profiles, the disclosure and the scale."""

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
    """What the analyst sees of some people, and all that it knows by itself; N people, M items."""

    reports: Reports
    """What they reported, whether raw ratings or obfuscated ones."""
    profiles: ItemProfiles
    """The item profiles that it attacks with, and which `reports.item` indexes."""
    disclosure: Disclosure
    """What their devices obfuscated by."""
    scale: Scale
    """What a report can say of a rating."""
    parts: tuple["View", ...] = ()
    """The views it was pooled from, if their people had different disclosures."""
    nested_folds: tuple["NestedFold", ...] = ()
    """Of training people: trials to choose among models by."""
    apart: tuple[tuple[NDArray[np.intp], "View"], ...] = ()
    """Of training people as they are: who they are, part by part, and the same of them with
    profiles that were learned without them. For attackers that read people by profiles alone."""
    panel: "Panel | None" = None
    """The people of whom the disclosure was made, where they are known."""

    @classmethod
    def pooled(
        cls, views: Sequence[Self], profiles: ItemProfiles, disclosure: Disclosure, **more: Any
    ) -> Self:
        """Put people who had different disclosures into one view, one part after the other.

        Attackers train on people obfuscated under disclosures made without them; the profiles and
        the disclosure are those of the people they will be tried on.
        """
        reports = pool_reports([view.reports for view in views])
        return cls(reports, profiles, disclosure, views[0].scale, tuple(views), **more)

    @property
    def n_users(self) -> int:
        """Count the people, silent ones included."""
        return len(self.reports.user_offsets) - 1

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many items each of them revealed. Shape (N,)."""
        return np.diff(self.reports.user_offsets)

    @cached_property
    def user(self) -> NDArray[np.intp]:
        """Whose each reported rating is. Shape (n,)."""
        return np.repeat(np.arange(self.n_users), self.counts)

    @cached_property
    def profile(self) -> Float:
        """Their profiles: as devices sent them, or estimated from ratings. Shape (N, D)."""
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
        """Lay entries of the reported ratings out in rows of people. Shape (N, width)."""
        parts = entries.astype(np.float32), column.astype(np.int32), self.reports.user_offsets
        return sparse.csr_matrix(parts, shape=(self.n_users, width))

    def item_table(self, entries: NDArray[Any]) -> Matrix:
        """Lay one entry for each reported rating out by item. Shape (N, M)."""
        return self.table(entries, self.reports.item, self.profiles.n_items)


@dataclass(frozen=True, eq=False)
class Panel:
    """The people of whom a disclosure was made, as they look under it."""

    draw: Callable[[], Sequence[View]]
    """Shows them, once for each draw of the coins; only who asks for it pays for it."""
    category: NDArray[np.integer]
    """Their categories. Shape (people,)."""


@dataclass(frozen=True, eq=False)
class NestedFold:
    """Training people attacked as held-out ones will be.

    Nobody who is judged took part in the disclosures of the others. Otherwise the judgement has
    its sign flipped: what is special about the judged by chance goes into the disclosures, and
    these take it out of the others' reports.
    """

    learn: tuple[View, ...]
    """What is learned from, one view for each draw of the coins."""
    learners: NDArray[np.intp]
    """Who they are: indices among the people whose view this is a nested fold of."""
    judge: View
    """What is judged by."""
    judged: NDArray[np.intp]
    """Who they are, likewise."""
    shows_sign: bool = True
    """Whether the judged took no part in the disclosures, so that a sign may be flipped by them."""


def nested_fold(
    show: Callable[[int, frozenset[int], int], View],
    members: Sequence[NDArray[np.intp]],
    judged: int,
    draws: int,
) -> NestedFold:
    """Set one part of the training people against the others.

    Args:
        show: Gives what is seen of the people of a part, obfuscated under a disclosure (and with
            the profiles) fitted without some parts, in one draw of the coins.
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
    """Put the reports of people one after the other."""
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
