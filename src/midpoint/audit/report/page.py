"""The report: one self-contained page that a person can read, print and cite."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
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
from midpoint.audit.report.reading import how_to_read
from midpoint.audit.report.settings import front_words, label, model_words
from midpoint.audit.report.style import STYLE as DRAWING
from midpoint.audit.report.style import Picture
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.report.verdict import (
    BLIND,
    Verdict,
    chosen_words,
    headline,
    judge,
    proves_nothing,
    unproved,
)
from midpoint.audit.run.adversaries.bound import ASSUMES
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.plan import DEFAULT
from midpoint.files import replace_file

PAGE = "report.html"
LATEX = "report.tex"
"""The table of all schemes, for a paper."""
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
th[scope=row], thead th:first-child, .words th, .words td, .against :is(th, td):nth-child(2)
  { text-align: left; }
caption { text-align: left; padding: 0.3rem 0; }
.wide { overflow-x: auto; }
.plain { font-size: 1.5rem; line-height: 1.35; margin: 0.6rem 0; max-width: 46rem; }
.facts { color: #444; margin-top: 0; }
pre { background: #f3f3f3; padding: 0.6rem; overflow-x: auto; font-size: 0.75rem; }
.verdict { border-left: 0.5rem solid #0072B2; padding: 0.5rem 1rem; background: #f2f7fb;
  font-size: 1rem; }
.leaks { font-weight: bold; } .void { color: #595959; font-style: italic; }
small { color: #444; } figure { margin: 1rem 0; } img { width: 100%; max-width: 54rem; }
figcaption { font-size: 0.85rem; color: #333; }
code { background: #f3f3f3; padding: 0 0.2rem; overflow-wrap: anywhere; }
@page { size: A4; margin: 14mm; }
@media print {
  html { font-size: 9.5pt; }
  body { max-width: none; margin: 0; padding: 0; font-size: 1rem; }
  table { font-size: 7pt; } th, td { padding: 0.1rem 0.25rem; }
  h2, h3, caption { break-after: avoid; } figure, table, tr, .verdict, .plain, pre
  { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; }
  pre { white-space: pre-wrap; font-size: 6.5pt; }
  thead th, .verdict, code, pre { background: none; } .verdict { border-color: #000; }
}
"""
Figures = Mapping[str, Picture]


def write_report(
    results: AuditResults,
    directory: Path,
    command: str = "",
    papers: AuditResults | None = None,
) -> Path:
    """Write report.html, with today's date, and its table for a paper, report.tex.

    What the paper's own experiment found on the same data stands beside it if given. Several
    commands may have added to the directory; all of them are kept, to reproduce it.
    """
    path = directory / PAGE
    today, commands = datetime.now(UTC).date(), _all_commands(directory, command)
    replace_file(path, page(results, commands, today, papers).encode())
    replace_file(directory / LATEX, (tables.latex(results) + "\n").encode())
    return path


def _all_commands(directory: Path, command: str) -> str:
    """Add a command to those that made the directory; return them all, one on each line."""
    path = directory / COMMANDS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if command and command not in lines:
        lines.append(command)
        replace_file(path, ("\n".join(lines) + "\n").encode())
    return "\n".join(lines)


def page(
    results: AuditResults,
    command: str = "",
    written: date | None = None,
    papers: AuditResults | None = None,
) -> str:
    """Return the report as HTML.

    Args:
        results: What the audit found.
        command: The commands that made it, one on each line.
        written: The date to be shown, if any.
        papers: An audit in the paper's setting, to be shown beside one in ours.
    """
    title = escape(f"Audit of {results.dataset}, {results.feature}")
    drawn = {picture.title: picture for picture in pictures(results)}
    sections = [
        f"<h1>{title}</h1>",
        *_opening(results, written),
        *_verdicts(results),
        *_figures(drawn, "How sure the judge is", "Privacy, accuracy and disclosure"),
        "<h2>What was done</h2>",
        f"<p>{escape(model_words(results))}</p>",
        *tables.attackers(results),
        "<h2>Measured against whom</h2>",
        *tables.adversaries(results),
        *_omniscient(results),
        *tables.sharpness(results),
        *_figures(drawn, "How many must tell"),
        *_figures(drawn, "What leaks to outsiders, by their number"),
        *_figures(drawn, "What leaks as more is withheld"),
        *tables.sizes(results),
        *tables.members(results),
        "<h2>What leaks to which attacker</h2>",
        *tables.attacks(results),
        *tables.single_categories(results),
        *_figures(drawn, "Privacy and accuracy", "Every attacker on every scheme"),
        *_figures(drawn, "Answers before and after"),
        *tables.per_fold(results),
        "<h2>What it costs</h2>",
        *tables.costs(results),
        *tables.lists(results),
        *_figures(drawn, "How much is withheld"),
        *_curves(results, drawn),
        *_rounds(results),
        *paper_tables.beside(results, papers),
        "<h2>The data</h2>",
        *tables.data(results),
        "<h2>What was assumed</h2>",
        *tables.assumed(results),
        *_assumed(results),
        *_limits(results),
        "<h2>Where the time went</h2>",
        *tables.time(results),
        *_reproduce(results, command),
        *_cite(results, written),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body></html>\n"
    )


