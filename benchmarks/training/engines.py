"""Fit time, memory and RMSE of the three engines, from 100 K to 50 M simulated ratings.

`local` has all ratings in memory, `stream` reads them from disk, `spark` runs on this machine's
cores. Sizes grow as in `scaling.py`. Each fit is a process of its own, from Parquet to item
profiles; RMSE is that of up to 5,000 users who were held out. What is measured already is kept: a
run goes on where the last one stopped. Seconds are given by the clock and as if nobody else had
been at work (`company.py`), and the latter are compared. Memory is that of all processes together,
Java's among them, with and without the pages of files, which the system takes back at need. Where
Spark is slower at every size, the crossing on several machines is extrapolated from start and slope
of both, as if a cluster's pace grew with its machines.
"""

import argparse
import json
import os
import subprocess
from dataclasses import replace
from math import inf
from pathlib import Path
from signal import SIGKILL
from tempfile import gettempdir
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.company import Company
from benchmarks.measuring.measure import (
    RESULTS,
    command_of,
    conditions,
    options,
    show,
    timed,
    warn_if_busy,
    write_results,
)
from benchmarks.measuring.memory import Watch
from benchmarks.training.crossing import (
    Points,
    bytes_a_rating,
    crossing,
    crossing_on,
    machines_to_keep_pace,
    pace,
)

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 50_000_000)
ENGINES = ("local", "stream", "spark")
HELD_OUT = 5_000
"""Users who are held out, at most; a tenth of fewer."""
DIMENSION = 20
SEED = 0


