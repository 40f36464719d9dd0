"""What an audit found: one row a number, with what is needed to judge it."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from midpoint.audit.measure.statistics import WIDER
from midpoint.audit.measure.summary import as_table, as_text
from midpoint.audit.run.adversaries.judge import judge_name
from midpoint.audit.run.plan import DEFAULT, RAW
from midpoint.errors import MidpointError
from midpoint.files import replace_file

AUC = "auc"
RMSE = ("rmse_inferred", "rmse_blind", "rmse_local")
PENALIZED = "rmse_penalized"
"""In the paper's setting: the error with the inferred category, under the penalty of the fit."""
TRUE_POSITIVES = ("tpr_at_1", "tpr_at_0.1")
"""Share of a category that a judge finds while 1 % and 0.1 % of the others are taken for it."""
BALANCED = "balanced_accuracy"
"""Mean over both categories of the share that a judge holds for what it is."""
NAMED = "named"
"""Share of people whose category a judge names with 90 % confidence."""
SHARPNESS = (*TRUE_POSITIVES, BALANCED, NAMED)
METRICS = (AUC, *SHARPNESS, *RMSE, "withheld", "disclosed_bits")
COST = "cost"
"""How the share by which the error grew is called where it stands beside the metrics."""
CSV, JSON = "results.csv", "results.json"
FORMAT = 2
ROUNDING = 1e-9
"""What sums of fractions may be off by."""
READABLE = 0.55
"""An attacker that reads its control less well than this proves nothing by failing elsewhere."""
RAW_KIND, FINAL_KIND = "raw", "final"
"""Of devices over several rounds: those that send ratings as they are, and the product's."""


class Row(NamedTuple):
    """One number."""

    dataset: str
    """Name of the data."""
    feature: str
    """The private feature."""
    scheme: str
    """The protocol."""
    metric: str
    """What was measured; one of METRICS, or PENALIZED."""
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
    """What the strongest of a scheme's attackers would read by chance."""

    low: float
    """Lower end: labels permuted within folds, on the attackers' scores as they are."""
    high: float
    """Upper end, likewise."""
    attackers: int
    """How many attackers it is the strongest of: all that ever ran on the scheme here."""
    p_value: float
    """How often chance takes the strongest as far from 0.5 as it was found; by the wider band."""
    level: float = 0.95
    """How much of chance it holds: 97.5 % where it is one of two looks, the other being a judge."""

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

    def holds_closely(self, value: float) -> bool:
        """Tell whether an AUC is no more than what permuted labels show."""
        return self.low - ROUNDING <= value <= self.high + ROUNDING


@dataclass(frozen=True)
class Cost:
    """By what share the error exceeds the best that raw ratings give."""

    value: float
    """The share, with the device's own correction."""
    low: float
    """Lower end of its 95 % interval: users drawn again, each with both of her errors."""
    high: float
    """Upper end of its 95 % interval."""


@dataclass(frozen=True)
class Control:
    """Whether an attacker can read at all."""

    scheme: str
    """What it was tried on: raw ratings, but for attackers of one scheme's flaw."""
    value: float
    """Its AUC there."""
    reads: bool
    """Whether that is a success; if not, its failing elsewhere proves nothing."""
    unread: tuple[str, ...] = ()
    """Of several categories, those that it cannot tell from the rest there."""


@dataclass(frozen=True)
class Histogram:
    """How an attacker's answers are spread (Figure 6)."""

    edges: tuple[float, ...]
    """Edges of the bins."""
    counts: tuple[tuple[int, ...], ...]
    """Users of the first and of the second category in each bin."""


@dataclass(frozen=True)
class ByActivity:
    """How well people are read by how many ratings they gave."""

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
    """Against whom was measured, by what they know."""

    knows: str
    """What they know, in words."""
    attacks: tuple[str, ...]
    """Their attackers."""
    panel: int
    """People whom the disclosure was made of, in a fold."""
    outsiders: int
    """Labelled people outside the panel that the attackers learned from, in a fold."""
    bands: Mapping[str, Band]
    """Of each scheme, what chance would show of the strongest of these attackers."""


