"""Schemes as points between privacy, accuracy and disclosure, as measured (Figures 1 and 7)."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import AUC, MATCHED, NDCG, PENALIZED, RMSE, Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.judge import JUDGE
from midpoint.audit.run.curves import Thinned
from midpoint.protocol import LearningProtocol
from midpoint.wire import SCHEMES

VARIED: Mapping[str, float | None] = MappingProxyType({"alpha": 1.0, "bits": None, "share": 1.0})
"""The settings that curves vary, and what they are where nothing is varied."""
FINEST = 16.0
"""Bits of a number that is not quantized."""
THINNED, PLAIN = (f"{one.__module__}.{one.__qualname__}" for one in (Thinned, LearningProtocol))
"""Kinds of protocols, as results name them."""
PAPER_CURVE = "lse"
"""The attacker of the paper's Figure 7."""
PENALIZED_CURVE = "lse-penalized"
"""The same with the penalty of the fit."""
MATCHED_CURVE = "lse-matched"
"""The same with the penalty that we fitted to the paper's error (`joint.MATCHED`)."""


@dataclass(frozen=True)
class Point:
    """One scheme as it was measured."""

    scheme: str
    """The protocol."""
    setting: float
    """What was varied along a curve; 0 where nothing was."""
    leak: float
    """|AUC - 0.5| of the strongest attacker: 0 is private."""
    chance: float
    """How far from 0.5 the strongest of its attackers is still judged to be chance."""
    error: float
    """RMSE with the device's own correction; of sets NDCG@10."""
    cost: float
    """By what share that exceeds the best error that raw ratings give, or falls short of it."""
    bits: float
    """Bits disclosed of an item."""
    paper_area: float | None
    """AUC of the paper's least squares, folded to 0.5 and above, if it was tried."""
    paper_error: float | None
    """RMSE with the inferred category, the paper's."""
    penalized_area: float | None = None
    """In the paper's setting: the same AUC with the penalty of the fit."""
    penalized_error: float | None = None
    """And the same RMSE."""
    matched_area: float | None = None
    """In the paper's setting: the same AUC with the penalty fitted to the paper's error."""
    matched_error: float | None = None
    """And the same RMSE."""


@dataclass(frozen=True)
class Line:
    """A scheme along one setting."""

    scheme: str
    """The protocol, without the setting."""
    attacks: tuple[str, ...]
    """The attackers that tried all of its points; others are left out."""
    points: tuple[Point, ...]
    """Its points, the setting ascending; a single one where the scheme has no such setting."""


def points_of(results: AuditResults) -> list[Point]:
    """Return a point for every scheme that is not on a curve (Figure 1)."""
    points = [point_of(results, scheme) for scheme in plain_schemes(results)]
    return [point for point in points if point is not None]


def point_of(
    results: AuditResults,
    scheme: str,
    setting: float = 0.0,
    attacks: Collection[str] | None = None,
) -> Point | None:
    """Return a scheme's point, by all attackers or some; None where some part is missing."""
    rows = _areas(results, scheme, attacks)
    metric = NDCG if results.unary else RMSE[2]
    error, bits = results.get(scheme, metric), results.get(scheme, "disclosed_bits")
    cost, inferred = results.cost(scheme), results.get(scheme, RMSE[0])
    if not rows or error is None or bits is None or cost is None:
        return None
    band, penalized = results.bands[scheme], results.get(scheme, PENALIZED)
    matched = results.get(scheme, MATCHED)
    return Point(
        scheme,
        setting,
        leak=max(abs(row.value - 0.5) for row in rows),
        chance=band.judged_high - 0.5,
        error=error.value,
        cost=cost,
        bits=bits.value,
        paper_area=_folded(results.get(scheme, AUC, PAPER_CURVE)),
        paper_error=None if inferred is None else inferred.value,
        penalized_area=_folded(results.get(scheme, AUC, PENALIZED_CURVE)),
        penalized_error=None if penalized is None else penalized.value,
        matched_area=_folded(results.get(scheme, AUC, MATCHED_CURVE)),
        matched_error=None if matched is None else matched.value,
    )


def _folded(row: Row | None) -> float | None:
    return None if row is None else abs(row.value - 0.5) + 0.5


