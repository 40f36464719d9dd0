"""Full audits, 10 folds, of every data set and feature we have, and whether their bars are met.

    MIDPOINT_DATA=... python -m benchmarks.audits.audit NAME ... [--jobs 2] [--runs DIR]

A run that was killed goes on where it was; a finished one is only judged again.
"""

import argparse
import base64
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.audits.against import tables_against
from benchmarks.audits.bars import on_the_wall
from benchmarks.audits.cases import CASES, Case
from benchmarks.measuring.measure import (
    RESULTS,
    command_of,
    conditions,
    show,
    warn_if_busy,
    write_results,
)
from midpoint.analyst.fit.choice import RAW
from midpoint.audit import AuditResults, AuditSetting, Progress, audit
from midpoint.audit.measure.results import CSV
from midpoint.audit.measure.volunteers import volunteers
from midpoint.audit.report.figures import pictures
from midpoint.audit.report.page import write_report
from midpoint.audit.report.paper import PAPER_DATA, compared_with
from midpoint.audit.report.paper_tables import SUB_SAMPLED, compare, shares
from midpoint.audit.report.settings import model_words
from midpoint.audit.report.verdict import judge
from midpoint.cli.audit import show as show_table
from midpoint.cli.options.audit_extras import audit_bar
from midpoint.data import Ratings
from midpoint.files import replace_file

BARS = ("Privacy, accuracy and disclosure", "Privacy and accuracy")
CURVES = (
    "Privacy against accuracy",
    "Privacy against disclosure",
    "Privacy by the number of ratings",
)
SIZES = (
    "How many must tell",
    "What leaks to outsiders, by their number",
    "What leaks as more is withheld",
    "How sure the judge is",
)
SECTION_7 = ("Privacy and accuracy", "Answers before and after", "Privacy against accuracy")
"""Titles of the figures that the documentation shows."""
IMAGES = RESULTS.parents[1] / "docs" / "images"
WALL = "wall-seconds.txt"
"""Where a run that was never interrupted keeps how long it took."""


def run(name: str, case: Case, jobs: int, folds: int, runs: Path, kept_as: str) -> None:
    """Audit, judge, and keep a small part of what was found."""
    console, began = Console(highlight=False), time.perf_counter()
    start = conditions() | {"time": time.strftime("%H:%M", time.gmtime())}
    directory = runs / kept_as
    started = shlex.join(["python", *command_of(__file__)[1:], *sys.argv[1:]])
    fresh, ratings = not directory.exists(), case.ratings()
    with audit_bar(console) as progress:
        results = find(case, ratings, folds, jobs, directory, progress)
    results.save(directory)
    write_report(results, directory, started)
    if fresh:
        replace_file(directory / WALL, f"{time.perf_counter() - began:.1f}\n".encode())
    drawn = draw(results, kept_as, case)
    show_table(console, results)
    bars = [bar for found_by in case.judges for bar in found_by(results)]
    wall = float((directory / WALL).read_text()) if (directory / WALL).exists() else None
    bars += [on_the_wall(case.clock, wall)] if case.clock else []
    rows = [[bar.what, bar.wanted, bar.measured, "met" if bar.met else "NOT MET"] for bar in bars]
    if rows:
        show(f"{name}, {folds} folds", ["what", "wanted", "found", ""], rows)
    for table in tables_against(results) if case.adversaries else ():
        show(*table)
    seconds = {kind: round(took, 1) for kind, took in results.seconds.items()}
    kept = {
        "conditions": start,
        "code": results.code,
        "versions": dict(results.versions),
        "said": sentences(results),
        "bars": [bar._asdict() for bar in bars],
        "cpu_seconds": seconds,
        "wall_seconds": wall,
        "pictures": drawn,
    }
    if case.paper:
        kept |= section_7(results)
    written = write_results(f"audit-{kept_as}", kept)
    keep_rows(directory / CSV, kept_as)
    console.print(f"Figures are in {written}, all of them in {directory}", soft_wrap=True)