@dataclass(frozen=True)
class Judge:
    """One answer for an adversary on one scheme: a stack of its attackers, fixed beforehand."""

    attack: str
    """What its rows are called: `judge:panel`, with the category that it tells best from the rest
    where there are several."""
    band: Band
    """What chance would show of it."""
    weights: Mapping[str, float]
    """How far each attacker counts, on average over folds; they add up to one."""
    right: float | None
    """Of the people that it names with 90 % confidence, how many are what it says."""
    false: tuple[float, ...]
    """False positive rates along its ROC curve, ascending."""
    true: tuple[float, ...]
    """True positive rates at them."""


@dataclass(frozen=True)
class Bound:
    """What somebody would read who knew every error of a disclosure, and nothing else."""

    value: float
    """The AUC: Phi(sqrt(D / 2)), D = sets + values."""
    sets: float
    """What the errors of log ratios add to D, over the items that a person reveals."""
    values: float
    """What the errors of offsets add to it."""
    revealed: float
    """Items that a person reveals, on average."""
    panel: int
    """People whom the disclosure was made of, in a fold."""


@dataclass(frozen=True)
class SizePoint:
    """What outsiders read of one scheme, for one panel and one number of outsiders."""

    scheme: str
    """The protocol."""
    panel: int
    """People whom the disclosure was made of, in a fold."""
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
    """Of each scheme what its devices do: raw, final (the product's), forgetful or tossing."""
    controls: Mapping[str, Control]
    """Of each attacker that tried all devices, whether it can read raw ratings over rounds."""
    answers: Mapping[str, tuple[float, ...]]
    """Of each scheme, mean number of answers a person gave in each round."""

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


