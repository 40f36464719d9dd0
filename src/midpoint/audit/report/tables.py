"""The tables of the report, as HTML."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from midpoint.audit.measure.results import (
    RMSE,
    ROUNDING,
    SHARPNESS,
    AuditResults,
    Band,
    Judge,
    Rounds,
    Row,
    SizePoint,
)
from midpoint.audit.measure.volunteers import volunteers
from midpoint.audit.report.html import Cells, table
from midpoint.audit.report.paper import PAPER_DATA, PaperData
from midpoint.audit.report.settings import label
from midpoint.audit.report.tradeoff import Line, lines, plain_schemes
from midpoint.audit.report.verdict import headline, proves_nothing
from midpoint.protocol import STATEMENTS, state

MOST_WEIGHTS = 3
"""Attackers whose weights are shown, at most."""
WIDEST = 6
"""Schemes side by side in one table: more do not fit on a page, printed or on a screen."""


def attacks(results: AuditResults) -> Iterator[str]:
    """Show every attacker on every scheme, as many schemes at a time as a page holds."""
    kind = "Macro AUC over categories" if results.macro_bands else "AUC"
    folded = (
        ", by the distance, which is the mean of the single categories' and not that of their mean"
        if results.macro_bands
        else ""
    )
    caption = (
        f"{kind}, its distance from 0.5, and its 95 % interval. <b>Bold</b>: outside the wider"
        f" chance band{folded}. Attackers marked * know the scheme and are trained on what it"
        " sends; the others are trained on raw ratings. The control is what an attacker must be"
        " able to read."
    )
    for schemes in _chunks(plain_schemes(results)):
        rows = [_attack_row(results, attack, schemes) for attack in results.attack_names()]
        bands = results.macro_bands or results.bands
        rows.append(["chance band of the strongest", "", *(_band(bands.get(s)) for s in schemes)])
        heads = ["attacker", "control", *(escape(label(scheme)) for scheme in schemes)]
        yield table(caption, heads, rows)
        caption = "The same, of other schemes."


def adversaries(results: AuditResults) -> Iterator[str]:
    """Show, for each adversary, the strongest attack on every scheme."""
    if not results.adversaries:
        return
    for schemes in _chunks(plain_schemes(results)):
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
            "Of each adversary the judge, which weighs all its attackers as nested folds taught it"
            " beforehand, and below it the strongest of these attackers; intervals, and what chance"
            " would show. <b>Bold</b>: outside the wider band. The judge is taken as it is; the"
            " strongest is chosen after the fact, so its interval is on the high side.",
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
    row, found = results.strongest(scheme, adversary), results.judge(scheme, adversary)
    band = results.adversaries[adversary].bands.get(scheme)
    if row is None or band is None:
        return ""
    each = [] if found is None else [_judged_by(found[0], found[1].band)]
    return "<br>".join([*each, _judged_by(row, band)])


def _judged_by(row: Row, band: Band) -> str:
    value = _value(row, chance=band.holds(row.value))
    judged = f"wider {band.judged_low:.3f}-{band.judged_high:.3f}"
    parts = f"{row.low:.3f}-{row.high:.3f}<br>{escape(row.attack)}<br>{judged}"
    return f"{value}<br><small>{parts}</small>"


def sharpness(results: AuditResults) -> Iterator[str]:
    """Show how often each judge is right where it must be sure."""
    rows = []
    for scheme in (name for name in plain_schemes(results) if name in results.judges):
        for adversary, one in results.judges[scheme].items():
            found = [results.get(scheme, metric, one.attack) for metric in SHARPNESS]
            right = "" if one.right is None else f"<br><small>{one.right:.0%} rightly</small>"
            cells = [*map(_share, found[:-1]), _share(found[-1]) + right, _weights(one)]
            rows.append([escape(label(scheme)), escape(adversary), *cells])
    if rows:
        yield table(
            "How sharp the judges are: the share of a category that is found while 1 % or 0.1 % of"
            " the others are taken for it (blind guessing: as many; of the two categories, the one"
            " found more often), the mean share of both categories that is held for what it is"
            " (blind guessing: 50 %), and the share of people whose category is named with 90 %"
            " confidence, either category being equally likely beforehand. Thresholds and"
            " confidence come from nested folds. Last, the attackers that count most.",
            ["scheme", "judge", "TPR at 1 % FPR", "TPR at 0.1 % FPR", "balanced accuracy",
             "named, 90 % sure", "weights"],
            rows,
        )  # fmt: skip


def sizes(results: AuditResults) -> Iterator[str]:
    """Show the numbers behind the curves over the panel and over the number of outsiders."""
    if results.sizes:
        order = sorted(results.sizes, key=lambda one: (one.scheme, one.panel, one.outsiders))
        yield table(
            "What outsiders read with other panels and other numbers of outsiders: their judge, the"
            " strongest of their attackers, and the bound of such a panel. <b>Bold</b>: outside"
            " the wider band.",
            ["scheme", "panel", "outsiders", "judge", "chance, up to", "strongest", "bound"],
            [
                [
                    escape(label(one.scheme)),
                    f"{one.panel:,}",
                    f"{one.outsiders:,}",
                    _sized(one),
                    f"{one.chance:.3f}",
                    f"{one.strongest:.3f}",
                    "" if one.bound is None else f"{one.bound:.3f}",
                ]
                for one in order
            ],
        )
    for fitted in volunteers(results.sizes):
        yield f"<p>{escape(fitted.words())}</p>"


def _sized(one: SizePoint) -> str:
    value = f"{one.value:.3f}"
    leaks = abs(one.value - 0.5) > one.chance - 0.5 + ROUNDING
    shown = f'<span class="leaks">{value}</span>' if leaks else value
    return f"{shown}<br><small>{one.low:.3f}-{one.high:.3f}</small>"


def _share(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.value:.1%}<br><small>{row.low:.1%}-{row.high:.1%}</small>"


def _weights(one: Judge) -> str:
    most = sorted(one.weights.items(), key=lambda pair: -pair[1])[:MOST_WEIGHTS]
    named = [f"{escape(name)} {weight:.0%}" for name, weight in most if weight > 0.005]
    return f"<small>{'<br>'.join(named)}</small>"


def single_categories(results: AuditResults) -> Iterator[str]:
    """Show which of several categories each scheme gives away most."""
    if len(results.categories) <= 2:
        return
    rows = []
    for scheme in plain_schemes(results):
        row, band = results.strongest(scheme), results.bands.get(scheme)
        if row is not None:
            rows.append([escape(scheme), escape(row.attack), _area(results, row), _band(band)])
    yield table(
        "Each category against the rest: the one that is read best, by whom, and what chance would"
        " show of the strongest attacker on any category.",
        ["scheme", "attacker [category]", "AUC", "chance band"],
        rows,
    )


def per_fold(results: AuditResults) -> Iterator[str]:
    """Show how the folds differ, for the scheme of the headline."""
    main = headline(results)
    if main is None:
        return
    rows = [
        [escape(attack), *(f"{value:.3f}" for value in values)]
        for attack, values in results.per_fold[main.scheme].items()
    ]
    heads = [f"fold {k + 1}" for k in range(results.folds)]
    yield table(f"AUC in each fold, {escape(main.scheme)}.", ["attacker", *heads], rows)


def costs(results: AuditResults) -> Iterator[str]:
    """Show what every scheme costs."""
    names = [metric.removeprefix("rmse_") for metric in RMSE]
    yield table(
        "RMSE of held-out ratings with the inferred category (the paper's way), with none, and with"
        f" the device's own correction; the cost: {_COST[results.is_paper]}; ratings withheld, on"
        " average, by the median user and at most; bits disclosed of each item.",
        ["scheme", *names, "cost", "withheld", "median / most", "bits"],
        [_cost_row(results, scheme) for scheme in plain_schemes(results)],
    )


def curves(results: AuditResults, key: str) -> Iterator[str]:
    """Show the numbers behind the curves over one setting."""
    drawn = lines(results, key)
    if drawn:
        yield table(
            "The numbers behind the figure; AUC folded to 0.5 and above, by attackers that tried"
            " every point. <b>Bold</b>: above what chance would show (wider band)."
            f"{_without_setting(drawn)}",
            ["scheme", _SETTING[key], *_POINT_HEADS],
            [row for line in drawn for row in _point_rows(line)],
        )


def data(results: AuditResults) -> Iterator[str]:
    """Describe the data as the paper's Table 1 does, with what that says of the same data."""
    about, theirs = results.description, PAPER_DATA.get(results.dataset)
    ours = {"all": (f"{about['users']:,}", f"{about['items']:,}", f"{about['ratings']:,}")}
    ours |= {
        one["name"]: (one["user_skew"], "-", one["rating_skew"])
        for one in about["features"]
        if one["name"] in results.feature.split("+")
    }
    said = {} if theirs is None else _said(theirs)
    blank = ("",) * 3
    cells = {
        name: [cell for pair in zip(said.get(name, blank), here, strict=True) for cell in pair]
        if said
        else here
        for name, here in ours.items()
    }
    heads = ["users", "items", "ratings"]
    if said:
        heads = [f"{what}, {whose}" for what in heads for whose in ("paper", "here")]
    yield table(
        f"{escape(results.dataset)}, as the paper's Table 1. Here, only people whose"
        " category is known.",
        ["", *heads],
        [[escape(name), *map(escape, row)] for name, row in cells.items()],
    )