def section_7(results: AuditResults) -> dict[str, Any]:
    """Return what else Sec. 7 reports: Table 1, shares withheld, and how the model was made."""
    theirs = PAPER_DATA.get((compared_with(results.dataset, results.feature) or ("",))[0])
    features = {about["name"]: about for about in results.description["features"]}
    own = features.get(results.feature, {})
    deciles = {
        name: [round(share, 4) for share in results.withheld[name]]
        for name in SUB_SAMPLED
        if name in results.withheld
    }
    return {
        "model": model_words(results),
        "table_1": {
            "here": {name: results.description[name] for name in ("users", "items", "ratings")}
            | {"user_skew": own.get("user_skew"), "rating_skew": own.get("rating_skew")},
            "paper": None if theirs is None else theirs._asdict() | {"skews": dict(theirs.skews)},
        },
        "withheld": [
            {"scheme": scheme, **share._asdict(), "here": round(here, 4)}
            for scheme, share, here in shares(results)
        ],
        "withheld_deciles": deciles,
        "beside_the_paper": [
            number._asdict() | {"difference": number.difference} for number in compare(results)
        ],
    }


def keep_rows(path: Path, kept_as: str) -> None:
    """Keep all numbers, those of several rounds in a file of their own."""
    head, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    rounds = [row for row in rows if ":rounds=" in row]
    once = [row for row in rows if row not in rounds]
    for name, kept in ((f"audit-{kept_as}", once), (f"audit-{kept_as}-transcripts", rounds)):
        if kept:
            replace_file(RESULTS / f"{name}.csv", "".join([head, *kept]).encode())


def _titles(case: Case) -> tuple[str, ...]:
    if case.paper:
        return SECTION_7
    if case.adversaries:
        return SIZES
    return CURVES if case.curves else BARS


def draw(results: AuditResults, name: str, case: Case) -> list[dict[str, str]]:
    """Keep the figures that the documentation shows."""
    kept = []
    for picture in pictures(results):
        if picture.title in _titles(case):
            file = f"audit-{name}-{picture.title.lower().replace(' ', '-').replace(',', '')}.svg"
            IMAGES.mkdir(exist_ok=True, parents=True)
            replace_file(IMAGES / file, base64.b64decode(picture.source.partition(",")[2]))
            kept.append({"file": file, "text": picture.text})
    return kept


def find(
    case: Case,
    ratings: Ratings,
    folds: int,
    jobs: int,
    directory: Path,
    progress: Callable[[Progress], None],
) -> AuditResults:
    """Run the audit, with its rounds, or all points of its curves."""
    setting = AuditSetting(
        adversaries=case.adversaries,
        panel=case.panels,
        outsiders=case.outsiders,
        panel_alone=case.panel_alone,
        given=case.given,
        rounds=case.rounds or None,
        curves=case.curves,
        paper=case.paper,
    )
    return audit(
        ratings,
        case.feature,
        (RAW,) if case.curves else case.schemes,
        case.attacks,
        folds=None if case.paper else folds,
        jobs=jobs,
        quick=case.quick,
        out=directory,
        progress=progress,
        setting=setting,
    )


def sentences(results: AuditResults) -> str:
    """Say what several rounds gave away, if some were held, and how many volunteers it takes."""
    verdicts = [judge(results, product) for product in results.rounds]
    said = [f"{verdict.scheme}: {verdict.lines}" for verdict in verdicts if verdict]
    said += [fitted.words() for fitted in volunteers(results.sizes)]
    return " ".join(" ".join(said).split()).rstrip(".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or of {', '.join(CASES)}")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--folds", type=int, help="fewer to try it out")
    parser.add_argument("--schemes", help="some only, joined by commas; for one NAME")
    kept = Path(tempfile.gettempdir()) / "midpoint-audits"
    parser.add_argument("--runs", type=Path, default=kept, help="where runs are kept to go on from")
    given = parser.parse_args()
    names = list(CASES) if given.names in ([], ["all"]) else given.names
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"there is no {unknown[0]!r}")
    if len(names) > 1:  # each in a process of its own, with its own tables
        options = ["--jobs", str(given.jobs)]
        options += ["--folds", str(given.folds)] if given.folds else []
        for name in names:
            subprocess.run(
                [*command_of(__file__), name, *options, "--runs", str(given.runs)], check=True
            )
        return
    warn_if_busy(Console())
    (name,) = names
    case, kept_as = CASES[name], name
    folds = given.folds or case.folds
    if folds != case.folds:
        kept_as += f"-{folds}-folds"
    if given.schemes:
        case = case._replace(schemes=tuple(given.schemes.split(",")))
        kept_as += "-" + "-".join(case.schemes or ())
    run(name, case, given.jobs, folds, given.runs, kept_as)


if __name__ == "__main__":
    main()
