"""Write docs/benchmarks.md and its plots from the figures in results/: how `make bench` ends."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

from verdicts import leak, verdict

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
CHAPTERS = {
    "factorisation": "Factorisation beside the peers",
    "new_users": "People who were not there at training",
    "privacy": "Privacy beside what people would use instead",
    "audit": "The audit in full",
    "scaling": "Growing data on one machine",
    "engines": "One machine and a cluster",
    "selection": "Choosing what to ask",
    "obfuscation": "Making ratings private",
    "service": "The service under load",
    "service_faults": "The service, killed and abused",
    "page": "The page",
    "sizes": "What is sent",
}
INTRODUCTION = """# Benchmarks

Every table comes from one run of one program in `benchmarks/`, the peers beside us on the same
machine; ratios carry over to other machines, seconds do not. Where a peer wins is said below its
table.
`make bench` runs them again and writes this page; how it is kept fair is in `benchmarks/README.md`.
"""
MARKERS = "osD^vPX*<>hd"


def chapter(name: str, title: str, found: Mapping[str, Any]) -> Iterator[str]:
    """Write one program's part: where it ran, its plot if it has one, its tables."""
    where = found.get("conditions", {})
    if where:
        yield (
            f"`benchmarks/{name}.py`, {where['date']}, {where['cores']} cores, load"
            f" {where['load_before']:g} before the run.\n"
        )
    picture = PLOTS[name](found) if name in PLOTS else None
    if picture is not None:
        yield f"![{title}](images/{picture.name})\n"
    for one in found.get("pictures", []):
        yield f"![{one['text']}](images/{one['file']})\n"
    for table in found.get("tables", []):
        yield f"**{table['title']}**\n"
        yield _row(table["head"])
        yield _row(["---"] + ["---:"] * (len(table["head"]) - 1))
        yield "\n".join(_row(row) for row in table["rows"]) + "\n"
    said = verdict(name, found)
    if said is not None:
        yield f"{said}\n"


def privacy(found: Mapping[str, Any]) -> Path:
    """Draw what leaks against what it costs; the best is at the lower left."""
    data = found["data"]
    figure, axes = plt.subplots(1, len(data), figsize=(4.2 * len(data), 4.6), squeeze=False)
    names = list(dict.fromkeys(name for rows in data.values() for name in rows))
    for axis, (title, rows) in zip(axes[0], data.items(), strict=True):
        for name, one in rows.items():
            kind = names.index(name)
            marker, color = MARKERS[kind % len(MARKERS)], f"C{kind % 10}"
            axis.plot(100 * one["cost"], leak(one), marker, color=color, ms=8)
        axis.axhspan(0.5, max(one["null"] for one in rows.values()), color="0.9")
        axis.set(title=title, xlabel="cost, % RMSE", ylabel="strongest attacker, AUC")
        axis.set_ylim(0.48, 1.02)
    handles = [
        Line2D([], [], ls="", marker=MARKERS[k % len(MARKERS)], color=f"C{k % 10}", label=name)
        for k, name in enumerate(names)
    ]
    figure.legend(handles=handles, loc="lower center", ncols=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.04 + 0.03 * len(names) / 2, 1, 1))
    return _saved(figure, "benchmark-privacy")


def factorisation(found: Mapping[str, Any]) -> Path:
    """Draw the error against the time to build and fit; the best is at the lower left."""
    rows = [one for one in found["contestants"].values() if one.get("rmse")]
    figure, axis = plt.subplots(figsize=(7, 4))
    for k, one in enumerate(rows):
        axis.semilogx(one["total"]["best"], one["rmse"], MARKERS[k], label=one["name"], ms=8)
    axis.set(xlabel="seconds to build and fit, best of several", ylabel="RMSE")
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    return _saved(figure, "benchmark-factorisation")


def engines(found: Mapping[str, Any]) -> Path | None:
    """Draw time and memory of a fit against the number of ratings, for each engine."""
    points = [one for one in found.get("points", []) if "alone_seconds" in one]
    if not points:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    for k, engine in enumerate(dict.fromkeys(one["engine"] for one in points)):
        own = sorted((p for p in points if p["engine"] == engine), key=lambda p: p["ratings"])
        for axis, name in zip(axes, ("alone_seconds", "peak_own_megabytes"), strict=True):
            size, height = [p["ratings"] for p in own], [p[name] for p in own]
            axis.loglog(size, height, marker=MARKERS[k], label=engine)
    axes[0].set(xlabel="ratings", ylabel="seconds from Parquet to profiles, alone")
    axes[1].set(xlabel="ratings", ylabel="peak memory without files, MB")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    return _saved(figure, "benchmark-engines")


PLOTS = {"factorisation": factorisation, "privacy": privacy, "engines": engines}


def _heading(file: str) -> str:
    """Tell the schemes of an audit from what was audited, where not all were."""
    name, _, rest = file.partition("-no-")
    return f"{name}: {', '.join(['no', *rest.split('-')])}" if rest else name


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
    for name, title in CHAPTERS.items():
        # An audit has a file for each data set and feature; the others have one.
        files = sorted(
            (HERE / "results").glob("audit-*.json" if name == "audit" else f"{name}.json")
        )
        read = [(path.stem.removeprefix("audit-"), json.loads(path.read_text())) for path in files]
        found = [(file, one) for file, one in read if one.get("tables")]
        for file, one in found:
            parts.extend([f"## {title}\n"] if one is found[0][1] else [])
            parts.extend([f"### {_heading(file)}\n"] if len(found) > 1 else [])
            parts.extend(chapter(name, title, one))
    (DOCS / "benchmarks.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
