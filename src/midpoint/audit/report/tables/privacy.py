"""How far attackers get, scheme by scheme."""

from collections.abc import Iterable, Iterator
from html import escape

from midpoint.audit.measure.findings import Rounds
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import Cells, table
from midpoint.audit.report.settings import label
from midpoint.audit.report.tables.cells import area_cell, band_cell, chunks
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.report.verdict import headline, proves_nothing

STRONGEST = "chance band of the strongest"


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
        " sends; the others are trained on raw ratings. The control is what an attacker must"
        " succeed on."
    )
    for schemes in chunks(plain_schemes(results)):
        rows = [_attack_row(results, attack, schemes) for attack in results.attack_names()]
        bands = results.macro_bands or results.bands
        rows.append(
            ["chance band of the strongest", "", *(band_cell(bands.get(s)) for s in schemes)]
        )
        heads = ["attacker", "control", *(escape(label(scheme)) for scheme in schemes)]
        yield table(caption, heads, rows)
        caption = "The same, of other schemes."


def _attack_row(results: AuditResults, attack: str, schemes: Iterable[str]) -> Cells:
    control = results.controls[attack]
    shown = f"{escape(control.scheme)} {control.value:.3f}"
    if proves_nothing(results, attack):
        shown = f'<span class="void">{shown}:<br>proves nothing</span>'
    elif control.unread:
        lost = escape(", ".join(control.unread))
        shown += f'<span class="void"><br>proves nothing of {lost}</span>'
    star = "*" if results.adaptive[attack] else ""
    cells = [area_cell(results, results.get(scheme, "auc", attack)) for scheme in schemes]
    return [f"{escape(attack)}{star}", shown, *cells]


def single_categories(results: AuditResults) -> Iterator[str]:
    """Show which of several categories each scheme gives away most."""
    if len(results.categories) <= 2:
        return
    rows = []
    for scheme in plain_schemes(results):
        row, band = results.strongest(scheme), results.bands.get(scheme)
        if row is not None:
            rows.append(
                [escape(scheme), escape(row.attack), area_cell(results, row), band_cell(band)]
            )
    yield table(
        "Each category against the rest: the one that is guessed best, by whom, and what chance"
        " would show of the strongest attacker on any category.",
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


def rounds(results: AuditResults, held: Rounds) -> Iterator[str]:
    """Show every attacker on every kind of device."""
    rows = []
    for attack, control in held.controls.items():
        cells = [escape(attack) if control.reads else f'<span class="void">{escape(attack)}</span>']
        cells += [area_cell(results, results.get(name, "auc", attack)) for name in held.devices]
        rows.append(cells)
    bands = results.macro_bands or results.bands
    rows.append(
        ["chance band of the strongest", *(band_cell(bands[name]) for name in held.devices)]
    )
    answers = [" + ".join(f"{count:.1f}" for count in held.answers[name]) for name in held.devices]
    rows.append(["answers a person, by round", *answers])
    yield table(
        f"Rounds of {escape(held.scheme)}, by kind of device: AUC, its distance from 0.5, and its"
        " 95 % interval. <b>Bold</b>: outside the wider chance band. Attackers in"
        " italics fail on raw ratings, so that their failing proves nothing.",
        ["attacker", *map(escape, held.devices.values())],
        rows,
    )
