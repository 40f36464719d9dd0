"""Times, memory, the machine they were taken on, and how they are shown and kept."""

import gc
import json
import os
import platform
import resource
import statistics
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

QUICK = "--quick" in sys.argv
"""Whether all is small, to see that a program runs through; its figures show nothing else."""
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ("build/benchmarks" if QUICK else "benchmarks") / "results"
PACKAGES = (
    *("midpoint", "numpy", "numba", "cornac", "lenskit", "scikit-surprise", "implicit", "pyspark"),
)
T = TypeVar("T")
S = TypeVar("S")
_shown: list[dict[str, Any]] = []
"""The tables that this program printed, which are kept with its figures."""


def options(parser: ArgumentParser, **quick: Any) -> Namespace:
    """Read a command line; `--quick`, which every program takes, has these small settings."""
    parser.add_argument("--quick", action="store_true", help="small data, to see that all runs")
    if QUICK:
        parser.set_defaults(**quick)
    return parser.parse_args()


def or_quick(usual: S, quick: S) -> S:
    """Return a setting that has no option of its own: the usual one, or the small one."""
    return quick if QUICK else usual


def command_of(program: str) -> list[str]:
    """Return what runs a program, given as its `__file__`, in a process of its own."""
    module = Path(program).relative_to(ROOT).with_suffix("")
    return [sys.executable, "-m", ".".join(module.parts)]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work gives and the seconds it took, with no rubbish left to collect."""
    gc.collect()
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def summary(seconds: Sequence[float]) -> dict[str, float]:
    """Return the best and the median of several runs."""
    return {"best": min(seconds), "median": statistics.median(seconds)}


def peak_memory() -> float:
    """Return the most memory this process has held so far, in megabytes.

    Linux hands `ru_maxrss` down from the parent through fork and exec, so the process's own
    high-water mark is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def usable_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def conditions() -> dict[str, Any]:
    """Say where and when figures are taken; a load above zero means that others were at work."""
    versions = {package: _installed(package) for package in PACKAGES}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": usable_cores(),
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "packages": {package: found for package, found in versions.items() if found},
    }


def warn_if_busy(console: Console) -> None:
    """Say so when other work would spoil the figures."""
    load = os.getloadavg()[0]
    if load > 0.5:
        console.print(f"[yellow]The machine is busy (load {load:.1f}): figures will be too high.")


def write_results(name: str, results: Mapping[str, Any]) -> Path:
    """Keep the figures, and the tables shown so far, beside the benchmark."""
    RESULTS.mkdir(exist_ok=True, parents=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**results, "tables": _shown}, indent=2) + "\n")
    return path


def forget_tables() -> None:
    """Begin again, where a program writes its figures more than once."""
    _shown.clear()


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table on standard output, and keep it for `write_results`."""
    _shown.append({"title": title, "head": list(head), "rows": [list(row) for row in rows]})
    console = Console(width=400)  # a row on one line, however long
    table = Table(box=box.MARKDOWN)
    for k, word in enumerate(head):
        table.add_column(word, justify="left" if k == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(f"\n{title}\n", highlight=False)
    console.print(table)
