"""Which reports are used in training; all others are left out and counted.

Anyone can send reports under many pseudonyms, so every answer is checked. Answers that no device
sends are left out, and answers under disclosures of another feature or scale. One person's answer
about an item counts once, and nobody may have more answers than the busiest person of the panel.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.analyst.learn.answers import Answers, indices_of
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.score.report_rules import ReportRules
from midpoint.analyst.score.weights import coin_noise
from midpoint.data import Feature, Ratings, Scale
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, ONE, Disclosure, ValueMap, from_fixed, to_fixed

if TYPE_CHECKING:
    from midpoint.analyst.fit.profiles import Provenance

Float = NDArray[np.float64]
Integers = NDArray[np.int64]
SILENT: Final = (ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
"""Value maps under which a reported value says nothing about the rating."""
RAREST: Final = 0.05
"""The least share of revealed ratings that counts: an answer stands for at most 20 ratings."""


class Reason(StrEnum):
    """Why an answer does not count."""

    BLANK = "a cell is blank or no number"
    UNPUBLISHED = "under a disclosure that was never published"
    OTHER_FEATURE = "under a disclosure of another feature"
    OTHER_SCALE = "under a disclosure of another scale"
    SILENT = "under a scheme whose values say nothing about taste"
    UNKNOWN_ITEM = "about an item that its disclosure does not have"
    IMPOSSIBLE = "of a value that no device sends"
    NOT_IN_PANEL = "about an item that is not in the panel's data"
    AGAIN = "about an item that the same person answered before"
    TOO_MANY = "beyond as many as the busiest person of the panel gave"


@dataclass(frozen=True)
class Admission:
    """How many answers are used in training, and how many are left out for which reason."""

    answers: int
    """Number of answers that are used."""
    people: int
    """Number of people who gave them, counted once for each disclosure."""
    left_out: tuple[tuple[Reason, int], ...]
    """Number of other answers by reason, in the order of the checks."""

    def __str__(self) -> str:
        """Say it in one or more lines."""
        who = "1 person" if self.people == 1 else f"{self.people:,} people"
        what = "1 answer" if self.answers == 1 else f"{self.answers:,} answers"
        lines = [f"items are learned from {what} of {who}"]
        lines += [f"  left out: {count:,} {reason}" for reason, count in self.left_out]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Return it as a model stores it."""
        refused = {reason.name.lower(): count for reason, count in self.left_out}
        return {"answers": self.answers, "people": self.people, "left_out": refused}


class PanelData(NamedTuple):
    """What admission has to know of the panel's data, which may be in memory or on disk."""

    item_ids: NDArray[np.str_]
    """The items that are learned. Shape (M,)."""
    scale: Scale
    """The scale of ratings."""
    most: int
    """Number of ratings of the panel's busiest person."""

    @classmethod
    def of(cls, panel: Ratings) -> "PanelData":
        """Make it from ratings in memory."""
        return cls(panel.item_ids, panel.scale, int(np.diff(panel.user_offsets).max(initial=0)))


@dataclass(frozen=True, eq=False)
class Admitted:
    """The n answers that are used, in the order of their people and items."""

    person: NDArray[np.int32]
    """Number of the person who gave it, from 0; another for each disclosure. Shape (n,)."""
    item: NDArray[np.int32]
    """Its item, by index in the panel's ratings. Shape (n,)."""
    value: NDArray[np.float32]
    """The reported value. Shape (n,)."""
    variance: Float
    """Variance that coins added to each value. Shape (n,)."""
    presence: Float
    """Number of ratings that each stands for. Shape (n,)."""
    admission: Admission
    """Counts of answers used and left out."""


def admit(
    panel: PanelData, feature: Feature, reports: CollectedReports, *, seed: int = 0
) -> Admitted:
    """Return the answers that items are learned from, beside a panel's ratings.

    Args:
        panel: The panel's items, scale and busiest person; only these items are learned.
        feature: The private feature of the panel.
        reports: What people reported.
        seed: Decides which answers count of somebody who gave too many.
    """
    whole = reports.answers.drop_nulls().filter(pl.col("value").is_finite())
    counted = dict.fromkeys(Reason, 0)
    counted[Reason.BLANK] = len(reports) - whole.height
    answers = Answers.of(whole)
    share = feature.counts / feature.counts.sum()
    parts = list[_Legal]()
    for number, digest in enumerate(answers.disclosures):
        own = np.flatnonzero(answers.disclosure == number)
        disclosure = reports.disclosures.get(digest)
        reason = obstacle(disclosure, panel.scale, feature)
        if disclosure is None or reason is not None:
            counted[reason or Reason.UNPUBLISHED] += len(own)
            continue
        parts.append(_legal(answers, own, disclosure, panel.item_ids, share, counted))
    legal = _Legal(*map(np.concatenate, zip(*parts, strict=True))) if parts else _Legal.none()
    kept = _counting(answers, legal, panel, seed, counted)
    row, item = legal.row[kept], legal.item[kept]
    person = _numbered(answers.person[row] * len(answers.disclosures) + answers.disclosure[row])
    order = np.argsort(person, kind="stable")
    people = int(person.max(initial=-1)) + 1
    left_out = tuple((reason, count) for reason, count in counted.items() if count)
    return Admitted(
        person=person[order].astype(np.int32),
        item=item[order].astype(np.int32),
        value=answers.value[row[order]].astype(np.float32),
        variance=legal.variance[kept[order]],
        presence=legal.presence[kept[order]],
        admission=Admission(len(row), people, left_out),
    )


