"""What an audit found: one row a number, with what is needed to judge it."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import (
    AUC,
    NDCG,
    RMSE,
    Adversary,
    Band,
    Bound,
    ByActivity,
    Control,
    Cost,
    Histogram,
    Judge,
    Membership,
    Rounds,
    Row,
    SizePoint,
)
from midpoint.audit.measure.summary import as_table, as_text
from midpoint.audit.run.adversaries.catalogue import CLEAN, decisive
from midpoint.audit.run.adversaries.judge import judge_name
from midpoint.audit.run.plan import DEFAULT
from midpoint.errors import MidpointError
from midpoint.files import replace_file

CSV, JSON = "results.csv", "results.json"
FORMAT = 3


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
    """Chance band of each scheme."""
    controls: Mapping[str, Control]
    """Whether each attacker of one report succeeds on its control."""
    adaptive: Mapping[str, bool]
    """Whether each attacker knows the scheme."""
    per_fold: Mapping[str, Mapping[str, tuple[float, ...]]]
    """AUC of each fold, by scheme and attacker."""
    histograms: Mapping[str, Mapping[str, Histogram]]
    """Histograms of attackers' answers by scheme and attacker; binary features only."""
    activity: Mapping[str, ByActivity]
    """Privacy by people's number of ratings, for each scheme."""
    withheld: Mapping[str, tuple[float, ...]]
    """Deciles over users of the share withheld, for each scheme."""
    schemes: Mapping[str, Mapping[str, Any]]
    """The protocols' settings."""
    seconds: Mapping[str, float]
    """Where the time went, by kind of task."""
    description: Mapping[str, Any]
    """What the data is like: the paper's Table 1."""
    macro_bands: Mapping[str, Band] = field(default_factory=dict)
    """Chance band of each scheme's macro AUCs; empty for two categories."""
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """Share by which the error grows, for each scheme but raw ratings."""
    ndcg_costs: Mapping[str, Cost] = field(default_factory=dict)
    """Share of NDCG@10 that is lost, for each scheme but raw ratings; empty if not ranked."""
    macro: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Macro AUC of several categories, by scheme and attacker: 0.5 plus the mean distance of the
    categories' AUCs from 0.5, so that leaks on either side do not cancel out."""
    usual: str = DEFAULT
    """The scheme to be judged first: the one that training chooses."""
    choices: tuple[Mapping[str, Any], ...] = ()
    """The choice of each fold, made on its panel alone; empty if `default` was not tried."""
    split_choices: tuple[Mapping[str, Any], ...] = ()
    """The same on the smaller panel beside which outsiders are kept apart, if both were tried.
    Figures of outsiders and the bounds are of these choices."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of Python, of this package and of the libraries that numbers may depend on."""
    rounds: Mapping[str, Rounds] = field(default_factory=dict)
    """Schemes held over several rounds, by the name of the product's, such as `cmpss:rounds=4`."""
    adversaries: Mapping[str, Adversary] = field(default_factory=dict)
    """The adversaries that tried, among clean, panel, published and outsider."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """How profiles were learned and people inferred: the plan and its factorizer."""

    unary: bool = False
    """Whether data are sets of items: lists are judged, and there are no errors of ratings."""
    judges: Mapping[str, Mapping[str, Judge]] = field(default_factory=dict)
    """The judge of each adversary, by scheme; adversaries that know more come later."""
    sizes: tuple[SizePoint, ...] = ()
    """What leaks with panels of other sizes and other numbers of outsiders, if tried."""
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    """The omniscient attacker's bound, for each scheme that has one (`bound.is_bounded`)."""
    members: Mapping[str, Membership] = field(default_factory=dict)
    """How well members of the panel are recognized under each scheme, if tried."""

    def __repr__(self) -> str:
        """Say how far the strongest attack on each scheme got, in a few lines."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """Show the AUC of every attacker on every scheme."""
        return as_table(self)

    def adversary_of(self, attack: str) -> str:
        """Return whose an attacker is, one of a single category included; empty if unknown."""
        owners = {
            name: one
            for one, adversary in self.adversaries.items()
            for name in (*adversary.attacks, judge_name(one))
        }
        return owners.get(attack) or owners.get(attack.partition("[")[0], "")

    def against(self, row: Row) -> str:
        """Return against whom a number was measured; empty if unknown.

        Clean attackers need to know the least. So everybody else has them, too, and what they find
        counts against the panel; without it, against the next who know the scheme and tried it.
        """
        whose = self.adversary_of(row.attack)
        tried = [name for name, one in self.adversaries.items() if row.scheme in one.bands]
        return decisive(tried)[0] if whose == CLEAN and tried else whose

    def get(self, scheme: str, metric: str, attack: str = "") -> Row | None:
        """Return a number, if it is there."""
        wanted = scheme, metric, attack
        return next((r for r in self.rows if (r.scheme, r.metric, r.attack) == wanted), None)

    def chosen(self, *, split: bool = False) -> dict[str, int]:
        """Count the folds that chose each scheme, the commonest first."""
        choices = self.split_choices if split else self.choices
        return dict(Counter(str(choice["scheme"]) for choice in choices).most_common())

    def scheme_names(self) -> list[str]:
        """Return the schemes whose cost was measured, in order."""
        metric = NDCG if self.unary else RMSE[2]
        return list(dict.fromkeys(row.scheme for row in self.rows if row.metric == metric))

    def attack_names(self) -> list[str]:
        """Return the attackers, those of single categories left out, in order."""
        return list(self.controls)

    def controls_of(self, scheme: str) -> Mapping[str, Control]:
        """Return of each attacker of a scheme whether it succeeds on its control."""
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

    def judge(self, scheme: str, adversary: str) -> tuple[Row, Judge] | None:
        """Return the judge of an adversary, and its AUC."""
        judge = self.judges.get(scheme, {}).get(adversary)
        row = None if judge is None else self.get(scheme, AUC, judge.attack)
        return None if judge is None or row is None else (row, judge)

    def decisive(self, scheme: str) -> list[tuple[Row, Judge]]:
        """Return the judges that a verdict looks at, and their AUCs, the farthest out first."""
        each = (self.judge(scheme, name) for name in decisive(self.judges.get(scheme, {})))
        return sorted(filter(None, each), key=lambda one: -one[1].band.reach(one[0].value))

    def judge_of(self, row: Row) -> tuple[Row, Judge] | None:
        """Return the judge of the adversary against whom a number was measured, and its AUC."""
        return self.judge(row.scheme, self.against(row))

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

        Of unary data, what share of NDCG@10 is lost, by the same rule.

        That best, whichever of the three ways gives it by the same estimator, is what costs are
        counted from: raw ratings cost nothing. In the paper's setting both errors are those with
        the inferred category, as in its Sec. 7.2.
        """
        if self.unary:
            lost = self.ndcg_costs.get(scheme)
            known = lost is not None or self.get(scheme, NDCG) is not None
            return (0.0 if lost is None else lost.value) if known else None
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
            "ndcg_costs": Cost,
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
        members = content.get("members", {})
        content["members"] = {name: Membership(**part) for name, part in members.items()}
        content["rows"] = tuple(Row(**row) for row in content["rows"])
        for key in ("categories", "per_fold", "withheld"):
            content[key] = _deep(content[key])
        for key in ("choices", "split_choices"):
            content[key] = tuple(content.get(key, ()))
        return cls(**{field.name: content[field.name] for field in fields(cls)})


def baseline(schemes: Mapping[str, Mapping[str, Any]], scheme: str) -> str:
    """Return which of the schemes sends raw ratings, and estimates as this one does."""
    estimator = schemes.get(scheme, {}).get("estimator")
    alike = (
        name
        for name, settings in schemes.items()
        if settings.get("name") == RAW and "rounds" not in settings and "share" not in settings
        if settings.get("estimator") == estimator
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
