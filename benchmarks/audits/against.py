"""Tables of an audit by adversary: what each reads, what sizes change, and what each takes."""

from collections.abc import Iterator

from midpoint.audit import AuditResults
from midpoint.audit.measure.findings import NAMED, Row, SizePoint
from midpoint.audit.run.adversaries.catalogue import OUTSIDER

Table = tuple[str, list[str], list[list[str]]]
"""Title, head and rows."""


def tables_against(results: AuditResults) -> Iterator[Table]:
    """Go through the tables of an audit that keeps outsiders apart; none of others."""
    if OUTSIDER not in results.adversaries:
        return
    known = results.adversaries[OUTSIDER]
    people = f"{known.outsiders:,} outsiders, a panel of {known.panel:,}"
    yield (
        f"Measured against whom: {people}, {results.folds} folds",
        ["scheme, adversary", "judge", "luck, up to", "strongest attack", "named, 90 % sure"],
        list(_adversaries(results)),
    )
    if results.sizes:
        yield (
            "What leaks to outsiders, and what it costs, by sizes",
            [
                "scheme",
                "learned from",
                "panel",
                "outsiders",
                "judge",
                "luck, up to",
                "strongest",
                "bound",
                "panel's judge",
                "RMSE",
            ],
            list(_sizes(results)),
        )
    yield (
        "Where the time went at the main sizes, seconds of one core",
        ["part", "CPU s"],
        list(_seconds(results)),
    )


def _adversaries(results: AuditResults) -> Iterator[list[str]]:
    for scheme in results.scheme_names():
        for name in results.adversaries:
            strongest, judge = results.strongest(scheme, name), results.judge(scheme, name)
            if strongest is None or judge is None:
                continue
            sure = results.get(scheme, NAMED, judge[0].attack)
            yield [
                f"{scheme}, {name}",
                _area(judge[0]),
                f"{judge[1].band.judged_high:.3f}",
                f"{strongest.value:.3f} ({strongest.attack.rpartition(':')[2]})",
                "" if sure is None else f"{100 * sure.value:.1f} %",
            ]
        if bound := results.bounds.get(scheme):
            yield [f"{scheme}, omniscient (bound)", f"{bound.value:.3f}", "", "", ""]


def _sizes(results: AuditResults) -> Iterator[list[str]]:
    for point in sorted(results.sizes, key=_order):
        yield [
            point.scheme,
            "panel and reports" if point.reports else "panel",
            f"{point.panel:,}",
            f"{point.outsiders:,}",
            f"{point.value:.3f} ({point.low:.3f}-{point.high:.3f})",
            f"{point.chance:.3f}",
            f"{point.strongest:.3f}",
            "" if point.bound is None else f"{point.bound:.3f}",
            "" if point.panel_judge is None else f"{point.panel_judge:.3f}",
            "" if point.rmse is None else f"{point.rmse:.4f}",
        ]


def _order(point: SizePoint) -> tuple[str, bool, int, int]:
    return point.scheme, point.reports, point.panel, point.outsiders


def _seconds(results: AuditResults) -> Iterator[list[str]]:
    """Add up what the attackers of each adversary took, beside what all of them share."""
    left = dict(results.seconds)
    for name, adversary in results.adversaries.items():
        own = sum(left.pop(attack, 0.0) for attack in adversary.attacks)
        yield [f"attackers of {name}", f"{own:.0f}"]
    apart = sum(left.pop(part) for part in list(left) if part.startswith("learn split"))
    learned = sum(left.pop(part) for part in list(left) if part.startswith("learn"))
    yield ["learning, panel and outsiders apart", f"{apart:.0f}"]
    if learned:
        yield ["learning, from all and without each part", f"{learned:.0f}"]
    yield ["obfuscation, accuracy, bounds", f"{sum(left.values()):.0f}"]


def _area(row: Row) -> str:
    return f"{row.value:.3f} ({row.low:.3f}-{row.high:.3f})"
