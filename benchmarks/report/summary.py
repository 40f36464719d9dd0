"""The table of speed and error in README, written from the figures in results/."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.report.verdicts import merged

BEGIN, END = "<!-- written by make bench -->", "<!-- end -->"
HEAD = ("", "Midpoint", "others", "measured")
PAPER = "the paper 0.919"
"""Its error for new users of MovieLens 1M, beside ours."""
Measured = Mapping[str, Any]


def new_users(results: Measured) -> Iterator[tuple[str, str, str]]:
    """Compare the error of all folds, and the time one profile takes."""
    (_, ours), *peers = ((name, merged(folds)) for name, folds in results["folds"].items())
    errors = [f"{name} {peer['rmse']:.3f}" for name, peer in peers if "rmse" in peer]
    yield (
        "error for new users, no obfuscation (RMSE, 10 folds of users, 70/30)",
        f"{ours['rmse']:.3f}",
        ", ".join([PAPER, *errors]),
    )
    times = [f"{name} {min(_times(peer)):.0f} µs" for name, peer in peers if _times(peer)]
    yield (
        "one new person's profile, of many in one call",
        f"{ours['in_one_call']:.0f} µs",
        ", ".join(times),
    )
    alone = [f"{name} {peer['one_by_one']:.0f} µs" for name, peer in peers if "one_by_one" in peer]
    yield ("one new person's profile, alone", f"{ours['one_by_one']:.0f} µs", ", ".join(alone))


def _times(peer: Mapping[str, float]) -> list[float]:
    return [peer[key] for key in ("in_one_call", "one_by_one") if key in peer]


def factorization(results: Measured) -> Iterator[tuple[str, str, str]]:
    """Compare the best errors, and the times to build the data and to fit."""
    rows = results["contestants"]
    peers = {name: row for name, row in rows.items() if not name.startswith("midpoint")}
    best = {
        name.removesuffix("-best"): row["rmse"] for name, row in peers.items() if row.get("rmse")
    }  # a peer's best row comes after its quick one
    yield (
        "error on a random 90/10 split (RMSE)",
        f"{rows['midpoint-best']['rmse']:.3f}",
        ", ".join(f"{_library(peers[name])} {error:.3f}" for name, error in best.items()),
    )
    quick = rows["midpoint"]
    ratios = [
        f"{_library(row)} {row['total']['best'] / quick['total']['best']:.1f} times"
        f" ({row['rmse']:.3f})"
        for name, row in peers.items()
        if row.get("rmse") and not name.endswith("-best")
    ]
    yield (
        f"build the data and fit to RMSE {quick['rmse']:.3f}",
        f"{quick['total']['best']:.2f} s",
        ", ".join(ratios),
    )


def _library(row: Measured) -> str:
    return str(row["name"]).split()[0].rstrip(",")


def counterparts(results: Measured) -> Iterator[tuple[str, str, str]]:
    """State what the whole command takes."""
    if "command" in results:
        yield (
            "`midpoint train --counterparts sets`, from start to end, no scheme chosen by attacks",
            f"{results['command']['best']:.1f} s",
            "",
        )


def scaling(results: Measured) -> Iterator[tuple[str, str, str]]:
    """State the memory at the size of the paper's largest data."""
    size = results["flixster"]
    ratings = f"{size['ratings'] / 1e6:.1f} M ratings"
    yield (
        f"memory to fit item profiles at Flixster's size, {ratings}, without counterparts",
        f"{size['peak_megabytes']:.0f} MB",
        "",
    )


def engine_counterparts(results: Measured) -> Iterator[tuple[str, str, str]]:
    """State the same with counterparts, by engine."""
    sized = {
        point["engine"]: point["cmpss"]
        for point in results["points"]
        if point["size"] == "flixster"
    }
    if sized:
        ours = ", ".join(f"`{name}` {one['peak_megabytes']:.0f} MB" for name, one in sized.items())
        yield ("the same from Parquet, with counterparts (`cmpss`), by engine", ours, "")


def obfuscation(results: Measured) -> Iterator[tuple[str, str, str]]:
    """State the time for a million ratings."""
    seconds = results["schemes"]["dmpss"]["with_coins"]["best"]
    yield (
        f"{results['ratings'] / 1e6:.0f} M ratings made private (`dmpss`)",
        f"{seconds:.1f} s",
        "",
    )


ROWS = {
    "new_users": new_users,
    "factorization": factorization,
    "counterparts": counterparts,
    "scaling": scaling,
    "engine_counterparts": engine_counterparts,
    "obfuscation": obfuscation,
}
"""By the name of the program whose figures they show."""


def table(results: Path) -> str:
    """Write the table, with the day and the load of each run."""
    lines = [_line(HEAD), "|---|---|---|---|"]
    for name, rows in ROWS.items():
        path = results / f"{name}.json"
        if path.exists():
            measured = json.loads(path.read_text())
            where = measured["conditions"]
            day = f"{where['date']}, {where['cores']} cores, load {where['load_before']:g}"
            lines += [
                _line((what, f"**{ours}**", others, day)) for what, ours, others in rows(measured)
            ]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def rewrite(text: str, results: Path) -> str:
    """Return README's text with the table between its marks written again."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"README has no table between {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"
