"""What an audit finds, part by part: rows, bands, controls, judges, and what they are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from midpoint.audit.measure.statistics import WIDER

AUC = "auc"
RMSE = ("rmse_inferred", "rmse_blind", "rmse_local")
PENALIZED = "rmse_penalized"
"""In the paper's setting: the error with the inferred category, under the penalty of the fit."""
NDCG, COVERAGE = "ndcg_at_10", "coverage"
RANKING = (NDCG, "recall_at_20", "mrr", COVERAGE)
"""How good the lists of new people are: items that they liked among all that they did not give, and
how many items of the catalogue anybody is shown (`analyst.kernels.ranking`)."""
LISTED = {NDCG: "NDCG@10", "recall_at_20": "Recall@20", "mrr": "MRR", COVERAGE: "coverage"}
"""What they are called in tables."""
MATCHED = "rmse_matched"
"""The same under the penalty fitted to the paper's error (`attackers.joint.MATCHED`)."""
INFERRED = (RMSE[0], PENALIZED, MATCHED)
"""All errors with the inferred category in the paper's setting."""
SPELLED = LISTED | {
    RMSE[0]: "RMSE, category inferred",
    RMSE[1]: "RMSE, category unknown",
    RMSE[2]: "RMSE, as devices show it",
    PENALIZED: "RMSE, inferred, penalized",
    MATCHED: "RMSE, inferred, matched",
    "withheld": "share withheld",
    "disclosed_bits": "bits disclosed of an item",
}
"""What measures are called where no text beside them explains them."""
TRUE_POSITIVES = ("tpr_at_1", "tpr_at_0.1")
"""Share of a category that a judge finds while 1 % and 0.1 % of the others are taken for it."""
BALANCED = "balanced_accuracy"
"""Mean over both categories of the share that a judge holds for what it is."""
NAMED = "named"
"""Share of people whose category a judge names with 90 % confidence."""
SHARPNESS = (*TRUE_POSITIVES, BALANCED, NAMED)
METRICS = (AUC, *SHARPNESS, *RMSE, *RANKING, "withheld", "disclosed_bits")
COST, NDCG_COST = "cost", "ndcg_cost"
"""How the share by which the error grew, and the share of NDCG@10 that is lost, are called where
they stand beside the metrics."""
ROUNDING = 1e-9
"""What sums of fractions may be off by."""
READABLE = 0.55
"""An attacker with a lower AUC on its control proves nothing by failing elsewhere."""
RAW_KIND, FINAL_KIND = "raw", "final"
"""Kinds of devices over several rounds: one that sends raw ratings, and the real one."""


class Row(NamedTuple):
    """One number."""

    dataset: str
    """Name of the data."""
    feature: str
    """The private feature."""
    scheme: str
    """The protocol."""
    metric: str
    """What was measured; one of METRICS or INFERRED."""
    attack: str
    """The attacker, `name[category]` for one of several categories; empty where none is meant."""
    value: float
    """The number; an AUC is not folded, below 0.5 it is a leak as well. The macro AUC of several
    categories, `name` alone, is their mean; what is judged of it is in `macro`."""
    low: float
    """Lower end of its 95 % interval, the trained attackers and the folds taken as given; of bits,
    which no sample of people is behind, the number itself."""
    high: float
    """Upper end of its 95 % interval."""
    folds: int
    """Number of folds."""
    seed: int
    """The audit's seed."""


@dataclass(frozen=True)
class Band:
    """The AUC that the strongest of a scheme's attackers would reach by chance."""

    low: float
    """Lower end: labels permuted within folds, on the attackers' scores as they are."""
    high: float
    """Upper end, likewise."""
    attackers: int
    """How many attackers it is the strongest of: all that ever ran on the scheme here."""
    p_value: float
    """How often chance takes the strongest as far from 0.5 as it was found; by the wider band."""
    level: float = 0.95
    """How much of chance it holds: 97.5 % where it is one of two looks, and more of three."""

    @property
    def judged_low(self) -> float:
        """Lower end of the wider band by which it is judged (see statistics.WIDER)."""
        return 0.5 - WIDER * (0.5 - self.low)

    @property
    def judged_high(self) -> float:
        """Upper end of the wider band by which it is judged."""
        return 0.5 + WIDER * (self.high - 0.5)

    def holds(self, value: float) -> bool:
        """Tell whether an AUC is no more than chance, by the wider band."""
        return self.judged_low - ROUNDING <= value <= self.judged_high + ROUNDING

    def reach(self, value: float) -> float:
        """Return how far from 0.5 an AUC is, in half widths of the wider band."""
        return abs(value - 0.5) / max(self.judged_high - 0.5, ROUNDING)

    def holds_closely(self, value: float) -> bool:
        """Tell whether an AUC is no more than what permuted labels show."""
        return self.low - ROUNDING <= value <= self.high + ROUNDING


@dataclass(frozen=True)
class Cost:
    """By what share the error exceeds the best of raw ratings, or NDCG@10 falls short of it."""

    value: float
    """The share, with the device's own correction."""
    low: float
    """Lower end of its 95 % interval: users drawn again, each with both of her numbers."""
    high: float
    """Upper end of its 95 % interval."""


@dataclass(frozen=True)
class Control:
    """Whether an attacker succeeds on its control."""

    scheme: str
    """The protocol it was tried on: raw ratings, or a scheme whose flaw it uses."""
    value: float
    """Its AUC there."""
    reads: bool
    """Whether it succeeds there; if not, its failure elsewhere proves nothing."""
    unread: tuple[str, ...] = ()
    """Categories, of more than two, that it cannot distinguish from the rest there."""