def require_teaching(reports: CollectedReports, admission: Admission) -> None:
    """Report how many answers are used; refuse a fit without any."""
    if reports.admitted:
        reports.admitted(admission)
    if not admission.answers:
        raise MidpointError(f"no report of {reports.name} can be used; {admission}")


def noted(made: "Provenance", admission: Admission) -> "Provenance":
    """Return a model's provenance, with the numbers of answers that were used and left out."""
    kept = {**made.configuration, "reports": admission.as_dict()}
    return replace(made, configuration=kept)


def obstacle(disclosure: Disclosure | None, known: Scale, feature: Feature) -> Reason | None:
    """Return why reports under a disclosure cannot be used; None if they can."""
    if disclosure is None:
        return Reason.UNPUBLISHED
    if tuple((part.name, part.categories) for part in disclosure.features) != feature.parts:
        return Reason.OTHER_FEATURE
    scale = disclosure.scale
    levels = None if known.levels is None else tuple(to_fixed(known.levels).tolist())
    ends = tuple(to_fixed([known.low, known.high]).tolist())
    if (scale.low, scale.high) != ends or scale.levels != levels:
        return Reason.OTHER_SCALE
    return Reason.SILENT if disclosure.obfuscation.value_map in SILENT else None


class _Legal(NamedTuple):
    """Answers that devices may give about items that the panel's data have; n answers."""

    row: Integers
    """Which answer it is. Shape (n,)."""
    item: Integers
    """Its item, by index in the panel's ratings. Shape (n,)."""
    variance: Float
    """Variance that coins added to its value. Shape (n,)."""
    presence: Float
    """Number of ratings that it stands for. Shape (n,)."""

    @classmethod
    def none(cls) -> "_Legal":
        """Return no answers."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


def _numbered(code: Integers) -> Integers:
    """Number codes from 0 without gaps, in their own order. Shape (n,)."""
    used = np.bincount(code) > 0
    return np.asarray((np.cumsum(used) - 1)[code])


def _legal(
    answers: Answers,
    own: Integers,
    disclosure: Disclosure,
    learned: NDArray[np.str_],
    share: Float,
    counted: dict[Reason, int],
) -> _Legal:
    """Keep what devices may answer under a disclosure, about items that the panel's data have."""
    index = indices_of(answers.items, disclosure.items)[answers.item[own]]
    listed = index >= 0
    counted[Reason.UNKNOWN_ITEM] += int((~listed).sum())
    own, index = own[listed], index[listed]
    rules = ReportRules(disclosure)
    low, high = rules.limits()
    fixed = to_fixed(np.clip(answers.value[own], -1e6, 1e6))
    possible = rules.allows(fixed) & (low[index] <= fixed) & (fixed <= high[index])
    counted[Reason.IMPOSSIBLE] += int((~possible).sum())
    own, index = own[possible], index[possible]
    item = indices_of(disclosure.items, learned.tolist())[index]
    shared = item >= 0
    counted[Reason.NOT_IN_PANEL] += int((~shared).sum())
    own, index, item = own[shared], index[shared], item[shared]
    presence = 1 / np.maximum(revealed_share(disclosure, share), RAREST)
    return _Legal(own, item, coin_noise(disclosure)[index], presence[index])


def _counting(
    answers: Answers, legal: _Legal, panel: PanelData, seed: int, counted: dict[Reason, int]
) -> Integers:
    """Return which legal answers count, by person and item: the first, and not too many of one."""
    items = len(panel.item_ids)
    code = answers.person[legal.row] * items + legal.item
    order = np.argsort(legal.row, kind="stable")
    order = order[np.argsort(code[order], kind="stable")]
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(code[order]) > 0
    once = order[first]
    counted[Reason.AGAIN] = len(order) - len(once)
    few = _at_most(code[once] // items, panel.most, seed)
    counted[Reason.TOO_MANY] = len(once) - int(few.sum())
    return np.asarray(once[few])


def _at_most(person: Integers, most: int, seed: int) -> NDArray[np.bool_]:
    """Draw which answers count where somebody gave more than so many; people ascend. (n,)."""
    count = np.bincount(person)
    counts = np.ones(len(person), np.bool_)
    draws = np.random.default_rng(seed)
    for busy in np.flatnonzero(count > most):
        start = int(np.searchsorted(person, busy))
        counts[start : start + count[busy]] = draws.permutation(count[busy]) < most
    return counts


def revealed_share(disclosure: Disclosure, share: Float) -> Float:
    """Return which share of an item's ratings is revealed, on average over everyone. Shape (M,).

    Where category k rates an item with probability p_k and reveals with min p / p_k, that is
    min p / sum_k s_k p_k = 1 / sum_k (s_k / reveal_k), times the keep probability. Counterparts
    reveal by position; the mean position stands for all of them.

    Args:
        disclosure: What the devices went by.
        share: How many people each category has, as shares s_k of all. Shape (K,).
    """
    revealed = np.ones(len(disclosure.items))
    if disclosure.reveal is not None:
        revealed = 1 / (share / np.maximum(from_fixed(disclosure.reveal), 1 / ONE)).sum(axis=1)
    elif disclosure.rate is not None and disclosure.obfuscation.sub_samples:
        p = 1 / (1 + np.exp(-np.array(disclosure.rate, np.float64) / GRAIN))
        revealed = p.min(axis=1) / (p @ share)
    keep = 1.0 if disclosure.keep is None else from_fixed(disclosure.keep)
    return np.asarray(revealed * keep, np.float64)