def assumed(results: AuditResults) -> Iterator[str]:
    """Say what each scheme assumes and promises."""
    rows = []
    for scheme in plain_schemes(results):
        how = results.schemes[scheme]
        if how["name"] in STATEMENTS:
            says = state(how["name"], discrete=results.discrete, alpha=how["alpha"])
            parts = (scheme, says.discloses, says.assumes, says.guarantees, says.source)
            rows.append([escape(part) for part in parts])
    heads = ["scheme", "discloses", "assumes", "guarantees", "source"]
    yield table("", heads, rows, kind="words")


def time(results: AuditResults) -> Iterator[str]:
    """Show where the time went."""
    total = sum(results.seconds.values()) or 1.0
    rows = [
        [escape(kind), f"{seconds:.1f}", f"{seconds / total:.0%}"]
        for kind, seconds in results.seconds.items()
    ]
    yield table("", ["task", "processor seconds", "share"], [*rows, ["all", f"{total:.1f}", ""]])


def rounds(results: AuditResults, held: Rounds) -> Iterator[str]:
    """Show every attacker on every kind of device."""
    rows = []
    for attack, control in held.controls.items():
        cells = [escape(attack) if control.reads else f'<span class="void">{escape(attack)}</span>']
        cells += [_area(results, results.get(name, "auc", attack)) for name in held.devices]
        rows.append(cells)
    bands = results.macro_bands or results.bands
    rows.append(["chance band of the strongest", *(_band(bands[name]) for name in held.devices)])
    answers = [" + ".join(f"{count:.1f}" for count in held.answers[name]) for name in held.devices]
    rows.append(["answers a person, by round", *answers])
    yield table(
        f"Rounds of {escape(held.scheme)}, by kind of device: AUC, its distance from 0.5, and its"
        " 95 % interval. <b>Bold</b>: outside the wider chance band. Attackers in"
        " italics cannot read raw ratings, so that their failing proves nothing.",
        ["attacker", *map(escape, held.devices.values())],
        rows,
    )


