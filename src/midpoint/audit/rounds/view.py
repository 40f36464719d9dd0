"""A whole transcript as an attacker sees it: what was asked, answered, when, and what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst import ItemProfiles
from midpoint.analyst.solicit.questions import rated_share
from midpoint.audit.attackers.view import Matrix, Panel, View
from midpoint.audit.rounds.conversation import Transcript, Version
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.protocol import Reports
from midpoint.wire import Disclosure

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TranscriptView(View):
    """The union of what people ever answered, as any attacker reads it, and how it came about."""

    transcript: Transcript
    """Round by round."""

    @classmethod
    def of(
        cls, transcript: Transcript, last: Version, scale: Scale, panel: Panel | None = None
    ) -> "TranscriptView":
        """See people through what the analyst knows at the end, and beside the panel if known."""
        known = last.profiles, last.disclosure, scale
        return cls(union(transcript), *known, transcript=transcript, panel=panel)

    @classmethod
    def pooled(
        cls, views: Sequence[Self], profiles: ItemProfiles, disclosure: Disclosure, **more: Any
    ) -> Self:
        """Put people one part after the other, transcripts included."""
        joined = Transcript.joined([view.transcript for view in views])
        return super().pooled(views, profiles, disclosure, transcript=joined, **more)


def union(transcript: Transcript) -> Reports:
    """Return all that was ever answered; of several answers to one question their mean."""
    value, seen = transcript.value.astype(np.float64), transcript.answered
    times = seen.sum(axis=0)
    total = np.where(seen, value, 0.0).sum(axis=0)
    person, column = np.nonzero(times)
    offsets = np.zeros(len(times) + 1, dtype=np.int64)
    np.cumsum((times > 0).sum(axis=1), out=offsets[1:])
    return Reports(
        np.arange(len(person)),
        offsets,
        transcript.items[column].astype(np.int32),
        np.asarray((total / np.maximum(times, 1))[person, column], np.float64),
    )


def item_history(view: View) -> Matrix:
    """Six columns for each item: what became of the question. Shape (N, 6 C).

    Answered at all, asked and never answered, rounds until the first answer, how many answers,
    the mean answer less the item's centre, and the last answer less the first.
    """
    seen = _transcript(view)
    asked, answered = seen.ever_asked, seen.ever_answered
    times = seen.answered.sum(axis=0)
    mean = np.where(seen.answered, seen.value, 0).sum(axis=0) / np.maximum(times, 1)
    mean = np.where(answered, mean - view.profiles.centre[seen.items], 0)
    tables = (answered, asked & ~answered, delay(seen), times, mean, drift(seen))
    return sparse.hstack([sparse.csr_matrix(one.astype(np.float32)) for one in tables], "csr")


def person_history(view: View) -> Float:
    """What a few dozen numbers say of a person's rounds. Shape (N, 5 R + 4 D + 5).

    Of each round how many questions were asked, answered, answered only when asked again, and
    answered otherwise than before, and the mean answer; the mean profiles of the items answered in
    the first round, in the last, ever and never; how long answers took, how far they moved, and
    how likely the open questions were to be answered.
    """
    seen, profiles = _transcript(view), view.profiles
    asked, answered = seen.ever_asked, seen.ever_answered
    V = profiles.vectors[seen.items].astype(np.float64)
    groups = (seen.answered[0], seen.answered[-1], answered, asked & ~answered)
    waited, moved = delay(seen), drift(seen)
    sums = (waited, waited > 0, moved, np.abs(moved))
    return np.column_stack(
        [
            _by_round(seen, profiles.centre[seen.items]),
            *(_means(group, V) for group in groups),
            *(one.sum(axis=1) for one in sums),
            _means(asked & ~answered, rated_share(profiles)[seen.items, None]),
        ]
    )


def _by_round(seen: Transcript, centre: NDArray[np.floating]) -> Float:
    """Count what happened in each round, and average the answers. Shape (N, 5 R)."""
    answered = seen.answered
    before = np.cumsum(answered, axis=0) > answered
    again = np.cumsum(seen.asked, axis=0) > seen.asked
    changed = np.zeros_like(answered)
    changed[1:] = answered[1:] & answered[:-1] & (seen.value[1:] != seen.value[:-1])
    counts = [one.sum(axis=2).T for one in (seen.asked, answered, again & ~before & answered)]
    deviation = np.where(answered, seen.value - centre, 0.0).sum(axis=2).T
    mean = deviation / np.maximum(counts[1], 1)
    return np.column_stack([*counts, changed.sum(axis=2).T, mean]).astype(np.float64)


def delay(seen: Transcript) -> NDArray[np.intp]:
    """Return the rounds from first question to first answer, 0 where there is none. (N, C)."""
    waited = seen.answered.argmax(axis=0) - seen.asked.argmax(axis=0)
    return np.where(seen.ever_answered, waited, 0)


def drift(seen: Transcript) -> Float:
    """Return the last answer less the first, 0 where there are none. Shape (N, C)."""
    answered, rounds = seen.answered, len(seen.value)
    first = answered.argmax(axis=0)
    last = rounds - 1 - answered[::-1].argmax(axis=0)
    ends = [np.take_along_axis(seen.value, at[None], axis=0)[0] for at in (first, last)]
    return np.where(seen.ever_answered, ends[1] - ends[0], 0.0).astype(np.float64)


def _transcript(view: View) -> Transcript:
    if not isinstance(view, TranscriptView):
        raise MidpointError("this attacker reads transcripts; audit several rounds to try it")
    return view.transcript


def _means(group: NDArray[np.bool_], entries: Float) -> Float:
    """Average the entries (C, k) of each person's items, 0 where she has none. Shape (N, k)."""
    total = group.astype(np.float64) @ entries
    return np.asarray(total / np.maximum(group.sum(axis=1), 1)[:, None], np.float64)