def _opening(results: AuditResults, written: date | None) -> Iterator[str]:
    """Begin with the sentence that a newspaper would print, and what it rests on."""
    main = headline(results)
    if main is not None:
        blind = "This audit cannot tell: no attack succeeded even on raw ratings. "
        opening = blind * (main.grade == BLIND) + main.plain
        yield f'<p class="plain">{escape(opening)}.</p>'
    yield f'<p class="facts">{escape(front_words(results, written))}</p>'


def _cite(results: AuditResults, written: date | None) -> Iterator[str]:
    """Show the numbers for a paper, and what to cite."""
    year = (written or datetime.now(UTC).date()).year
    yield "<h2>For a paper</h2>"
    yield f"<p>A table in LaTeX (booktabs), also in <code>{LATEX}</code>:</p>"
    yield f"<pre>{escape(tables.latex(results))}</pre>"
    yield "<p>To be cited as:</p>"
    yield f"<pre>{escape(tables.citation(results, year))}</pre>"


def _verdicts(results: AuditResults) -> Iterator[str]:
    """Say first, in plain words, what was found."""
    main = headline(results)
    if main is not None:
        rests = "".join(f"<br>{escape(number)}." for number in main.numbers)
        grade = f"<b>{escape(main.scheme)}</b>: {escape(main.grade)}."
        yield f'<p class="verdict">{grade}{rests}</p>'
        yield from _in_use(results, main.scheme)
    for product in results.rounds:
        verdict = judge(results, product)
        if verdict is not None:
            yield f"<p><b>{escape(product)}</b>: {_in_lines(verdict)}</p>"
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
            yield f"<li><b>{escape(label(scheme))}</b>: {_in_lines(other)}</li>"
    yield "</ul>"
    yield from how_to_read(results)


def _in_lines(verdict: Verdict) -> str:
    """Write a verdict as the terminal does, each number on a line."""
    return escape(verdict.lines).replace("\n", "<br>")


def _in_use(results: AuditResults, judged: str) -> Iterator[str]:
    """Say whether what is judged first is what would be disclosed by default."""
    if results.is_paper:
        return
    if results.choices:
        yield f"<p>{escape(chosen_words(results))}</p>"
    elif judged != DEFAULT:
        yield (
            "<p><b>Unless a scheme is named, training chooses one by measurement. The one that it"
            " would choose was not tried here (--schemes default).</b></p>"
        )


def _figures(drawn: Figures, *titles: str) -> Iterator[str]:
    """Show the figures of these titles that could be drawn."""
    yield from (_figure(drawn[title]) for title in titles if title in drawn)


def _omniscient(results: AuditResults) -> Iterator[str]:
    """Say what the bound is and what it takes for granted."""
    if results.bounds:
        yield (
            "<p>The omniscient adversary is a bound, not an attack: AUC = &Phi;(&radic;(D / 2))."
            " D is the sum, over the items that a person reveals, of what the errors of disclosed"
            f" log ratios and offsets add. It assumes {escape(ASSUMES)}. A scheme without a number"
            " there leaks by more than errors, and has no such bound.</p>"
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
        f" folds{_outside(held)}.</p>"
    )


def _outside(held: Rounds) -> str:
    """Say whom the attackers of outsiders learned from, if some tried."""
    if not any(name.startswith(f"{OUTSIDER}:") for name in held.controls):
        return ""
    return ", those of outsiders from people of them who are not the panel"


def _assumed(results: AuditResults) -> Iterator[str]:
    alone = "" if results.rounds else " What several reports over time add is not measured here."
    yield (
        "<p>The attackers know the scheme, the disclosure and the item profiles, and learn from"
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