def plain_schemes(results: AuditResults) -> list[str]:
    """Return the schemes that are not points of a curve whose end was tried too."""
    ends = [settings for settings in results.schemes.values() if not _varied(settings)]
    return [
        name
        for name in results.scheme_names()
        if not _varied(results.schemes[name]) or _unvaried(results.schemes[name]) not in ends
    ]


def lines(results: AuditResults, key: str) -> list[Line]:
    """Return the curves over a setting, of every scheme of which it was varied.

    Beside curves over bits, schemes that are disclosed at one precision are single points.
    """
    groups: dict[str, dict[float, str]] = {}
    names: dict[str, str] = {}
    for scheme in results.scheme_names():
        settings = results.schemes[scheme]
        varied = _varied(settings)
        if varied - {key} or (key == "alpha" and settings["name"] == RAW):
            continue
        group = json.dumps(_unvaried(settings), sort_keys=True)
        names[group] = without(scheme, key)
        groups.setdefault(group, {})[_setting(settings, key)] = scheme
    drawn = [_line(results, key, names[g], some) for g, some in groups.items() if len(some) > 1]
    return [*drawn, *_points(results, drawn)] if key == "bits" else drawn


def without(scheme: str, key: str) -> str:
    """Return what a scheme is called without one of its settings."""
    return ":".join(part for part in scheme.split(":") if not part.startswith(f"{key}="))


def _points(results: AuditResults, beside: Sequence[Line]) -> Iterator[Line]:
    """Return the points of schemes that have one precision, by the lines' attackers."""
    judges = dict.fromkeys(attack for line in beside for attack in line.attacks)
    for scheme in plain_schemes(results):
        settings = results.schemes[scheme]
        known = SCHEMES.get(str(settings["name"]))
        if _varied(settings) or known is None or not known.counterparts:
            continue
        tried = {row.attack for row in results.areas(scheme)}
        order = tuple(attack for attack in judges if attack in tried)
        point = point_of(results, scheme, FINEST, order)
        if point is not None:
            yield Line(scheme, order, (point,))


def _line(results: AuditResults, key: str, name: str, some: Mapping[float, str]) -> Line:
    """Judge all points of a line by the same attackers: those that tried every one."""
    named = dict(some)
    if key == "alpha" and RAW in results.scheme_names():
        named[0.0] = RAW
    tried = [{row.attack for row in results.areas(scheme)} for scheme in named.values()]
    common = set.intersection(*tried)
    points = [point_of(results, scheme, at, common) for at, scheme in sorted(named.items())]
    order = tuple(attack for attack in results.attack_names() if attack in common)
    return Line(name, order, tuple(point for point in points if point is not None))


def _setting(settings: Mapping[str, Any], key: str) -> float:
    """Return a setting as a number; numbers that are not quantized have all their bits."""
    value = settings.get(key, VARIED[key])
    return FINEST if value is None else float(value)


def given_ratings(results: AuditResults) -> float:
    """Return how many ratings an attacked person gave, on average."""
    for quarters in results.activity.values():
        return sum(quarters.ratings) / len(quarters.ratings)
    about = results.description
    return float(about["ratings"]) / max(float(about["users"]), 1.0)


def _varied(settings: Mapping[str, Any]) -> set[str]:
    """Return which of the settings that curves vary are not at their ends."""
    return {key for key, end in VARIED.items() if settings.get(key, end) != end}


def _unvaried(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the end of a curve, which is no thinned protocol."""
    plain = {key: VARIED.get(key, value) for key, value in settings.items() if key != "share"}
    if plain["kind"] == THINNED:
        plain["kind"] = PLAIN
    return plain


def _areas(results: AuditResults, scheme: str, attacks: Collection[str] | None) -> list[Row]:
    """Return the AUCs that judge a scheme: of several categories each one's, not their mean."""
    several = len(results.categories) > 2
    rows = [row for row in results.rows if (row.scheme, row.metric) == (scheme, AUC)]
    rows = [row for row in rows if not row.attack.startswith(f"{JUDGE}:")]
    rows = [row for row in rows if ("[" in row.attack) == several]
    if attacks is None:
        return rows
    return [row for row in rows if row.attack.partition("[")[0] in attacks]
