"""The report: one self-contained page that a person can read, print and cite."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from midpoint import __version__
from midpoint.audit.figures import Picture, pictures
from midpoint.audit.paper import paper_numbers
from midpoint.audit.results import RMSE, AuditResults, Row
from midpoint.audit.verdict import headline, judge, proves_nothing
from midpoint.files import replace_file
from midpoint.protocol import STATEMENTS, state

PAGE = "report.html"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #111; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-size: 0.8rem; margin: 0.6rem 0; }
th, td { border: 1px solid #999; padding: 0.2rem 0.45rem; text-align: right; }
th:first-child, td:first-child, .words td { text-align: left; }
caption { text-align: left; padding: 0.3rem 0; }
.wide { overflow-x: auto; }
.verdict { border-left: 0.5rem solid #0072B2; padding: 0.4rem 1rem; background: #f2f7fb;
  font-size: 1.1rem; }
.leaks { font-weight: bold; } .void { color: #595959; font-style: italic; }
small { color: #444; } figure { margin: 1rem 0; } img { max-width: 100%; }
code { background: #f3f3f3; padding: 0 0.2rem; }
@media print { body { max-width: none; font-size: 10pt; } figure, tr { break-inside: avoid; }
  .wide { overflow: visible; } }
"""
Cells = Sequence[str]


def write_report(results: AuditResults, directory: Path, command: str = "") -> Path:
    """Write report.html and return where it is."""
    path = directory / PAGE
    replace_file(path, page(results, command).encode())
    return path


