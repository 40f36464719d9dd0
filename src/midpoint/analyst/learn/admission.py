"""Which reports may teach: everything else is left out, counted, and said.

Anyone can send reports under as many pseudonyms as he likes, so nothing in them is taken on trust.
What no device sends does not count; nor does what was answered for another feature or scale, since
it is not at this feature's midpoint. One person's answer about an item counts once, and nobody has
more answers than the busiest person of the panel.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.score.report_rules import ReportRules
from midpoint.analyst.score.weights import coin_noise
from midpoint.data import Feature, Ratings
from midpoint.wire import GRAIN, ONE, Disclosure, ValueMap, from_fixed, to_fixed

Float = NDArray[np.float64]
SILENT: Final = (ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
"""Maps of values that leave nothing of a rating."""
RAREST: Final = 0.05
"""Share of ratings revealed, below which an answer stands for no more ratings still."""


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
    """What became of the reports."""

    answers: int
    """Answers that teach."""
    people: int
    """People who gave them, counted once for each disclosure."""
    left_out: tuple[tuple[Reason, int], ...]
    """Answers that do not, by the reason; in the order in which they are looked for."""

    def __str__(self) -> str:
        """Say it in one or more lines."""
        lines = [f"{self.answers:,} answers of {self.people:,} people teach items"]
        lines += [f"  left out: {count:,} {reason}" for reason, count in self.left_out]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Return it as it is kept in a model."""
        refused = {reason.name.lower(): count for reason, count in self.left_out}
        return {"answers": self.answers, "people": self.people, "left_out": refused}


@dataclass(frozen=True, eq=False)
class Admitted:
    """The answers that teach, in the order of their people and items; n answers."""

    person: NDArray[np.int32]
    """Who gave each, numbered from 0; once for each disclosure. Shape (n,)."""
    item: NDArray[np.int32]
    """Its item, by index in the panel's ratings. Shape (n,)."""
    value: NDArray[np.float32]
    """The reported value. Shape (n,)."""
    variance: Float
    """What coins added to the variance of each. Shape (n,)."""
    presence: Float
    """For how many ratings each stands. Shape (n,)."""
    admission: Admission
    """What was left out."""


def admit(
    panel: Ratings, feature: Feature, reports: CollectedReports, *, seed: int = 0
) -> Admitted:
    """Take the answers that may teach items beside a panel.

    Args:
        panel: The panel's ratings; its items are the ones that are learned.
        feature: The private feature of the panel.
        reports: What people reported.
        seed: Decides which answers count of somebody who gave too many.
    """
    number = {item: n for n, item in enumerate(panel.item_ids.tolist())}
    share = feature.counts / feature.counts.sum()
    counted = dict.fromkeys(Reason, 0)
    rows = reports.answers.with_row_index("row")
    whole = rows.drop_nulls().filter(pl.col("value").is_finite())
    counted[Reason.BLANK] = rows.height - whole.height
    parts = list[pl.DataFrame]()
    for (digest,), part in whole.group_by("disclosure", maintain_order=True):
        disclosure = reports.disclosures.get(str(digest))
        reason = obstacle(disclosure, panel, feature)
        if disclosure is None or reason is not None:
            counted[reason or Reason.UNPUBLISHED] += part.height
            continue
        parts.append(_legal(part, disclosure, number, share, counted))
    kept = pl.concat(parts).sort("row") if parts else _none()
    once = kept.unique(["person", "item"], keep="first", maintain_order=True)
    counted[Reason.AGAIN] = kept.height - once.height
    most = int(np.diff(panel.user_offsets).max(initial=0))
    few = _at_most(once, most, seed)
    counted[Reason.TOO_MANY] = once.height - few.height
    people = few.select("person", "disclosure").unique(maintain_order=True)
    people = people.with_row_index("number")
    ordered = few.join(people, on=["person", "disclosure"]).sort("number", "item")
    left_out = tuple((reason, count) for reason, count in counted.items() if count)
    return Admitted(
        person=ordered["number"].to_numpy().astype(np.int32),
        item=ordered["item"].to_numpy().astype(np.int32),
        value=ordered["value"].to_numpy().astype(np.float32),
        variance=ordered["variance"].to_numpy().astype(np.float64),
        presence=ordered["presence"].to_numpy().astype(np.float64),
        admission=Admission(ordered.height, people.height, left_out),
    )


def obstacle(disclosure: Disclosure | None, panel: Ratings, feature: Feature) -> Reason | None:
    """Say why nothing under a disclosure can teach; None where it can."""
    if disclosure is None:
        return Reason.UNPUBLISHED
    if tuple((part.name, part.categories) for part in disclosure.features) != feature.parts:
        return Reason.OTHER_FEATURE
    scale = disclosure.scale
    levels = None if panel.scale.levels is None else tuple(to_fixed(panel.scale.levels).tolist())
    ends = tuple(to_fixed([panel.scale.low, panel.scale.high]).tolist())
    if (scale.low, scale.high) != ends or scale.levels != levels:
        return Reason.OTHER_SCALE
    return Reason.SILENT if disclosure.obfuscation.value_map in SILENT else None


def _legal(
    part: pl.DataFrame,
    disclosure: Disclosure,
    number: dict[str, int],
    share: Float,
    counted: dict[Reason, int],
) -> pl.DataFrame:
    """Keep what devices may answer under a disclosure, about items that the panel's data have."""
    names = list(disclosure.items)
    rules = ReportRules(disclosure)
    low, high = rules.limits()
    items = pl.DataFrame(
        {
            "item": names,
            "index": np.arange(len(names)),
            "number": np.array([number.get(name, -1) for name in names], np.int64),
            "variance": coin_noise(disclosure),
            "presence": 1 / np.maximum(revealed_share(disclosure, share), RAREST),
        }
    )
    listed = part.join(items, on="item", maintain_order="left")
    counted[Reason.UNKNOWN_ITEM] += part.height - listed.height
    fixed, index = to_fixed(np.clip(listed["value"].to_numpy(), -1e6, 1e6)), listed["index"]
    possible = rules.allows(fixed) & (low[index] <= fixed) & (fixed <= high[index])
    sent = listed.filter(pl.Series(possible, dtype=pl.Boolean))
    counted[Reason.IMPOSSIBLE] += listed.height - sent.height
    shared = sent.filter(pl.col("number") >= 0)
    counted[Reason.NOT_IN_PANEL] += sent.height - shared.height
    return shared.select(
        "row", "person", "disclosure", pl.col("number").alias("item"),
        "value", "variance", "presence",
    )  # fmt: skip


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


def _at_most(rows: pl.DataFrame, most: int, seed: int) -> pl.DataFrame:
    """Keep so many answers of each person, drawn at random."""
    draw = pl.Series("draw", np.random.default_rng(seed).permutation(rows.height))
    rank = pl.col("draw").rank("ordinal").over("person")
    return rows.with_columns(draw).filter(rank <= most).drop("draw")


def _none() -> pl.DataFrame:
    """Return no answers, with the columns that answers have."""
    kinds = {"row": pl.UInt32, "person": pl.String, "disclosure": pl.String, "item": pl.Int64}
    numbers = ("value", "variance", "presence")
    return pl.DataFrame(schema={**kinds, **dict.fromkeys(numbers, pl.Float64)})
