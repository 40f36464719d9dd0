"""Write docs/results/benchmarks.md, its plots and the table in README: how `make bench` ends."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from benchmarks.measuring.measure import QUICK, RESULTS, ROOT, options, or_quick
from benchmarks.report import audit_chapter, panel_chapter
from benchmarks.report.chapters import CHAPTERS
from benchmarks.report.figures import FIGURES
from benchmarks.report.summary import rewrite
from benchmarks.report.verdicts import PEERS, verdict

DOCS, README = or_quick(ROOT / "docs", RESULTS.parent), ROOT / "README.md"
INTRODUCTION = """# Benchmarks

This page is written by `make bench` from the figures in `benchmarks/results`. Every section comes
from one run of one program in `benchmarks/`, unless its rows say when they were measured. Other
libraries ran beside Midpoint on the same machine, so ratios carry over to other machines, and
seconds do not. The *load* is how many
programs were running when the run began: with more than the number of cores, times are too long.
Below a table stands where another library wins. How the comparison is kept fair is in
`benchmarks/README.md`.
"""


def audits(results: Path) -> Iterator[str]:
    """Write the audits' part: a section for each run, older ones of a case after its newest."""
    newest: dict[str, audit_chapter.Audited] = {}
    for run in audit_chapter.runs(results):
        first = newest.setdefault(run.case, run)
        yield f"### {run.heading}\n"
        if run.when < first.when:
            yield f"An older run, of {run.when[0]}; the newest of {run.case} is above.\n"
        yield from chapter("audit", run.results)
        if rounds := audit_chapter.transcripts(results / f"{run.file}.csv"):
            yield from _table(**rounds)


def panels(results: Path) -> Iterator[str]:
    """Write what panels and reports teach: shares beside each other, curves, then each run."""
    measured = panel_chapter.runs(results)
    if not measured:
        return
    title = "RMSE of new users: a panel of 500, and everyone else's reports by their scheme"
    yield from _table(title, panel_chapter.SHARES, panel_chapter.shares(measured))
    yield "In brackets: beyond everyone's raw ratings, in the same folds.\n"
    if figure := panel_chapter.curves(measured):
        yield _picture("panel_and_reports", figure)
    for heading, run in panel_chapter.parts(measured):
        yield f"### {heading}\n"
        yield from chapter("panel_and_reports", run)


def chapter(name: str, results: Mapping[str, Any]) -> Iterator[str]:
    """Write one program's part: where it ran, its plot if it has one, its tables."""
    where = results.get("conditions", {})
    if where:
        program = results.get("program", CHAPTERS[name].program or name)
        code = f"; code `{results['code'][:12]}`" if results.get("code") else ""
        yield (
            f"`{_file_of(program)}`, {where['date']}, {where['cores']} cores, load"
            f" {where['load_before']:g} before the run{code}.\n"
        )
    figure = FIGURES[name](results) if name in FIGURES else None
    if figure is not None:
        yield _picture(name, figure)
    for entry in results.get("pictures", []):
        yield f"![{entry['text']}](../images/{entry['file']})\n"
    for table in (entry for entry in results.get("tables", []) if entry["rows"]):
        yield from _table(table["title"], table["head"], table["rows"])
    if results.get("said"):
        yield f"In words: {results['said']}.\n"
    said = verdict(name, results)
    if said is not None:
        yield f"{said}\n"


def _file_of(program: str) -> str:
    (file,) = (ROOT / "benchmarks").glob(f"*/{program}.py")
    return file.relative_to(ROOT).as_posix()


def _table(title: str, head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"**{title}**\n"
    yield _row(head)
    yield _row(["---"] + ["---:"] * (len(head) - 1))
    yield "\n".join(_row(row) for row in rows) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _picture(name: str, figure: Figure) -> str:
    """Save a chapter's figure beside the page, and return what shows it there."""
    path = DOCS / "images" / f"benchmark-{name.replace('_', '-')}.svg"
    path.parent.mkdir(exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = path.stem  # the same figures give the same bytes
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return f"![{CHAPTERS[name].title}](../images/{path.name})\n"


def main() -> None:
    mpl.use("svg")
    parts = [INTRODUCTION]
    options(ArgumentParser(description=__doc__))
    for name, (title, lead, _) in CHAPTERS.items():
        if name == "audit":  # a file for each data set and feature; the others have one
            written = list(audits(RESULTS))
        elif name == "panel_and_reports":
            written = list(panels(RESULTS))
        else:
            path = RESULTS / f"{name}.json"
            results = json.loads(path.read_text()) if path.exists() else {}
            written = list(chapter(name, results)) if results.get("tables") else []
        parts.extend([f"## {title}\n", f"{lead}\n", *written] if written else [])
        for said in (part for part in written if part.startswith(PEERS)):
            print(f"\n{title}\n{said.strip()}")
    page = DOCS / "results" / "benchmarks.md"
    page.write_text("\n".join(parts))
    print(f"\nAll of it is in {page}")
    if not QUICK:  # whose figures are nothing to show
        README.write_text(rewrite(README.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


if __name__ == "__main__":
    main()
