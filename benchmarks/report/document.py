"""Write docs/results/benchmarks.md, its plots and the table in README: how `make bench` ends."""

import csv
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

from benchmarks.measuring.measure import QUICK, RESULTS, ROOT, options, or_quick
from benchmarks.report import panel_chapter
from benchmarks.report.summary import rewrite
from benchmarks.report.verdicts import PEERS, leak, verdict

DOCS, README = or_quick(ROOT / "docs", RESULTS.parent), ROOT / "README.md"
CHAPTERS = {
    "factorization": "Factorization beside the peers",
    "sets": "Clicks, plays and purchases beside the peers",
    "new_users": "People who were not there at training",
    "panel_and_reports": "A small panel, and everyone else's reports",
    "privacy": "Privacy beside what people would use instead",
    "privacy_sets": "Privacy of sets beside what people would use instead",
    "paper_model": "What the paper's model leaves open",
    "audit": "The audit in full",
    "scaling": "Growing data on one machine",
    "engines": "One machine and a cluster",
    "engine_counterparts": "Counterparts on disk and on a cluster",
    "counterparts": "Training with counterparts",
    "selection": "Choosing what to ask",
    "obfuscation": "Making ratings private",
    "single_call": "What one call costs",
    "service": "The service under load",
    "service_reads": "What devices read, beside an earlier version",
    "service_faults": "The service, killed and abused",
    "service_soak": "The service over a long time, with kills and hostile requests",
    "service_hostile": "The service with one hostile token among 10,000",
    "page": "The page",
    "sizes": "What is sent",
}
PROGRAMS = {"privacy_sets": "privacy"}
"""Which program wrote results, where it is not called like them."""
INTRODUCTION = """# Benchmarks

This page is written by `make bench` from the figures in `benchmarks/results`. Every section comes
from one run of one program in `benchmarks/`, unless its rows say when they were measured. Other
libraries ran beside Midpoint on the same machine, so ratios carry over to other machines, and
seconds do not. The *load* is how many
programs were running when the run began: with more than the number of cores, times are too long.
Below a table stands where another library wins. How the comparison is kept fair is in
`benchmarks/README.md`.
"""
LEADS = {
    "factorization": "Time to build the data and to fit, and the error on a random tenth of"
    " MovieLens 1M. *Quick* has the fewest passes that come below an RMSE of 0.853, *best* the"
    " least error; LensKit's quick row does not come below. A ratio of 2 is twice Midpoint's time.",
    "sets": "Sets of films that people liked. NDCG@10 of lists for new people, and processor time.",
    "new_users": "The error for people who were not in the training data, and the time to estimate"
    " one profile: one call for each person, or one call for many.",
    "panel_and_reports": "The error for new people, if some people share their feature (the panel)"
    " and everyone else sends protected reports.",
    "privacy": "What leaks, and what it costs, under Midpoint's schemes and under methods that"
    " people would use instead. The same attackers attack all of them.",
    "privacy_sets": "The same for sets: what leaks, and what lists lose, for our recommender and"
    " for implicit's, which is trained on the protected copy.",
    "paper_model": "The paper does not say how its analyst handles means and penalties. Here are"
    " the results of several ways.",
    "audit": "An AUC of 0.5 is a blind guess, and 1 is certainty. A section's name says what was"
    " audited: the data set and the feature, and then perhaps `default` (the scheme that `midpoint"
    " train` chooses), `outsiders` (the attackers also know the category of users outside the"
    " panel), `rounds` (several rounds of questions), `liked` (sets of liked items), `section-7`"
    " and `paper` (the paper's experiment), or the schemes where not all were tried. Without"
    " `outsiders` the attackers know the category of the panel's members only.",
    "scaling": "Time and memory of training as the number of ratings grows.",
    "engines": "Time, memory and error of the three engines as the number of ratings grows.",
    "engine_counterparts": "Time and memory of training with counterparts and without.",
    "counterparts": "Time of `midpoint train` with counterparts, and of its parts.",
    "selection": "Time to choose the items that a person is asked about.",
    "obfuscation": "Time to protect ratings.",
    "single_call": "Processor time of single calls.",
    "service": "Requests a second and their latency, beside endpoints that do nothing. Cornac's"
    " serving app looks up factors of people whom it knows; Midpoint estimates a profile from kept"
    " reports.",
    "service_reads": "The requests that devices make most, beside an earlier version of Midpoint"
    " and Cornac's serving app.",
    "service_faults": "The service and its database are killed while reports come in; no report"
    " that was acknowledged may be lost.",
    "service_soak": "Honest and hostile clients over a long time, while processes are killed.",
    "service_hostile": "How much one hostile client slows the others down.",
    "page": "The page in a browser, on a simulated phone.",
    "sizes": "Sizes of messages and files.",
}
"""What each chapter shows, in a sentence or two."""
MARKERS = "osD^vPX*<>hd"
AUDIT_FILE = re.compile(r"(?P<case>.+?)(-(?P<folds>\d+)-folds)?(-no-(?P<schemes>.+))?")
"""How results of an audit are called: what was audited, then what was less than usual."""