def _chunks(schemes: list[str]) -> Iterator[list[str]]:
    """Cut into equal parts of no more than fit side by side."""
    count = max(1, -(-len(schemes) // WIDEST))
    size = -(-len(schemes) // count)
    yield from (schemes[k : k + size] for k in range(0, len(schemes), max(size, 1)))


def _attack_row(results: AuditResults, attack: str, schemes: Iterable[str]) -> Cells:
    control = results.controls[attack]
    reads = f"{escape(control.scheme)} {control.value:.3f}"
    if proves_nothing(results, attack):
        reads = f'<span class="void">{reads}:<br>proves nothing</span>'
    elif control.unread:
        lost = escape(", ".join(control.unread))
        reads += f'<span class="void"><br>proves nothing of {lost}</span>'
    star = "*" if results.adaptive[attack] else ""
    cells = [_area(results, results.get(scheme, "auc", attack)) for scheme in schemes]
    return [f"{escape(attack)}{star}", reads, *cells]


def _area(results: AuditResults, row: Row | None) -> str:
    if row is None:
        return ""
    distance = results.folded(row) - 0.5
    value = _value(row, chance=results.is_chance(row))
    return f"{value} <small>({distance:.3f})<br>{row.low:.3f}-{row.high:.3f}</small>"


def _value(row: Row, *, chance: bool) -> str:
    return f"{row.value:.3f}" if chance else f'<span class="leaks">{row.value:.3f}</span>'


def _band(band: Band | None) -> str:
    if band is None:
        return ""
    chance = f"of {band.attackers}; p {band.p_value:.3f}"
    judged = f"wider {band.judged_low:.3f}-{band.judged_high:.3f}"
    return f"{band.low:.3f}-{band.high:.3f}<br><small>{judged}<br>{chance}</small>"


def _cost_row(results: AuditResults, scheme: str) -> Cells:
    measured = [results.get(scheme, metric) for metric in RMSE]
    errors = [
        "" if row is None else f"{row.value:.4f}<br><small>{row.low:.4f}-{row.high:.4f}</small>"
        for row in measured
    ]
    kept = results.get(scheme, "withheld")
    bits, deciles = results.get(scheme, "disclosed_bits"), results.withheld.get(scheme)
    return [
        escape(label(scheme)),
        *errors,
        _cost(results, scheme),
        "" if kept is None else f"{kept.value:.1%}",
        "" if not deciles else f"{deciles[5]:.1%} / {deciles[10]:.1%}",
        "" if bits is None else f"{bits.value:.1f}",
    ]


def _cost(results: AuditResults, scheme: str) -> str:
    cost, spread = results.cost(scheme), results.costs.get(scheme)
    if cost is None:
        return ""
    if scheme == results.baseline(scheme):
        return "0: the base"
    share = f"{100 * cost:+z.2f} %"
    if spread is None:
        return share
    return f"{share}<br><small>{100 * spread.low:+z.2f} to {100 * spread.high:+z.2f}</small>"


def _said(theirs: PaperData) -> dict[str, tuple[str, str, str]]:
    """Lay out what the paper says of a data set, row by row."""
    whole = {"all": (theirs.users, theirs.items, theirs.ratings)}
    return whole | {name: (one[0], "-", one[1]) for name, one in theirs.skews.items()}


_COST = {
    False: "by how much the latter is above the least of the three that raw ratings give, estimated"
    " in the same way, which are the base and cost 0",
    True: "by how much the first is above that of raw ratings, as in the paper's Sec. 7.2",
}
"""What costs compare, in the paper's setting or not."""
_SETTING = {"alpha": "alpha", "bits": "bits of a number", "share": "share"}
"""How the settings of curves are called in a table."""
_POINT_HEADS = (
    "strongest AUC",
    "chance, up to",
    "AUC of lse",
    "RMSE, local",
    "cost",
    "bits of an item",
)


def _without_setting(drawn: Sequence[Line]) -> str:
    """Say which schemes are disclosed at one precision, if some are."""
    names = [line.scheme for line in drawn if len(line.points) == 1]
    return f" Disclosed at one precision: {escape(', '.join(names))}." if names else ""


def _point_rows(line: Line) -> Iterator[Cells]:
    for point in line.points:
        area = f"{point.leak + 0.5:.3f}"
        yield [
            escape(line.scheme),
            "its own" if len(line.points) == 1 else f"{point.setting:g}",
            f'<span class="leaks">{area}</span>' if point.leak > point.chance + ROUNDING else area,
            f"{point.chance + 0.5:.3f}",
            "" if point.paper_area is None else f"{point.paper_area:.3f}",
            f"{point.error:.4f}",
            f"{100 * point.cost:+.2f} %",
            f"{point.bits:.1f}",
        ]
