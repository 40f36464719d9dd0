"""The report: one self-contained page that a person can read, print and cite."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import matplotlib as mpl

from midpoint import __version__
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.measure.findings import Rounds
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report import paper_tables, tables
from midpoint.audit.report.curve_figures import round_bars
from midpoint.audit.report.figures import pictures
from midpoint.audit.report.settings import label, model_words
from midpoint.audit.report.style import STYLE as DRAWING
from midpoint.audit.report.style import Picture
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.report.verdict import (
    chosen_words,
    headline,
    judge,
    proves_nothing,
    unproved,
)
from midpoint.audit.run.adversaries.bound import ASSUMES
from midpoint.audit.run.plan import DEFAULT
from midpoint.files import replace_file

PAGE = "report.html"
COMMANDS = "commands.txt"
"""What made the directory, command by command."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #111; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.4rem;
  border-top: 1px solid #999; padding-top: 0.8rem; } h3 { font-size: 1.05rem; }
table { border-collapse: collapse; font-size: 0.8rem; margin: 0.6rem 0; min-width: 60%; }
.numbers td { white-space: nowrap; }
th, td { border: 1px solid #999; padding: 0.2rem 0.45rem; text-align: right;
  vertical-align: top; font-weight: normal; }
thead th { background: #f0f0f0; font-weight: bold; }
th[scope=row], thead th:first-child, .words th, .words td { text-align: left; }
caption { text-align: left; padding: 0.3rem 0; }
.wide { overflow-x: auto; }
.verdict { border-left: 0.5rem solid #0072B2; padding: 0.5rem 1rem; background: #f2f7fb;
  font-size: 1.15rem; }
.leaks { font-weight: bold; } .void { color: #595959; font-style: italic; }
small { color: #444; } figure { margin: 1rem 0; } img { width: 100%; max-width: 54rem; }
figcaption { font-size: 0.85rem; color: #333; }
code { background: #f3f3f3; padding: 0 0.2rem; overflow-wrap: anywhere; }
@page { size: A4; margin: 14mm; }
@media print {
  html { font-size: 9.5pt; }
  body { max-width: none; margin: 0; padding: 0; font-size: 1rem; }
  table { font-size: 7pt; } th, td { padding: 0.1rem 0.25rem; }
  h2, h3, caption { break-after: avoid; } figure, tr, .verdict { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; }
  thead th, .verdict, code { background: none; } .verdict { border-color: #000; }
}
"""
Figures = Mapping[str, Picture]
_COST = {
    False: "Cost is the error with the device's own correction against the best that raw ratings"
    " give, estimated in the same way.",
    True: "Cost is the error with the inferred category against that of raw ratings.",
}
"""What costs compare, in the paper's setting or not."""


def write_report(results: AuditResults, directory: Path, command: str = "") -> Path:
    """Write report.html.

    Several commands may have added to the directory; all of them are kept, to reproduce it.
    """
    path = directory / PAGE
    replace_file(path, page(results, _all_commands(directory, command)).encode())
    return path


def _all_commands(directory: Path, command: str) -> str:
    """Add a command to those that made the directory; return them all, one on each line."""
    path = directory / COMMANDS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if command and command not in lines:
        lines.append(command)
        replace_file(path, ("\n".join(lines) + "\n").encode())
    return "\n".join(lines)


def page(results: AuditResults, command: str = "") -> str:
    """Return the report as HTML; `command` holds the commands that made it, one on each line."""
    title = escape(f"Audit of {results.dataset}, {results.feature}")
    drawn = {picture.title: picture for picture in pictures(results)}
    sections = [
        f"<h1>{title}</h1>",
        *_verdicts(results),
        f"<p>{escape(model_words(results))}</p>",
        *_figures(drawn, "Privacy, accuracy and disclosure"),
        "<h2>Measured against whom</h2>",
        *tables.adversaries(results),
        *_omniscient(results),
        *tables.sharpness(results),
        *_figures(drawn, "How sure the judge is", "What leaks to outsiders, by sizes"),
        *tables.sizes(results),
        "<h2>What leaks to which attacker</h2>",
        *tables.attacks(results),
        *tables.single_categories(results),
        *_figures(drawn, "Privacy and accuracy", "Every attacker on every scheme"),
        *_figures(drawn, "Answers before and after"),
        *tables.per_fold(results),
        "<h2>What it costs</h2>",
        *tables.costs(results),
        *_figures(drawn, "How much is withheld"),
        *_curves(results, drawn),
        *_rounds(results),
        *paper_tables.beside(results),
        "<h2>The data</h2>",
        *tables.data(results),
        "<h2>What was assumed</h2>",
        *tables.assumed(results),
        *_assumed(results),
        *_limits(results),
        "<h2>Where the time went</h2>",
        *tables.time(results),
        *_reproduce(results, command),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body></html>\n"
    )


def _verdicts(results: AuditResults) -> Iterator[str]:
    """Say first, in plain words, what was found."""
    main = headline(results)
    if main is not None:
        yield f'<p class="verdict"><b>{escape(main.scheme)}</b>: {escape(main.sentence)}.</p>'
        yield from _in_use(results, main.scheme)
    for product in results.rounds:
        verdict = judge(results, product)
        if verdict is not None:
            yield f"<p><b>{escape(product)}</b>: {escape(verdict.sentence)}.</p>"
    void = [name for name in results.attack_names() if proves_nothing(results, name)]
    if void:
        yield (
            "<p>Failed on their control, so that their failing proves nothing: "
            f"{escape(', '.join(void))}.</p>"
        )
    if unseen := unproved(results):
        yield (
            "<p>No attacker could tell these from the rest even in what it must succeed on,"
            f" so that nothing is shown about them: {escape(', '.join(unseen))}.</p>"
        )
    yield "<ul>"
    for scheme in plain_schemes(results):
        other = judge(results, scheme)
        if other is not None and (main is None or scheme != main.scheme):
            yield f"<li><b>{escape(label(scheme))}</b>: {escape(other.sentence)}.</li>"
    yield "</ul>"
    yield (
        "<p><small>An AUC is the probability that an attacker, shown two people of unlike category,"
        " tells them apart: 0.5 is a blind guess. Below 0.5 leaks as much as above, since the sign"
        " of the answer can be flipped. The judge of an adversary weighs all its attackers, as"
        " training people in nested folds taught it before anybody was attacked. A verdict takes"
        " two looks: the judge of the adversary that knows most, and the strongest of all"
        " attackers. A chance band is what one of these shows with its scores as they are and"
        f" people's categories permuted within folds; {_held(results)} of that is inside, so that"
        " 95 % are inside both. It is judged by a band wider by a factor of 1.41, because the"
        " people of one fold are those that attackers of the others learned from: on noise, an AUC"
        " found so has up to twice the variance that permutations show. The fewer people, the"
        f" wider it is: with these {results.description['users']:,}, a leak inside it looks like"
        " chance and is not ruled out. Intervals take the trained attackers and the folds as"
        " given; the strongest attacker is chosen after the fact, so that its interval, unlike the"
        f" judge's, is on the high side, seen from 0.5. {_COST[results.is_paper]}</small></p>"
    )


def _held(results: AuditResults) -> str:
    """Say how much of chance a band holds."""
    levels = {f"{100 * band.level:g} %" for band in results.bands.values()}
    return " or ".join(sorted(levels)) or "95 %"


def _in_use(results: AuditResults, judged: str) -> Iterator[str]:
    """Say whether what is judged first is what would be disclosed by default."""
    if results.is_paper:
        return
    if results.choices:
        yield f"<p>{escape(chosen_words(results))}</p>"
    elif judged != DEFAULT:
        yield (
            "<p><b>Training chooses the scheme of a model by measurement unless one is named; that"
            " choice was not tried here (--schemes default).</b></p>"
        )


def _figures(drawn: Figures, *titles: str) -> Iterator[str]:
    """Show the figures of these titles that could be drawn."""
    yield from (_figure(drawn[title]) for title in titles if title in drawn)


def _omniscient(results: AuditResults) -> Iterator[str]:
    """Say what the bound is and what it takes for granted."""
    if results.bounds:
        yield (
            "<p>The omniscient adversary is no attack but a bound: AUC = &Phi;(&radic;(D / 2)), D"
            " being what the errors of disclosed log ratios and of offsets add up to over the items"
            f" that a person reveals. It assumes {escape(ASSUMES)}. A scheme without a number there"
            " leaks by more than errors, and has no such bound.</p>"
        )


def _curves(results: AuditResults, drawn: Figures) -> Iterator[str]:
    """Show privacy along what can be varied, if anything was."""
    keys = {
        "Privacy by how active people are": "",
        "Privacy by the number of ratings": "share",
        "Privacy against accuracy": "alpha",
        "Privacy against disclosure": "bits",
    }
    if any(title in drawn for title in keys):
        yield "<h2>What it depends on</h2>"
    for title, key in keys.items():
        if title in drawn:
            yield _figure(drawn[title])
            yield from tables.curves(results, key) if key else ()


def _rounds(results: AuditResults) -> Iterator[str]:
    """Show what several rounds give away."""
    if results.rounds:
        yield "<h2>Over time</h2>"
    for held in results.rounds.values():
        yield _about_rounds(results, held)
        with mpl.rc_context(DRAWING):
            yield _figure(round_bars(results, held))
        yield from tables.rounds(results, held)


def _about_rounds(results: AuditResults, held: Rounds) -> str:
    order = "the order of their times" if held.timed else "a random order: no times are known"
    return (
        f"<p>Everyone is asked {held.rounds} times, each time about {held.budget} new items of"
        f" {held.items}, chosen by what she answered so far, and once more about what she left"
        " open. Half way the analyst learns again and discloses other numbers. Ratings arrive in"
        f" {order}. The attacker sees the whole transcript: what was asked, answered, when,"
        " and under which disclosure. A real device keeps every decision. A"
        " <i>forgetful</i> one keeps its coins and decides again by the numbers of the day; a"
        " <i>tossing</i> one tosses again each time. These two are controls: what they give away is"
        f" why decisions are final. All {results.description['users']:,} people were attacked, in"
        f" {results.folds} folds, by {len(held.controls)} attackers that learned from the other"
        " folds.</p>"
    )


def _assumed(results: AuditResults) -> Iterator[str]:
    alone = "" if results.rounds else " What several reports over time add is not measured here."
    yield (
        "<p>The attackers know the protocol, the disclosure and the item profiles, and learn from"
        " other people whose category they know. Unless said otherwise they see one report of each"
        f" person.{alone} The analyst discloses what it measured: one that lies is not tried. An"
        " attack that was not tried is not ruled out.</p>"
    )


def _limits(results: AuditResults) -> Iterator[str]:
    """Say which attackers did not learn from all there was."""
    families = {
        name: getattr(ATTACKERS[name](), "family", None)
        for name in results.attack_names()
        if name in ATTACKERS and results.adaptive[name]
    }
    most = {name: getattr(one, "most_rows", None) for name, one in families.items()}
    limits = [f"{name} {count:,}" for name, count in most.items() if count is not None]
    if limits:
        yield (
            "<p>Attackers that know the scheme learn from several draws of the coins of every"
            " person, a row each; some take no more rows than they can handle, other people before"
            f" other draws: {escape(', '.join(limits))}.</p>"
        )


def _reproduce(results: AuditResults, command: str) -> Iterator[str]:
    yield "<h2>How to reproduce it</h2>"
    for line in command.splitlines():
        yield f"<p><code>{escape(line)}</code></p>"
    yield (
        f"<p>{escape(_made_with(results))}. Digest of code and libraries {results.code[:16]}, of"
        f" the data {results.data_digest[:16]}; {results.folds} folds of users, seed"
        f" {results.seed}. With the same versions, the same seed gives the same numbers, whatever"
        " the number of processes. All numbers are in <code>results.csv</code> and"
        " <code>results.json</code> beside this page.</p>"
    )


def _made_with(results: AuditResults) -> str:
    """List versions."""
    names = {"python": "Python", "midpoint": "Midpoint"}
    made = results.versions or {"midpoint": __version__}
    return ", ".join(f"{names.get(name, name)} {number}" for name, number in made.items())


def _figure(picture: Picture) -> str:
    text = escape(picture.text)
    return (
        f"<h3>{escape(picture.title)}</h3><figure>"
        f'<img src="{picture.source}" alt="{text}"><figcaption>{text}</figcaption></figure>'
    )