def page(results: AuditResults, command: str = "") -> str:
    """Return the report as HTML."""
    title = escape(f"Audit of {results.dataset}, {results.feature}")
    sections = [
        f"<h1>{title}</h1>",
        *_verdicts(results),
        *_attacks(results),
        *_per_fold(results),
        *_costs(results),
        *map(_figure, pictures(results)),
        *_paper(results),
        *_data(results),
        *_assumed(results),
        *_time(results),
        *_reproduce(results, command),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def _verdicts(results: AuditResults) -> Iterator[str]:
    """Say first, in plain words, what was found."""
    main = headline(results)
    if main is not None:
        yield f'<p class="verdict"><b>{escape(main.scheme)}</b>: {escape(main.sentence)}.</p>'
    void = [name for name in results.attack_names() if proves_nothing(results, name)]
    if void:
        yield (
            "<p>Could not read their control, so that their failing proves nothing: "
            f"{escape(', '.join(void))}.</p>"
        )
    yield "<ul>"
    for scheme in results.scheme_names():
        found = judge(results, scheme)
        if found is not None and (main is None or scheme != main.scheme):
            yield f"<li><b>{escape(scheme)}</b>: {escape(found.sentence)}.</li>"
    yield "</ul>"
    yield (
        "<p><small>An AUC is the probability that an attacker, shown two people of unlike category,"
        " tells them apart: 0.5 is a blind guess; below 0.5 leaks as much as above, since the"
        " answer can be turned round. The chance band is what the strongest of all attackers tried"
        " would read, 95 times of 100, if there were nothing to read. Cost is the error with the"
        " device's own correction against the best that raw ratings give.</small></p>"
    )


def _attacks(results: AuditResults) -> Iterator[str]:
    """Show every attacker on every scheme."""
    schemes = results.scheme_names()
    yield "<h2>Who reads what</h2>"
    rows = [_attack_row(results, attack, schemes) for attack in results.attack_names()]
    band = [_band(results, scheme) for scheme in schemes]
    rows.append(["chance band of the strongest", "", *band])
    yield _table(
        "AUC with its 95 % interval, and the distance from 0.5. Bold: outside the chance band."
        " Attackers marked * know the scheme and are trained on what it sends.",
        ["attacker", "control", *schemes],
        rows,
    )


def _per_fold(results: AuditResults) -> Iterator[str]:
    """Show how the folds differ, for the scheme of the headline."""
    main = headline(results)
    if main is None:
        return
    rows = [
        [escape(attack), *(f"{value:.3f}" for value in values)]
        for attack, values in results.per_fold[main.scheme].items()
    ]
    heads = [f"fold {k + 1}" for k in range(results.folds)]
    yield _table(f"AUC in each fold, {escape(main.scheme)}.", ["attacker", *heads], rows)


def _attack_row(results: AuditResults, attack: str, schemes: Iterable[str]) -> Cells:
    control = results.controls[attack]
    reads = f"{escape(control.scheme)} {control.value:.3f}"
    if not control.reads:
        reads = f'<span class="void">{reads}: proves nothing</span>'
    star = "*" if results.adaptive[attack] else ""
    cells = [_area(results, results.get(scheme, "auc", attack)) for scheme in schemes]
    return [f"{escape(attack)}{star}", reads, *cells]


def _area(results: AuditResults, row: Row | None) -> str:
    if row is None:
        return ""
    inside = results.bands[row.scheme].holds(row.value)
    value = f"{row.value:.3f}" if inside else f'<span class="leaks">{row.value:.3f}</span>'
    distance = abs(row.value - 0.5)
    return f"{value}<br><small>{row.low:.3f}-{row.high:.3f}; {distance:.3f}</small>"


def _band(results: AuditResults, scheme: str) -> str:
    band = results.bands.get(scheme)
    if band is None:
        return ""
    chance = f"of {band.attackers}; p {band.p_value:.3f}"
    return f"{band.low:.3f}-{band.high:.3f}<br><small>{chance}</small>"


def _costs(results: AuditResults) -> Iterator[str]:
    """Show what every scheme costs."""
    yield "<h2>What it costs</h2>"
    rows = []
    for scheme in results.scheme_names():
        found = [results.get(scheme, metric) for metric in RMSE]
        errors = [
            "" if row is None else f"{row.value:.4f}<br><small>{row.low:.4f}-{row.high:.4f}</small>"
            for row in found
        ]
        cost, withheld = results.cost(scheme), results.get(scheme, "withheld")
        bits, deciles = results.get(scheme, "disclosed_bits"), results.withheld.get(scheme)
        rows.append(
            [
                escape(scheme),
                *errors,
                "" if cost is None else f"{100 * cost:+.2f} %",
                "" if withheld is None else f"{withheld.value:.1%}",
                "" if not deciles else f"{deciles[5]:.1%} / {deciles[10]:.1%}",
                "" if bits is None else f"{bits.value:.1f}",
            ]
        )
    names = [metric.removeprefix("rmse_") for metric in RMSE]
    yield _table(
        "RMSE of held-out ratings with the inferred category (the paper's way), with none, and with"
        " the device's own correction; the latter against raw ratings; ratings withheld, on"
        " average, by the median user and at most; bits disclosed of each item.",
        ["scheme", *names, "cost", "withheld", "median / most", "bits"],
        rows,
    )


def _paper(results: AuditResults) -> Iterator[str]:
    """Show the paper's numbers beside ours."""
    known = paper_numbers(results.dataset, results.feature)
    if known is None:
        return
    name, numbers = known
    attacks = ("lse", "lr", "nb", "svm")
    rows = []
    for scheme in results.scheme_names():
        if scheme not in numbers:
            continue
        cells = [escape(scheme)]
        for attack in attacks:
            row, paper = results.get(scheme, "auc", attack), getattr(numbers[scheme], attack)
            ours = "" if row is None else f"{abs(row.value - 0.5) + 0.5:.3f}"
            cells += ["" if paper is None else f"{paper:.3f}", ours]
        row = results.get(scheme, RMSE[0])
        ours = "" if row is None else f"{row.value:.3f}"
        rows.append([*cells, f"{numbers[scheme].rmse:.3f}", ours])
    yield "<h2>Beside the paper</h2>"
    heads = [f"{what}, {whose}" for what in (*attacks, "RMSE") for whose in ("paper", "here")]
    yield _table(
        f"The paper's numbers ({escape(name)}) and ours, by its own attackers; AUC folded to 0.5"
        " and above, RMSE with the inferred category.",
        ["scheme", *heads],
        rows,
    )


def _data(results: AuditResults) -> Iterator[str]:
    """Describe the data as the paper's Table 1 does."""
    about = results.description
    yield "<h2>The data</h2>"
    rows = [["all", f"{about['users']:,}", f"{about['items']:,}", f"{about['ratings']:,}"]]
    rows += [
        [escape(one["name"]), escape(one["user_skew"]), "-", escape(one["rating_skew"])]
        for one in about["features"]
        if one["name"] in results.feature.split("+")
    ]
    yield _table(escape(results.dataset), ["", "users", "items", "ratings"], rows)


def _assumed(results: AuditResults) -> Iterator[str]:
    """Say what each scheme assumes and promises."""
    yield "<h2>What was assumed</h2>"
    rows = []
    for scheme in results.scheme_names():
        how = results.schemes[scheme]
        if how["name"] in STATEMENTS:
            says = state(how["name"], discrete=results.discrete, alpha=how["alpha"])
            parts = (scheme, says.discloses, says.assumes, says.guarantees, says.source)
            rows.append([escape(part) for part in parts])
    yield _table("", ["scheme", "discloses", "assumes", "guarantees", "source"], rows)
    yield (
        "<p>The attackers know the protocol, the disclosure and the item profiles, and learn from"
        " other people whose category they know. They see one report of each person. What several"
        " reports over time add is not measured here. An attack that was not tried is not ruled"
        " out.</p>"
    )


def _time(results: AuditResults) -> Iterator[str]:
    """Show where the time went."""
    total = sum(results.seconds.values()) or 1.0
    yield "<h2>Where the time went</h2>"
    rows = [
        [escape(kind), f"{seconds:.1f}", f"{seconds / total:.0%}"]
        for kind, seconds in results.seconds.items()
    ]
    yield _table("", ["task", "processor seconds", "share"], [*rows, ["all", f"{total:.1f}", ""]])


def _reproduce(results: AuditResults, command: str) -> Iterator[str]:
    yield "<h2>How to reproduce it</h2>"
    if command:
        yield f"<p><code>{escape(command)}</code></p>"
    yield (
        f"<p>Midpoint {__version__}, code and libraries {results.code[:16]}; data"
        f" {results.data_digest[:16]}; {results.folds} folds of users, seed {results.seed}. The"
        " same seed gives the same numbers, whatever the number of processes.</p>"
    )


def _figure(picture: Picture) -> str:
    text = escape(picture.text)
    return (
        f"<h2>{escape(picture.title)}</h2><figure>"
        f'<img src="{picture.source}" alt="{text}"><figcaption>{text}</figcaption></figure>'
    )


def _table(caption: str, heads: Cells, rows: Iterable[Cells]) -> str:
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return (
        f'<div class="wide"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
