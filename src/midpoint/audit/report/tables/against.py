"""What each adversary reaches: its judge, the precision of that, and sizes of the panel."""

from collections.abc import Iterator
from html import escape

from midpoint.audit.measure.findings import ROUNDING, SHARPNESS, Band, Judge, Row, SizePoint
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.measure.volunteers import volunteers
from midpoint.audit.report.html import table
from midpoint.audit.report.settings import label
from midpoint.audit.report.tables.cells import chunks, value_cell
from midpoint.audit.report.tradeoff import plain_schemes

MOST_WEIGHTS = 3
"""Attackers whose weights are shown, at most."""


def adversaries(results: AuditResults) -> Iterator[str]:
    """Show, for each adversary, the strongest attack on every scheme."""
    if not results.adversaries:
        return
    for schemes in chunks(plain_schemes(results)):
        rows = []
        for name, adversary in results.adversaries.items():
            people = f"panel {adversary.panel:,}"
            people += f", outsiders {adversary.outsiders:,}" if adversary.outsiders else ""
            cells = [_against(results, scheme, name) for scheme in schemes]
            rows.append([f"{name}<br><small>{people}</small>", escape(adversary.knows), *cells])
        if results.bounds:
            cells = [_omniscient(results, scheme) for scheme in schemes]
            rows.append(["omniscient", "every error of what was disclosed: a bound", *cells])
        yield table(
            "For each adversary its judge, and below it the strongest of its attackers: AUC, 95 %"
            " interval, and the wider band of chance. <b>Bold</b>: outside that band. The strongest"
            " is chosen after the fact, so its interval lies a little too far from 0.5.",
            ["adversary", "knows", *map(escape, schemes)],
            rows,
            kind="against",
        )


def _omniscient(results: AuditResults, scheme: str) -> str:
    bound = results.bounds.get(scheme)
    if bound is None:
        return ""
    parts = f"D {bound.sets:.2f} + {bound.values:.2f}<br>panel {bound.panel:,}"
    return f"{bound.value:.3f}<br><small>{parts}<br>{bound.revealed:.0f} revealed</small>"


def _against(results: AuditResults, scheme: str, adversary: str) -> str:
    row, judge = results.strongest(scheme, adversary), results.judge(scheme, adversary)
    band = results.adversaries[adversary].bands.get(scheme)
    if row is None or band is None:
        return ""
    each = [] if judge is None else [_judged_by(judge[0], judge[1].band)]
    return "<br>".join([*each, _judged_by(row, band)])


def _judged_by(row: Row, band: Band) -> str:
    value = value_cell(row, chance=band.holds(row.value))
    judged = f"wider {band.judged_low:.3f}-{band.judged_high:.3f}"
    parts = f"{row.low:.3f}-{row.high:.3f}<br>{escape(row.attack)}<br>{judged}"
    return f"{value}<br><small>{parts}</small>"


def sharpness(results: AuditResults) -> Iterator[str]:
    """Show how often each judge is right where it must be sure."""
    rows = []
    for scheme in (name for name in plain_schemes(results) if name in results.judges):
        for adversary, judge in results.judges[scheme].items():
            measured = [results.get(scheme, metric, judge.attack) for metric in SHARPNESS]
            right = "" if judge.right is None else f"<br><small>{judge.right:.0%} rightly</small>"
            cells = [*map(_share, measured[:-1]), _share(measured[-1]) + right, _weights(judge)]
            rows.append([escape(label(scheme)), escape(adversary), *cells])
    if rows:
        yield table(
            "How often the judges are right where they are confident. <b>TPR</b>: the share of"
            " one category that is found while 1 % or 0.1 % of the other is taken for it; the"
            " larger of both categories. Blind guessing finds 1 % and 0.1 %. <b>Balanced"
            " accuracy</b>: the share of people whose category is guessed rightly, as the mean of"
            " both categories. Blind guessing: 50 %. <b>Named</b>: the share of people of whom"
            " the judge is 90 % sure, if both categories are equally likely beforehand."
            " <b>Weights</b>: the attackers that count most.",
            ["scheme", "judge", "TPR at 1 % FPR", "TPR at 0.1 % FPR", "balanced accuracy",
             "named, 90 % sure", "weights"],
            rows,
        )  # fmt: skip


def _share(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.value:.1%}<br><small>{row.low:.1%}-{row.high:.1%}</small>"


def _weights(judge: Judge) -> str:
    most = sorted(judge.weights.items(), key=lambda pair: -pair[1])[:MOST_WEIGHTS]
    named = [f"{escape(name)} {weight:.0%}" for name, weight in most if weight > 0.005]
    return f"<small>{'<br>'.join(named)}</small>"


def sizes(results: AuditResults) -> Iterator[str]:
    """Show the numbers behind the curves over the panel and over the number of outsiders."""
    if results.sizes:
        order = sorted(
            results.sizes, key=lambda one: (one.scheme, one.reports, one.panel, one.outsiders)
        )
        yield table(
            "What leaks to outsiders, with other panels and other numbers of them: their judge, the"
            " strongest of their attackers, and the bound of such a panel. <b>Bold</b>: outside"
            " the wider band. Beside them the judge of an analyst with the panel alone, and the"
            " RMSE of new people. With reports: items are also learned from everyone else's.",
            ["scheme", "learned from", "panel", "outsiders", "judge", "chance, up to", "strongest",
             "bound", "panel's judge", "RMSE"],
            [
                [
                    escape(label(one.scheme)),
                    "panel and reports" if one.reports else "panel",
                    f"{one.panel:,}",
                    f"{one.outsiders:,}",
                    _sized(one),
                    f"{one.chance:.3f}",
                    f"{one.strongest:.3f}",
                    "" if one.bound is None else f"{one.bound:.3f}",
                    "" if one.panel_judge is None else f"{one.panel_judge:.3f}",
                    "" if one.rmse is None else f"{one.rmse:.4f}",
                ]
                for one in order
            ],
        )  # fmt: skip
    for fitted in volunteers(results.sizes):
        yield f"<p>{escape(fitted.words())}</p>"


def members(results: AuditResults) -> Iterator[str]:
    """Show how well members of the panel are recognized in what is disclosed."""
    if results.members:
        yield table(
            "Those who share their feature: whether a person was in the panel, by the likelihood"
            " ratio of her raw ratings and category under what is disclosed, against a reference"
            " of other people. The control looks for the same people in a disclosure of others.",
            ["scheme", "panel", "reference", "strongest", "sets", "values", "both", "control"],
            [
                [
                    escape(label(scheme)),
                    f"{member.panel:,}",
                    f"{member.reference:,}",
                    _between(member.value, member.low, member.high),
                    f"{member.sets:.3f}",
                    f"{member.values:.3f}",
                    f"{member.both:.3f}",
                    _between(member.control, member.control_low, member.control_high),
                ]
                for scheme, member in results.members.items()
            ],
        )


def _between(value: float, low: float, high: float) -> str:
    return f"{value:.3f}<br><small>{low:.3f}-{high:.3f}</small>"


def _sized(point: SizePoint) -> str:
    value = f"{point.value:.3f}"
    leaks = abs(point.value - 0.5) > point.chance - 0.5 + ROUNDING
    shown = f'<span class="leaks">{value}</span>' if leaks else value
    return f"{shown}<br><small>{point.low:.3f}-{point.high:.3f}</small>"