def tables(size: int, directory: Path) -> Path:
    """Simulate ratings and write them as Parquet, once: training users, and those held out."""
    import polars as pl  # noqa: PLC0415 - not in the child

    from midpoint.data import PRESETS, simulate  # noqa: PLC0415

    directory /= str(size)
    if (directory / "done").exists():
        return directory
    share = size / 1_000_209
    config = replace(
        PRESETS["simulated-movielens-1m"],
        users=round(6_040 * share),
        items=round(3_706 * share**0.5),
        ratings=size,
    )
    ratings = simulate(config, seed=SEED).ratings
    out = np.random.default_rng(SEED).permutation(ratings.n_users)
    held_out = np.zeros(ratings.n_users, np.bool_)
    held_out[out[: min(HELD_OUT, ratings.n_users // 10)]] = True
    directory.mkdir(parents=True, exist_ok=True)
    table = pl.DataFrame({"user": ratings.user, "item": ratings.item, "rating": ratings.value})
    hidden = held_out[ratings.user]
    table.filter(pl.Series(~hidden)).write_parquet(directory / "ratings.parquet")
    table.filter(pl.Series(hidden)).write_parquet(directory / "held_out.parquet")
    gender = ratings.feature("gender")
    labels = np.array(gender.categories)[gender.codes]
    people = pl.DataFrame({"user": np.arange(ratings.n_users, dtype=np.int32), "gender": labels})
    people.filter(pl.Series(~held_out)).write_parquet(directory / "users.parquet")
    (directory / "done").touch()
    return directory


def fit(engine: str, directory: Path) -> Any:
    """Go from Parquet to item profiles."""
    from midpoint.analyst import Factorizer  # noqa: PLC0415 - part of the child's memory

    source, users = directory / "ratings.parquet", directory / "users.parquet"
    factorizer = Factorizer(dimension=DIMENSION, seed=SEED)
    if engine == "local":
        from midpoint.data import load  # noqa: PLC0415

        return factorizer.fit(load(source, users=users), "gender")
    if engine == "stream":
        from midpoint.analyst.engines.streaming import fit_from_disk, scan  # noqa: PLC0415

        return fit_from_disk(factorizer, scan(source, users=users), ["gender"], workspace=directory)
    from midpoint.analyst.engines.spark import fit_on_spark, open_session, read_ratings  # noqa: PLC0415

    session = open_session()
    read = read_ratings(session, str(source), users=str(users), features=["gender"])
    return fit_on_spark(factorizer, read)


def error(profiles: Any, directory: Path) -> float:
    """Return the RMSE of new users."""
    import polars as pl  # noqa: PLC0415

    from midpoint.analyst.fit.tuning import new_user_errors  # noqa: PLC0415
    from midpoint.data import Ratings  # noqa: PLC0415

    table = pl.read_parquet(directory / "held_out.parquet")
    known = table.filter(pl.col("item").cast(pl.String).is_in(profiles.item_ids.tolist()))
    users = Ratings.from_columns(
        known["user"], known["item"], known["rating"], scale=profiles.scale
    )
    own = profiles.index_of(users.item_ids)
    order = np.lexsort((own[users.item], users.user))
    renamed = replace(
        users,
        item=own[users.item][order].astype(np.int32),
        value=users.value[order],
        item_ids=profiles.item_ids,
        item_names=profiles.item_names,
    )
    return float(np.sqrt((new_user_errors(profiles, renamed, seed=SEED) ** 2).mean()))


def measure(engine: str, directory: Path) -> dict[str, Any]:
    """Fit in this process, and say what it took."""
    company = Company(os.getpid())
    company.start()
    profiles, seconds = timed(lambda: fit(engine, directory))
    company.stop()
    return {
        "seconds": seconds,
        "alone_seconds": company.alone,
        "core_seconds": company.used,
        "items": profiles.n_items,
        "rmse": error(profiles, directory),
    }


def in_fresh_process(engine: str, directory: Path, patience: int) -> dict[str, Any]:
    """Measure in a process of its own, and watch its memory and that of its children."""
    out = directory / f"{engine}.json"
    command = [*command_of(__file__), "--measure", engine, str(directory), str(out)]
    with subprocess.Popen(command, process_group=0) as process:
        watch = Watch(process.pid)
        watch.start()
        try:
            code: int | str = process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, SIGKILL)  # its own children and nothing else
            code = f"more than {patience} s"
        watch.stop()
    if code:
        return {"failed": code, "peak_megabytes": watch.peak}
    measured: dict[str, Any] = json.loads(out.read_text())
    return measured | {"peak_megabytes": watch.peak, "peak_own_megabytes": watch.peak_own}


def _row(point: dict[str, Any], points: Points) -> list[str]:
    head = [point["engine"], f"{point['ratings']:,}"]
    if "failed" in point:
        why = f"failed ({point['failed']})"
        return [*head, "", why, "", "", f"{point['peak_megabytes']:,.0f}", ""]
    local = [p for p in points if (p["engine"], p["size"]) == ("local", point["size"])]
    own, ours = point["alone_seconds"], [p.get("alone_seconds") for p in local]
    return [
        *head,
        f"{own / ours[0]:.1f}" if ours and ours[0] else "",
        f"{own:.1f}",
        f"{point['seconds']:.1f}",
        f"{point['rmse']:.4f}",
        f"{point['peak_megabytes']:,.0f}",
        f"{point['peak_own_megabytes']:,.0f}",
    ]


def _summary(points: Points) -> dict[str, Any]:
    """Say what the points say of pace, memory and crossings."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    paces = {engine: pace(points, engine) for engine in ENGINES}
    per_rating = {engine: bytes_a_rating(points, engine) for engine in ENGINES}
    local, cluster = paces["local"], paces["spark"]
    crossings = {name: crossing(points, "local", name) for name in ("spark", "stream")}
    summary: dict[str, Any] = {
        "machine_megabytes": machine / 2**20,
        "bytes_a_rating": per_rating,
        "local_fills_machine_at": machine / max(per_rating["local"] or 1.0, 1.0),
        "pace": {name: one._asdict() for name, one in paces.items() if one},
        "as_fast_as_local_at": {name: _or_never(at) for name, at in crossings.items()},
    }
    if local and cluster and local.each > 0:
        least = machines_to_keep_pace(local, cluster)
        summary["machines_to_keep_pace"] = least
        summary["crossing_on_machines"] = {
            str(count): _or_never(crossing_on(count, local, cluster))
            for count in (2 * least, 10 * least)
        }
    return summary


def _or_never(at: float | None) -> float | str | None:
    return "never" if at == inf else at


def _explain(summary: dict[str, Any]) -> list[list[str]]:
    """Write the summary as rows of a table: what, and how much."""
    rows = []
    for name, one in summary["pace"].items():
        rows.append([f"{name}: seconds to begin, and for a million ratings",
                     f"{one['start']:.1f} + {1e6 * one['each']:.2f}"])  # fmt: skip
    for name, at in summary["as_fast_as_local_at"].items():
        measured = "not compared" if at is None else (
            "at no size measured, on one machine" if at == "never" else f"{at:,.0f} ratings on"
        )  # fmt: skip
        rows.append([f"{name}: as fast as local from", measured])
    if "machines_to_keep_pace" in summary:
        rows.append(["machines whose Spark keeps pace with local on one, at best",
                     f"{summary['machines_to_keep_pace']}"])  # fmt: skip
    for count, at in summary.get("crossing_on_machines", {}).items():
        never = "never" if at == "never" else f"{at / 1e6:,.1f} M ratings on"
        rows.append([f"extrapolated: Spark on {count} machines as fast as local from", never])
    full = summary["local_fills_machine_at"] / 1e6
    rows.append(["local fills this machine's memory at", f"{full:,.0f} M ratings"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of ratings")
    parser.add_argument("--most", type=int, help="leave out larger sizes")
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--again", action="store_true", help="measure again what is there already")
    parser.add_argument(
        "--directory", type=Path, default=Path(gettempdir()) / "midpoint-engines", help="for tables"
    )
    parser.add_argument("--patience", type=int, default=1200, help="seconds for one fit, at most")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    chosen = options(parser, sizes=[100_000])
    if chosen.measure:
        engine, directory, out = chosen.measure
        Path(out).write_text(json.dumps(measure(engine, Path(directory))))
        return
    console = Console(stderr=True)
    warn_if_busy(console)
    kept = RESULTS / "engines.json"
    before = json.loads(kept.read_text()) if kept.exists() and not chosen.again else {"points": []}
    points: Points = [p for p in before["points"] if _stands(p) or "failed" in p]
    for size in chosen.sizes:
        if chosen.most and size > chosen.most:
            continue
        for engine in chosen.engines:
            if any((p["engine"], p["size"]) == (engine, size) and _stands(p) for p in points):
                continue
            console.print(f"{engine}, {size:,} ratings ...")
            directory = tables(size, chosen.directory)
            start = conditions()
            measured = in_fresh_process(engine, directory, chosen.patience)
            points = [p for p in points if (p["engine"], p["size"]) != (engine, size)]
            facts = {"engine": engine, "size": size, "ratings": _rows(directory)}
            points.append({**facts, **measured})
            points.sort(key=lambda point: (point["size"], ENGINES.index(point["engine"])))
            kept_now = {"conditions": start, "summary": _summary(points), "points": points}
            write_results("engines", kept_now)
    head = (
        *("engine", "ratings", "times local's", "seconds alone", "by the clock"),
        *("RMSE of new users", "peak MB", "without files"),
    )
    rows = [_row(point, points) for point in points]
    show(f"From Parquet to item profiles, d = {DIMENSION}", head, rows)
    summary = _summary(points)
    show("Pace and crossings", ("what", "measured or derived"), _explain(summary))
    write_results("engines", {**json.loads(kept.read_text()), "summary": summary})


def _stands(point: dict[str, Any]) -> bool:
    """Tell whether a figure need not be taken again."""
    return "alone_seconds" in point


def _rows(directory: Path) -> int:
    import polars as pl  # noqa: PLC0415 - not in the child

    count: int = pl.scan_parquet(directory / "ratings.parquet").select(pl.len()).collect().item()
    return count


if __name__ == "__main__":
    main()