@dataclass(frozen=True)
class Histogram:
    """The distribution of an attacker's scores (Figure 6)."""

    edges: tuple[float, ...]
    """Edges of the bins."""
    counts: tuple[tuple[int, ...], ...]
    """Users of the first and of the second category in each bin."""


@dataclass(frozen=True)
class ByActivity:
    """The AUC for people by how many ratings they gave."""

    attack: str
    """The scheme's strongest attacker."""
    ratings: tuple[float, ...]
    """Mean number of ratings in each quarter of the users."""
    value: tuple[float, ...]
    """Its AUC in each quarter."""
    low: tuple[float, ...]
    """Lower ends of the intervals."""
    high: tuple[float, ...]
    """Upper ends of the intervals."""


@dataclass(frozen=True)
class Adversary:
    """An adversary: what it knows, its attackers, and the people they learned from."""

    knows: str
    """What it knows, in words."""
    attacks: tuple[str, ...]
    """Its attackers."""
    panel: int
    """Number of people in a fold that the disclosure was made of."""
    outsiders: int
    """Number of labelled people outside the panel in a fold that its attackers learned from."""
    bands: Mapping[str, Band]
    """Chance band of the strongest of these attackers, for each scheme."""


@dataclass(frozen=True)
class Judge:
    """The judge of an adversary on one scheme: a stack of its attackers, fixed beforehand."""

    attack: str
    """Name of its rows, such as `judge:panel`; of more than two categories, with the one that it
    distinguishes best from the rest."""
    band: Band
    """Its chance band."""
    weights: Mapping[str, float]
    """Weight of each attacker, on average over folds; they add up to one."""
    right: float | None
    """Share of the people named with 90 % confidence that are of the named category."""
    false: tuple[float, ...]
    """False positive rates along its ROC curve, ascending."""
    true: tuple[float, ...]
    """True positive rates at them."""


@dataclass(frozen=True)
class Bound:
    """The AUC of somebody who knew every error of a disclosure, and nothing else."""

    value: float
    """The AUC: Phi(sqrt(D / 2)), D = sets + values."""
    sets: float
    """What the errors of log ratios add to D, over the items that a person reveals."""
    values: float
    """What the errors of offsets add to it."""
    revealed: float
    """Items that a person reveals, on average."""
    panel: int
    """Number of people in a fold that the disclosure was made of."""


@dataclass(frozen=True)
class Membership:
    """How well members of a panel are distinguished from strangers, by what is disclosed."""

    kind: str
    """By what members are recognized best: `sets`, `values` or `both`; chosen after the fact."""
    value: float
    """AUC of that likelihood ratio: how often a member scores above a stranger."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end of its 95 % interval."""
    sets: float
    """AUC by which items a person rated alone."""
    values: float
    """AUC by how she rated them alone."""
    both: float
    """AUC by both, weighed."""
    control: float
    """AUC on the same people by the same, from a disclosure of others: chance."""
    control_low: float
    """Lower end of its 95 % interval."""
    control_high: float
    """Upper end of its 95 % interval."""
    panel: int
    """People whom the disclosure was made of."""
    reference: int
    """Other people, whose raw ratings the attacker has."""

    def words(self, scheme: str) -> str:
        """Say it in two sentences."""
        return (
            f"{scheme}: somebody who has a person's raw ratings and category tells a member of a"
            f" panel of {self.panel:,} from a stranger {100 * self.value:.0f} times in 100"
            f" ({self.low:.3f}-{self.high:.3f}). With a disclosure of other people:"
            f" {100 * self.control:.0f} ({self.control_low:.3f}-{self.control_high:.3f})."
        )


@dataclass(frozen=True)
class SizePoint:
    """What leaks under one scheme, and what it costs, for one panel and number of outsiders."""

    scheme: str
    """The protocol."""
    panel: int
    """Number of people in a fold that the disclosure was made of."""
    outsiders: int
    """Labelled people outside it that the attackers learned from."""
    value: float
    """AUC of the judge of outsiders."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end of its 95 % interval."""
    chance: float
    """Upper end of the wider band by which it is judged."""
    strongest: float
    """AUC of the strongest of their attackers."""
    bound: float | None
    """The bound of a panel of this size, where the scheme has one."""
    reports: bool = False
    """Whether items were also learned from everyone else's reports."""
    panel_judge: float | None = None
    """AUC of the judge of the analyst with the panel alone, where it was measured."""
    rmse: float | None = None
    """Error of what new people's devices show, where ratings are predicted."""


@dataclass(frozen=True)
class Rounds:
    """One scheme over several rounds; its devices are schemes of the audit, each with rows."""

    rounds: int
    """How often everyone was asked."""
    budget: int
    """How many new items each round asked about."""
    items: int
    """How many items there were to ask about."""
    timed: bool
    """Whether ratings came in the order of their times; else in a random one."""
    devices: Mapping[str, str]
    """Kind of each scheme's devices: raw, final (the real ones), forgetful or tossing."""
    controls: Mapping[str, Control]
    """Whether each attacker that tried all devices succeeds on raw ratings over rounds."""
    answers: Mapping[str, tuple[float, ...]]
    """Mean number of answers that a person gave in each round, for each scheme."""

    @property
    def raw(self) -> str:
        """The control: ratings as they are."""
        return next(name for name, kind in self.devices.items() if kind == RAW_KIND)

    @property
    def product(self) -> str:
        """Real devices: every decision is final."""
        return next(name for name, kind in self.devices.items() if kind == FINAL_KIND)

    @property
    def scheme(self) -> str:
        """The scheme under which rounds were held."""
        return self.product.partition(":rounds=")[0]
