"""`midpoint audit`: attack schemes on some data, and report what leaks and what it costs."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from midpoint.cli.options import audit_extras as further
from midpoint.cli.options.auditing import AuditOptions
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.service import DatabaseOption
from midpoint.cli.options.source import DataOptions, SourceArgument
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from midpoint.audit import AuditResults
    from midpoint.audit.measure.findings import Band

NAMES_WIDTH, SCHEME_WIDTH = 32, 14
"""Columns for the attackers' names and for one scheme; more schemes make a second table."""


@dataclass(frozen=True, kw_only=True)
class AuditData(DataOptions):
    """People whose feature is known; a live site has its own."""

    source: SourceArgument = ""


@expand
def audit_command(
    *,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The private feature; several make a joint one.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for the results; a killed run resumes.", show_default=False),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(
            help="Audit a live site again instead of a SOURCE: people who joined its panel since"
            " its disclosure was published are attacked under it. The exit status is 1 if what was"
            " certified no longer holds.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseOption = None,
    options: AuditOptions,
    data: AuditData,
) -> None:
    """Attack what devices send under each scheme; write report.html and results.csv.

    The report says for each scheme what leaks of the private feature, and what protection costs in
    accuracy.
    """
    console = Console(highlight=False)
    if site is not None:
        if data.source or feature or out:
            raise MidpointError(
                "--site has its own people, feature and disclosure, and writes nothing; leave out"
                " SOURCE, --feature and --out"
            )
        _audit_site(console, site, database, options.seed)
        return
    if not data.source or not feature or out is None:
        raise MidpointError(
            "name people whose feature is known, the feature, and a directory for the results:"
            " midpoint audit SOURCE --feature gender --out DIRECTORY; or a live site: --site SITE"
        )
    if options.paper:
        _require_nothing_else(options, data)
    with console.status("Reading ratings"):
        from midpoint.analyst.kernels.compilation import usable_cores
        from midpoint.audit import AuditResults, audit
        from midpoint.audit.report.page import write_report
        from midpoint.audit.report.paper_tables import require_papers
        from midpoint.data import with_known

        papers = None if options.beside is None else AuditResults.load(options.beside)
        ratings = data.load(options.seed)
        if papers is not None:
            require_papers(papers, ratings.name, "+".join(feature))
    console.print(ratings.summary, markup=False, soft_wrap=True)
    if left := ratings.n_users - with_known(ratings, *feature).n_users:
        line = f"Left out: {left:,} people whose {' or '.join(feature)} is not known"
        console.print(line, markup=False, soft_wrap=True)
    with further.audit_bar(console) as report:
        results = audit(
            ratings,
            feature,
            schemes=options.tried(ratings, data.table_columns()),
            attacks=options.attack_names(),
            folds=options.folds,
            seed=options.seed,
            jobs=options.jobs or usable_cores(),
            quick=options.quick,
            out=out,
            progress=report,
            setting=options.setting(),
        )
    results.save(out)
    page = write_report(results, out, shlex.join(["midpoint", *sys.argv[1:]]), papers)
    show(console, results)
    console.print(f"The report is {page}", soft_wrap=True)


def _audit_site(console: Console, root: Path, database: str | None, seed: int) -> None:
    """Attack people who joined the panel of a site since, and look at its certificates."""
    from midpoint.analyst.disclose.site import Site
    from midpoint.audit.live import audit_site
    from midpoint.cli.options.reports import joined_volunteers
    from midpoint.wire import Certificate, Entry

    site = Site(root)
    disclosure, chain = site.current(), site.chain()
    if disclosure is None or chain is None:
        raise MidpointError(f"{root} shows nothing yet; run: midpoint publish MODEL {root}")
    entries = [signed.open(Entry) for signed in chain.entries]
    first = next(entry for entry in entries if entry.disclosure == disclosure.digest)
    signed = site.certificates(disclosure.digest).certificates
    with console.status("Attacking people who joined since"):
        seen = audit_site(
            disclosure,
            site.profiles(disclosure.digest),
            first.time,
            joined_volunteers(site, database),
            [certificate.open(Certificate) for certificate in signed],
            seed=seed,
        )
    for line in seen.words():
        console.print(line, markup=False, soft_wrap=True)
    if seen.broken:
        raise typer.Exit(1)