class Audited(NamedTuple):
    """Results of one audit."""

    case: str
    """What was audited."""
    folds: int | None
    """Number of folds where it was not the usual one."""
    schemes: tuple[str, ...]
    """The schemes where not all were tried."""
    file: str
    """Its file, without the ending."""
    results: Mapping[str, Any]
    """What is in it."""

    @property
    def when(self) -> tuple[str, str]:
        """Day and time of the run; older results have no time."""
        where = self.results["conditions"]
        return where["date"], where.get("time", "")

    @property
    def heading(self) -> str:
        """What was audited, and how much of it."""
        folds = f", {self.folds} folds" if self.folds else ""
        return f"{self.case}{folds}" + (f": {', '.join(self.schemes)}" if self.schemes else "")


def audits(results: Path) -> Iterator[str]:
    """Write the audits' part: of each case the newest first, and of one day that of all schemes."""
    read = [_audited(path) for path in sorted(results.glob("audit-*.json"))]
    newest = {run.case: max(r.when for r in read if r.case == run.case) for run in read}
    read.sort(key=lambda run: (not run.schemes, run.folds is None, run.folds or 0), reverse=True)
    read.sort(key=lambda run: run.when, reverse=True)
    for run in sorted(read, key=lambda run: run.case):
        yield f"### {run.heading}\n"
        if run.when < newest[run.case]:
            yield f"An older run, of {run.when[0]}; the newest of {run.case} is above.\n"
        yield from chapter("audit", CHAPTERS["audit"], run.results)
        yield from transcripts(results / f"{run.file}.csv")


def panels(results: Path) -> Iterator[str]:
    """Write what panels and reports teach: shares beside each other, curves, then each run."""
    measured = panel_chapter.runs(results)
    if not measured:
        return
    yield "**RMSE of new users: a panel of 500, and everyone else's reports by their scheme**\n"
    yield from _table(panel_chapter.SHARES, panel_chapter.shares(measured))
    yield "In brackets: beyond everyone's raw ratings, in the same folds.\n"
    if figure := panel_chapter.curves(measured):
        picture = _saved(figure, "benchmark-panel-and-reports")
        yield f"![{CHAPTERS['panel_and_reports']}](../images/{picture.name})\n"
    for heading, run in panel_chapter.parts(measured):
        yield f"### {heading}\n"
        yield from chapter("panel_and_reports", heading, run)


def transcripts(path: Path) -> Iterator[str]:
    """Write a table of what whole transcripts leak, by kind of device, if rounds were held."""
    rows = list(_of_rounds(path)) if path.exists() else []
    if not rows:
        return
    devices = list(dict.fromkeys(row["scheme"] for row in rows))
    raw, product = (one for one in devices if one.rpartition(":")[2].startswith("rounds="))
    scheme, _, rounds = product.partition(":rounds=")
    short = {raw: "raw", product: "decisions final"}
    cells = {(row["scheme"], row["attack"]): _area(row) for row in rows}
    yield f"**{scheme}, whole transcripts of {rounds} rounds, {rows[0]['folds']} folds: AUC**\n"
    head = [short.get(one, one.rpartition(":")[2]) for one in devices]
    body = [
        [attack, *(cells.get((one, attack), "") for one in devices)]
        for attack in dict.fromkeys(row["attack"] for row in rows)
    ]
    yield from _table(["attacker", *head], body)


