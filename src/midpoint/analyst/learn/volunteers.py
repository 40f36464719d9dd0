"""The people who joined the panel at a service, beside those of a table.

Nobody can verify what they share: each is a pseudonym with a category and ratings. Only what
devices can send is taken, each person once; everything else is left out and counted. That keeps
out mistakes, but not somebody who joins many times and lies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.learn.admission import Reason
from midpoint.data import MISSING, Feature, Ratings, Scale
from midpoint.wire import Disclosure, PanelRatings, from_fixed


@dataclass(frozen=True, eq=False)
class Volunteers:
    """What members of a panel share, as ratings with features; or nobody's."""

    ratings: Ratings | None
    """Their ratings; None if nobody's can be used."""
    joined: tuple[int, ...] = ()
    """When each joined, in whole seconds since 1970 in UTC, in the order of the users."""
    left_out: tuple[tuple[str, int], ...] = ()
    """People who are not in it, by the reason."""

    def __len__(self) -> int:
        """Count the people."""
        return len(self.joined)

    def __str__(self) -> str:
        """Say how many there are, in one or more lines."""
        who = "1 person" if len(self) == 1 else f"{len(self):,} people"
        lines = [f"{who} joined the panel at the service"]
        lines += [f"  left out: {count:,} {reason}" for reason, count in self.left_out]
        return "\n".join(lines)

    @classmethod
    def of(
        cls,
        members: Iterable[tuple[int, PanelRatings]],
        disclosures: Mapping[str, Disclosure],
        current: Disclosure,
        titles: Mapping[str, str] | None = None,
    ) -> "Volunteers":
        """Take those who share the features and the scale that a site has now.

        Args:
            members: When each joined, and what she shares; pseudonyms are not needed.
            disclosures: What the site ever published, by digest.
            current: What it shows now: its features and scale count.
            titles: What people call the items.
        """
        taken, left_out = list[tuple[int, PanelRatings]](), dict[str, int]()
        for joined, shared in members:
            reason = _reason(shared, disclosures.get(shared.disclosure), current)
            if reason is None:
                taken.append((joined, shared))
            else:
                left_out[reason] = left_out.get(reason, 0) + 1
        counted = tuple(left_out.items())
        if not taken:
            return cls(None, left_out=counted)
        every = [shared for _, shared in taken]
        ratings = _ratings(every, current, titles or {})
        return cls(ratings, tuple(joined for joined, _ in taken), counted)

    def since(self, moment: int) -> "Volunteers":
        """Keep those who joined at a moment or later."""
        return self._only(np.array(self.joined, np.int64) >= moment)

    def before(self, moment: int) -> "Volunteers":
        """Keep those who joined before a moment."""
        return self._only(np.array(self.joined, np.int64) < moment)

    def _only(self, chosen: NDArray[np.bool_]) -> "Volunteers":
        if self.ratings is None or not chosen.any():
            return Volunteers(None)
        kept = tuple(np.array(self.joined)[chosen].tolist())
        return Volunteers(self.ratings.select_users(chosen), kept)


def _reason(shared: PanelRatings, under: Disclosure | None, current: Disclosure) -> str | None:
    """Say why somebody cannot be used now; None if she can."""
    if under is None:
        return str(Reason.UNPUBLISHED)
    if under.features != current.features or current.cell(dict(shared.category)) is None:
        return str(Reason.OTHER_FEATURE)
    return None if under.scale == current.scale else str(Reason.OTHER_SCALE)


def _ratings(
    every: Sequence[PanelRatings], current: Disclosure, titles: Mapping[str, str]
) -> Ratings:
    """Put what they share into one table; people are numbered in the order in which they joined."""
    counts = [len(shared.ratings) for shared in every]
    names = _names(len(every))
    scale, levels = current.scale, current.scale.levels
    low, high = from_fixed([scale.low, scale.high]).tolist()
    ratings = Ratings.from_columns(
        np.repeat(names, counts),
        [item for shared in every for item, _ in shared.ratings],
        from_fixed([value for shared in every for _, value in shared.ratings]),
        scale=Scale(low, high, None if levels is None else tuple(from_fixed(levels).tolist())),
        item_names=titles,
        name="volunteers",
    )
    for feature in current.features:
        number = {category: k for k, category in enumerate(feature.categories)}
        codes = [number[dict(shared.category)[feature.name]] for shared in every]
        ratings = ratings.with_feature(
            Feature(feature.name, feature.categories, np.array(codes, np.int16))
        )
    return ratings


def _names(people: int) -> list[str]:
    """Name people by their numbers, such that the order of names is theirs."""
    digits = max(6, len(str(people)))
    return [f"volunteer {n:0{digits}d}" for n in range(1, people + 1)]


def together(panel: Ratings, volunteers: Volunteers) -> Ratings:
    """Put volunteers beside the people of a table, which has the features and scale of the site.

    Features that only the table has are unknown of volunteers.
    """
    others = volunteers.ratings
    if others is None:
        return panel
    ids = np.unique(np.concatenate([panel.item_ids, others.item_ids]))
    title = dict(zip(others.item_ids.tolist(), others.item_names.tolist(), strict=True))
    title |= dict(zip(panel.item_ids.tolist(), panel.item_names.tolist(), strict=True))
    parts = [_renumbered(part, ids) for part in (panel, others)]
    return replace(
        panel,
        user=np.concatenate([parts[0].user, parts[1].user + np.int32(panel.n_users)]),
        item=np.concatenate([part.item for part in parts]),
        value=np.concatenate([parts[0].value, _on_scale(parts[1].value, panel.scale)]),
        user_ids=np.concatenate([panel.user_ids, others.user_ids]),
        item_ids=ids,
        item_names=np.array([title[item] for item in ids.tolist()], np.str_),
        features={
            name: _longer(feature, others.features.get(name), others.n_users)
            for name, feature in panel.features.items()
        },
        time=None,
        name=f"{panel.name} and volunteers",
    )


def _on_scale(values: NDArray[np.float32], scale: Scale) -> NDArray[np.float32]:
    """Return the table's own levels: in fixed point 0.1 is not exact. Same shape."""
    if scale.levels is None:
        return values
    levels = np.array(scale.levels, np.float32)
    nearest = np.abs(values[:, None] - levels).argmin(axis=1)
    return np.asarray(levels[nearest])


def _renumbered(part: Ratings, ids: np.ndarray[tuple[int], np.dtype[np.str_]]) -> Ratings:
    """Return the same ratings with items numbered as in `ids`, in order."""
    item = np.searchsorted(ids, part.item_ids).astype(np.int32)[part.item]
    order = np.lexsort((item, part.user))
    return replace(
        part,
        user=part.user[order],
        item=item[order],
        value=part.value[order],
        item_ids=ids,
        item_names=ids,
        time=None,
    )


def _longer(feature: Feature, other: Feature | None, people: int) -> Feature:
    """Add volunteers to a feature; what they did not share is unknown."""
    codes = np.full(people, MISSING, np.int16) if other is None else other.codes
    return replace(feature, codes=np.concatenate([feature.codes, codes]))