def _require_nothing_else(options: AuditOptions, data: DataOptions) -> None:
    """Refuse options that contradict the paper's setting."""
    from midpoint.audit.run.paper_setup import require_no_other

    asked = ("schemes", "attacks", "folds", "quick", "rounds", "curves", "protected", "beside")
    against = ("adversary", "panel", "panel_alone", "outsiders", "volunteers", "membership")
    given = {name: getattr(options, name) for name in (*asked, *against)} | {"levels": data.levels}
    given["split"] = options.split == "time"
    least = None if data.at_least == 1 else data.at_least  # all that there are, before the paper's
    require_no_other(**given, given=further.share_given(options.given), at_least=least)


def show(console: Console, results: "AuditResults") -> None:
    """Print a table of schemes and attackers, what hides nothing, rounds, and the verdict."""
    from midpoint.audit.report.settings import model_words
    from midpoint.audit.report.tradeoff import plain_schemes
    from midpoint.audit.report.verdict import headline, proves_nothing

    console.print(model_words(results), markup=False, soft_wrap=True)
    schemes = plain_schemes(results)
    beside = max(1, (console.width - NAMES_WIDTH) // SCHEME_WIDTH)
    for start in range(0, len(schemes), beside):
        console.print(_table(results, schemes[start : start + beside]))
    for start in range(0, len(schemes), beside):
        further.show_adversaries(console, results, schemes[start : start + beside])
    console.print(further.STARRED, soft_wrap=True)
    if any(proves_nothing(results, attack) for attack in results.attack_names()):
        console.print(further.VOID, soft_wrap=True)
    for line in _sentences(results):
        console.print(line, markup=False, soft_wrap=True)
    verdict = headline(results)
    for line in _read_outright(results, schemes, but=verdict.scheme if verdict else ""):
        console.print(line, markup=False, soft_wrap=True)
    if results.is_paper:
        _show_paper(console, results)
    for held in results.rounds.values():
        further.show_rounds(console, results, held)
    if verdict is not None:
        sentence = f"[bold]{escape(verdict.scheme)}[/bold]: {escape(verdict.lines)}"
        console.print(sentence, soft_wrap=True)
        if verdict.strongest == results.strongest(verdict.scheme):
            console.print(further.AFTER_THE_FACT, soft_wrap=True)


def _sentences(results: "AuditResults") -> "Iterator[str]":
    """Say how many volunteers a leak needs, who is recognized, and what training would choose."""
    from midpoint.audit.measure.volunteers import volunteers
    from midpoint.audit.report.verdict import chosen_words

    yield from (fitted.words() for fitted in volunteers(results.sizes))
    yield from (member.words(scheme) for scheme, member in results.members.items())
    if results.choices:
        yield chosen_words(results)


def _show_paper(console: Console, results: "AuditResults") -> None:
    """Print every number of the paper's beside ours, and the difference."""
    from midpoint.audit.report.paper import stand_in
    from midpoint.audit.report.paper_tables import compare, shares

    compared = {(one.scheme, one.what): one for one in compare(results)}
    table = Table(title="the paper's number, ours less the paper's")
    kinds = list(dict.fromkeys(what for _, what in compared))
    for head in ("scheme", *kinds):
        table.add_column(head, overflow="fold")
    for scheme in dict.fromkeys(scheme for scheme, _ in compared):
        numbers = [compared[scheme, what] for what in kinds]
        cells = [
            "" if one.paper is None or one.difference is None
            else f"{one.paper:.3f} {one.difference:+z.3f}"
            for one in numbers
        ]  # fmt: skip
        table.add_row(scheme, *cells)
    if compared:
        console.print(table)
    for scheme, share, here in shares(results):
        most = "at most " if share.bound else ""
        line = f"{scheme}: {share.what}: {here:.1%}; the paper: {most}{share.paper:.0%}"
        console.print(line, markup=False, soft_wrap=True)
    if note := stand_in(results.dataset):
        console.print(note, markup=False, soft_wrap=True)


def _read_outright(results: "AuditResults", schemes: list[str], but: str) -> "Iterator[str]":
    """Name the schemes that hide nothing, but for raw ratings."""
    from midpoint.analyst.fit.choice import RAW
    from midpoint.audit.report.verdict import OUTRIGHT, judge, reading

    for scheme in schemes:
        verdict = None if scheme in {RAW, but} else judge(results, scheme)
        if verdict is not None and verdict.grade == OUTRIGHT:
            row = verdict.strongest
            yield f"{scheme}: AUC {reading(row.value)} ({row.attack}): {OUTRIGHT}"


def _table(results: "AuditResults", schemes: list[str]) -> Table:
    """Lay out some schemes by all attackers, and what they cost."""
    from midpoint.audit.measure.findings import INFERRED, RANKING, RMSE, SPELLED
    from midpoint.audit.report.settings import tick
    from midpoint.audit.report.verdict import proves_nothing

    kind = "macro AUC" if results.macro_bands else "AUC"
    table = Table(title=f"{results.dataset}, {results.feature}: {kind}")
    for head in ("attacker", *map(tick, schemes)):
        table.add_column(head, overflow="fold")  # a name cut short may be another's
    for attack in results.attack_names():
        cells = [_area(results, scheme, attack) for scheme in schemes]
        failed = further.FAILED if proves_nothing(results, attack) else ""
        table.add_row(f"{escape(attack)}{failed}", *cells)
    table.add_section()
    if results.macro_bands:
        table.add_row("macro chance band", *_bands(results.macro_bands, schemes))
        table.add_row("worst category", *(_strongest(results, scheme) for scheme in schemes))
    table.add_row("chance band", *_bands(results.bands, schemes))
    table.add_row(further.WIDER, *_judged(results.bands, schemes))
    for metric in (*RMSE, *INFERRED[1:], *RANKING, "withheld", "disclosed_bits"):
        rows = [results.get(scheme, metric) for scheme in schemes]
        if not any(rows):
            continue
        digits = {"disclosed_bits": 1, "withheld": 3}.get(metric, 4)
        cells = ["" if row is None else f"{row.value:.{digits}f}" for row in rows]
        table.add_row(SPELLED[metric], *cells)
    costs = [results.cost(scheme) for scheme in schemes]
    if not results.unary:
        table.add_row(
            "cost in RMSE", *("" if cost is None else f"{100 * cost:+z.1f} %" for cost in costs)
        )
    lost = [results.ndcg_costs.get(scheme) for scheme in schemes]
    if any(lost):
        shares = ("" if cost is None else f"{100 * cost.value:+z.1f} %" for cost in lost)
        table.add_row("cost in NDCG@10", *shares)
    return table


def _area(results: "AuditResults", scheme: str, attack: str) -> str:
    row = results.get(scheme, "auc", attack)
    if row is None:
        return ""
    return further.starred(row.value, chance=results.is_chance(row))


def _strongest(results: "AuditResults", scheme: str) -> str:
    row = results.strongest(scheme)
    return "" if row is None else further.starred(row.value, chance=results.is_chance(row))


def _bands(bands: "Mapping[str, Band]", schemes: list[str]) -> list[str]:
    shown = [bands.get(scheme) for scheme in schemes]
    return ["" if band is None else f"{band.low:.3f}-{band.high:.3f}" for band in shown]


def _judged(bands: "Mapping[str, Band]", schemes: list[str]) -> list[str]:
    shown = [bands.get(scheme) for scheme in schemes]
    return [
        "" if band is None else f"{band.judged_low:.3f}-{band.judged_high:.3f}" for band in shown
    ]