def _of_rounds(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if ":rounds=" in row["scheme"] and row["metric"] == "auc" and "[" not in row["attack"]:
                yield row


def _area(row: Mapping[str, str]) -> str:
    value, low, high = (float(row[key]) for key in ("value", "low", "high"))
    return f"{value:.3f} ({low:.3f}-{high:.3f})"


def _audited(path: Path) -> Audited:
    name = AUDIT_FILE.fullmatch(path.stem.removeprefix("audit-"))
    if name is None:
        raise ValueError(f"{path} is not called as results of an audit are")
    rest = name["schemes"]
    return Audited(
        name["case"],
        int(name["folds"]) if name["folds"] else None,
        ("no", *rest.split("-")) if rest else (),
        path.stem,
        json.loads(path.read_text()),
    )


def chapter(name: str, title: str, results: Mapping[str, Any]) -> Iterator[str]:
    """Write one program's part: where it ran, its plot if it has one, its tables."""
    where = results.get("conditions", {})
    if where:
        program = results.get("program", PROGRAMS.get(name, name))
        code = f"; code `{results['code'][:12]}`" if results.get("code") else ""
        yield (
            f"`{_file_of(program)}`, {where['date']}, {where['cores']} cores, load"
            f" {where['load_before']:g} before the run{code}.\n"
        )
    picture = PLOTS[name](results) if name in PLOTS else None
    if picture is not None:
        yield f"![{title}](../images/{picture.name})\n"
    for entry in results.get("pictures", []):
        yield f"![{entry['text']}](../images/{entry['file']})\n"
    for table in (entry for entry in results.get("tables", []) if entry["rows"]):
        yield f"**{table['title']}**\n"
        yield from _table(table["head"], table["rows"])
    if results.get("said"):
        yield f"In words: {results['said']}.\n"
    said = verdict(name, results)
    if said is not None:
        yield f"{said}\n"


def _file_of(program: str) -> str:
    (file,) = (ROOT / "benchmarks").glob(f"*/{program}.py")
    return file.relative_to(ROOT).as_posix()


def privacy(results: Mapping[str, Any]) -> Path:
    """Draw what leaks against what it costs; the best is at the lower left."""
    data = results["data"]
    figure, axes = plt.subplots(1, len(data), figsize=(4.2 * len(data), 4.6), squeeze=False)
    names = list(dict.fromkeys(name for rows in data.values() for name in rows))
    for axis, (title, rows) in zip(axes[0], data.items(), strict=True):
        for name, row in rows.items():
            kind = names.index(name)
            marker, color = MARKERS[kind % len(MARKERS)], f"C{kind % 10}"
            axis.plot(100 * row["cost"], leak(row), marker, color=color, ms=8)
        axis.axhspan(0.5, max(row["null"] for row in rows.values()), color="0.9")
        axis.set(title=title, xlabel="cost, % RMSE", ylabel="strongest attacker, AUC")
        axis.set_ylim(0.48, 1.02)
    handles = [
        Line2D([], [], ls="", marker=MARKERS[k % len(MARKERS)], color=f"C{k % 10}", label=name)
        for k, name in enumerate(names)
    ]
    figure.legend(handles=handles, loc="lower center", ncols=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.04 + 0.03 * len(names) / 2, 1, 1))
    return _saved(figure, "benchmark-privacy")


def factorization(results: Mapping[str, Any]) -> Path:
    """Draw the error against the time to build and fit; the best is at the lower left."""
    rows = [row for row in results["contestants"].values() if row.get("rmse")]
    figure, axis = plt.subplots(figsize=(7, 4))
    for k, row in enumerate(rows):
        axis.semilogx(row["total"]["best"], row["rmse"], MARKERS[k], label=row["name"], ms=8)
    axis.set(xlabel="seconds to build and fit, best of several", ylabel="RMSE")
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    return _saved(figure, "benchmark-factorization")


def engines(results: Mapping[str, Any]) -> Path | None:
    """Draw time and memory of a fit against the number of ratings, for each engine."""
    points = [point for point in results.get("points", []) if "alone_seconds" in point]
    if not points:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    for k, engine in enumerate(dict.fromkeys(point["engine"] for point in points)):
        own = sorted((p for p in points if p["engine"] == engine), key=lambda p: p["ratings"])
        for axis, name in zip(axes, ("alone_seconds", "peak_own_megabytes"), strict=True):
            size, height = [p["ratings"] for p in own], [p[name] for p in own]
            axis.loglog(size, height, marker=MARKERS[k], label=engine)
    axes[0].set(xlabel="ratings", ylabel="seconds from Parquet to profiles, alone")
    axes[1].set(xlabel="ratings", ylabel="peak memory without files, MB")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    return _saved(figure, "benchmark-engines")


PLOTS = {"factorization": factorization, "privacy": privacy, "engines": engines}


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield _row(head)
    yield _row(["---"] + ["---:"] * (len(head) - 1))
    yield "\n".join(_row(row) for row in rows) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _saved(figure: Any, name: str) -> Path:
    path = DOCS / "images" / f"{name}.svg"
    path.parent.mkdir(exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = name  # the same figures give the same bytes
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def main() -> None:
    mpl.use("svg")
    parts = [INTRODUCTION]
    options(ArgumentParser(description=__doc__))
    for name, title in CHAPTERS.items():
        if name == "audit":  # a file for each data set and feature; the others have one
            written = list(audits(RESULTS))
        elif name == "panel_and_reports":
            written = list(panels(RESULTS))
        else:
            path = RESULTS / f"{name}.json"
            results = json.loads(path.read_text()) if path.exists() else {}
            written = list(chapter(name, title, results)) if results.get("tables") else []
        parts.extend([f"## {title}\n", f"{LEADS[name]}\n", *written] if written else [])
        for said in (part for part in written if part.startswith(PEERS)):
            print(f"\n{title}\n{said.strip()}")
    page = DOCS / "results" / "benchmarks.md"
    page.write_text("\n".join(parts))
    print(f"\nAll of it is in {page}")
    if not QUICK:  # whose figures are nothing to show
        README.write_text(rewrite(README.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


if __name__ == "__main__":
    main()