@dataclass(frozen=True, repr=False)
class AuditResults:
    """All that an audit found."""

    dataset: str
    """Name of the data."""
    data_digest: str
    """Digest of the data."""
    feature: str
    """The private feature."""
    categories: tuple[str, ...]
    """Its categories."""
    discrete: bool
    """Whether ratings come in levels."""
    folds: int
    """Number of folds."""
    seed: int
    """The audit's seed."""
    code: str
    """Digest of the code that made the numbers."""
    rows: tuple[Row, ...]
    """The numbers."""
    bands: Mapping[str, Band]
    """Of each scheme, what chance would show."""
    controls: Mapping[str, Control]
    """Of each attacker of one report, whether it can read at all."""
    adaptive: Mapping[str, bool]
    """Of each attacker, whether it knows the scheme."""
    per_fold: Mapping[str, Mapping[str, tuple[float, ...]]]
    """AUC of each fold, by scheme and attacker."""
    histograms: Mapping[str, Mapping[str, Histogram]]
    """Histograms of attackers' answers by scheme and attacker; binary features only."""
    activity: Mapping[str, ByActivity]
    """Of each scheme, privacy by the number of ratings."""
    withheld: Mapping[str, tuple[float, ...]]
    """Of each scheme, deciles over users of the share withheld."""
    schemes: Mapping[str, Mapping[str, Any]]
    """The protocols' settings."""
    seconds: Mapping[str, float]
    """Where the time went, by kind of task."""
    description: Mapping[str, Any]
    """What the data is like: the paper's Table 1."""
    macro_bands: Mapping[str, Band] = field(default_factory=dict)
    """Of each scheme, what chance would show of macro AUCs; empty for two categories."""
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """Of each scheme but raw ratings, by what share the error grows."""
    macro: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of several categories, by scheme and attacker: 0.5 plus the mean distance of their AUCs
    from it, so that leaks on either side do not cancel out; judged by `macro_bands`."""
    usual: str = DEFAULT
    """The scheme to be judged first: the one that training chooses."""
    choices: tuple[Mapping[str, Any], ...] = ()
    """What each fold chose on its panel alone, and measured for it; empty if it was not tried."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python, of this package and of the libraries that the numbers may depend on."""
    rounds: Mapping[str, Rounds] = field(default_factory=dict)
    """Schemes held over several rounds, by the name of the product's, such as `cmpss:rounds=4`."""
    adversaries: Mapping[str, Adversary] = field(default_factory=dict)
    """Against whom was measured: clean, panel, published, outsider; those that tried."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """How profiles were learned and people inferred: the plan and its factorizer."""

    def __repr__(self) -> str:
        """Say how far the strongest attack on each scheme got, in a few lines."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """Show the AUC of every attacker on every scheme."""
        return as_table(self)

    judges: Mapping[str, Mapping[str, Judge]] = field(default_factory=dict)
    """By scheme and adversary, one answer of all its attackers, in the order of what they know."""
    sizes: tuple[SizePoint, ...] = ()
    """What outsiders read with other panels and other numbers of outsiders, where tried."""
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    """Of each scheme whose only leak, item by item, are errors of what is disclosed: the bound."""

    def adversary_of(self, attack: str) -> str:
        """Return whose an attacker is, one of a single category included; empty if unknown."""
        owners = {
            name: one
            for one, adversary in self.adversaries.items()
            for name in (*adversary.attacks, judge_name(one))
        }
        return owners.get(attack) or owners.get(attack.rpartition("[")[0], "")

    def get(self, scheme: str, metric: str, attack: str = "") -> Row | None:
        """Return a number, if it is there."""
        wanted = scheme, metric, attack
        return next((r for r in self.rows if (r.scheme, r.metric, r.attack) == wanted), None)

    def chosen(self) -> dict[str, int]:
        """Count the folds that chose each scheme, the commonest first."""
        return dict(Counter(str(choice["scheme"]) for choice in self.choices).most_common())

    def scheme_names(self) -> list[str]:
        """Return the schemes whose cost was measured, in order."""
        return list(dict.fromkeys(row.scheme for row in self.rows if row.metric == RMSE[2]))

    def attack_names(self) -> list[str]:
        """Return the attackers, those of single categories left out, in order."""
        return list(self.controls)

    def controls_of(self, scheme: str) -> Mapping[str, Control]:
        """Return of each attacker of a scheme whether it can read at all."""
        over_rounds = (held for held in self.rounds.values() if scheme in held.devices)
        return next((held.controls for held in over_rounds), self.controls)

    def is_raw(self, scheme: str) -> bool:
        """Tell whether a scheme sends ratings as they are, once or over several rounds."""
        return scheme == RAW or any(scheme == held.raw for held in self.rounds.values())

    def areas(self, scheme: str) -> Iterator[Row]:
        """Go through the AUCs of a scheme's attackers."""
        names = self.controls_of(scheme)
        for row in self.rows:
            if (row.scheme, row.metric) == (scheme, AUC) and row.attack in names:
                yield row

    def strongest(self, scheme: str, adversary: str | None = None) -> Row | None:
        """Return the attacker, of one adversary or of all, farthest from 0.5 on either side.

        Of several categories, the one that it tells best from the rest is judged: a mean over
        categories would dilute a leak of one.
        """
        rows = list(self.areas(scheme))
        if adversary is not None:
            rows = [row for row in rows if row.attack in self.adversaries[adversary].attacks]
        if len(self.categories) > 2:
            names = {f"{row.attack}[{category}]" for row in rows for category in self.categories}
            single = (row for row in self.rows if (row.scheme, row.metric) == (scheme, AUC))
            rows = [row for row in single if row.attack in names] or rows
        return max(rows, key=lambda row: abs(row.value - 0.5), default=None)

    def judge(self, scheme: str, adversary: str | None = None) -> tuple[Row, Judge] | None:
        """Return the judge of one adversary, or of the one that knows most, and its AUC."""
        judges = self.judges.get(scheme, {})
        name = next(reversed(list(judges)), None) if adversary is None else adversary
        judge = None if name is None else judges.get(name)
        row = None if judge is None else self.get(scheme, AUC, judge.attack)
        return None if judge is None or row is None else (row, judge)

    def folded(self, row: Row) -> float:
        """Return an AUC on the upper side of 0.5, that of several categories as in `macro`."""
        value = self.macro.get(row.scheme, {}).get(row.attack, row.value)
        return abs(value - 0.5) + 0.5

    def is_chance(self, row: Row) -> bool:
        """Tell whether an AUC is within the band of its kind."""
        for one in self.judges.get(row.scheme, {}).values():
            if row.attack.partition("[")[0] == one.attack.partition("[")[0]:
                return one.band.holds(row.value)
        several = row.attack in self.controls_of(row.scheme) and row.scheme in self.macro_bands
        bands = self.macro_bands if several else self.bands
        return bands[row.scheme].holds(self.folded(row))

    def cost(self, scheme: str) -> float | None:
        """Return by what share the local error exceeds the best that raw ratings give.

        That best, whichever of the three ways gives it by the same estimator, is what costs are
        counted from: raw ratings cost nothing. In the paper's setting both errors are those with
        the inferred category, as in its Sec. 7.2.
        """
        paper = self.is_paper
        here, base = self.get(scheme, RMSE[0 if paper else 2]), self.baseline(scheme)
        raw = [row.value for name in RMSE[: 1 if paper else 3] if (row := self.get(base, name))]
        if here is None or not raw:
            return None
        return 0.0 if scheme == base else here.value / min(raw) - 1

    @property
    def is_paper(self) -> bool:
        """Whether all was done as in the paper's Sec. 7."""
        return bool(self.model.get("paper", False))

    def baseline(self, scheme: str) -> str:
        """Return the raw ratings that a scheme is compared with: by the same estimator."""
        return baseline(self.schemes, scheme)

    def save(self, directory: Path) -> None:
        """Write results.csv and results.json."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([*row[:5], *map(repr, row[5:8]), *row[8:]] for row in self.rows)
        replace_file(directory / CSV, stream.getvalue().encode())
        content = asdict(self) | {"rows": [row._asdict() for row in self.rows], "format": FORMAT}
        replace_file(directory / JSON, (json.dumps(content, indent=1) + "\n").encode())

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read what `save` wrote."""
        path = directory / JSON
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            version = content.pop("format")
            loaded = cls._from_plain(content) if version == FORMAT else None
        except FileNotFoundError as error:
            raise MidpointError(f"{directory} holds no finished audit: no {path.name}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MidpointError(f"{path} is damaged ({error!r}); run the audit again") from error
        if loaded is None:
            raise MidpointError(f"{path} has format {version}, not {FORMAT}; run the audit again")
        return loaded

    @classmethod
    def _from_plain(cls, content: dict[str, Any]) -> Self:
        kinds: dict[str, Callable[..., Any]] = {
            "bands": Band,
            "macro_bands": Band,
            "costs": Cost,
            "controls": Control,
            "activity": ByActivity,
            "rounds": _rounds,
            "adversaries": _adversary,
            "bounds": Bound,
        }
        for key, kind in kinds.items():
            content[key] = {name: kind(**_tuples(part)) for name, part in content[key].items()}
        content["histograms"] = {
            scheme: {name: Histogram(**_tuples(drawn)) for name, drawn in histograms.items()}
            for scheme, histograms in content["histograms"].items()
        }
        content["judges"] = {
            scheme: {name: _judge(**_tuples(one)) for name, one in judges.items()}
            for scheme, judges in content.get("judges", {}).items()
        }
        content.setdefault("model", {})
        content["sizes"] = tuple(SizePoint(**one) for one in content.get("sizes", ()))
        content["rows"] = tuple(Row(**row) for row in content["rows"])
        for key in ("categories", "per_fold", "withheld"):
            content[key] = _deep(content[key])
        content["choices"] = tuple(content.get("choices", ()))
        return cls(**{field.name: content[field.name] for field in fields(cls)})


def baseline(schemes: Mapping[str, Mapping[str, Any]], scheme: str) -> str:
    """Return which of the schemes sends raw ratings, and estimates as this one does."""
    how = schemes.get(scheme, {}).get("estimator")
    alike = (
        name
        for name, settings in schemes.items()
        if settings.get("name") == RAW and "rounds" not in settings and "share" not in settings
        if settings.get("estimator") == how
    )
    return next(alike, RAW)


def _rounds(controls: Mapping[str, Any], **settings: Any) -> Rounds:
    return Rounds(controls={name: Control(**one) for name, one in controls.items()}, **settings)


def _adversary(bands: Mapping[str, Any], **settings: Any) -> Adversary:
    return Adversary(bands={name: Band(**one) for name, one in bands.items()}, **settings)


def _judge(band: Mapping[str, Any], **settings: Any) -> Judge:
    return Judge(band=Band(**band), **settings)


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {key: _deep(value) for key, value in row.items()}


def _deep(value: Any) -> Any:
    """Turn lists into tuples, all the way down."""
    if isinstance(value, dict):
        return _tuples(value)
    return tuple(map(_deep, value)) if isinstance(value, list) else value
