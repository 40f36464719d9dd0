"""What counterparts cost on each engine: time and memory with and without them.

Simulated ratings, as in `engines.py`, and Flixster's size. Each training is a process of its own,
from Parquet to item profiles, by `train_on`: once for `dmpss`, once for the default scheme. Bars:
at 10 M ratings `stream` takes at most twice its time without, and at Flixster's size at most 1 GB.
Seconds are as if nobody else had been at work (`company.py`); core seconds are beside them.
"""

import argparse
import json
import os
import subprocess
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
from benchmarks.training.engines import DIMENSION, SEED, tables

FLIXSTER = "flixster"
POINTS = (("local", FLIXSTER), ("stream", "1000000"), ("stream", FLIXSTER), ("stream", "10000000"),
          ("spark", "1000000"), ("spark", "10000000"))  # fmt: skip
SCHEMES = ("dmpss", "cmpss")
TIMES_BAR, MEGABYTES_BAR = 2.0, 1024.0
NAME = "engine_counterparts"


def directory_of(size: str, directory: Path) -> Path:
    """Write the tables, once."""
    if size != FLIXSTER:
        return tables(int(size), directory)
    import polars as pl  # noqa: PLC0415 - not in the child

    from midpoint.data import PRESETS, simulate  # noqa: PLC0415

    directory /= FLIXSTER
    if not (directory / "done").exists():
        directory.mkdir(parents=True, exist_ok=True)
        ratings = simulate(PRESETS["simulated-flixster"], seed=SEED).ratings
        columns = {"user": ratings.user, "item": ratings.item, "rating": ratings.value}
        pl.DataFrame(columns).write_parquet(directory / "ratings.parquet")
        gender = ratings.feature("gender")
        labels = np.array(gender.categories)[gender.codes]
        people = {"user": np.arange(ratings.n_users, dtype=np.int32), "gender": labels}
        pl.DataFrame(people).write_parquet(directory / "users.parquet")
        (directory / "done").touch()
    return directory


def measure(engine: str, scheme: str, directory: Path) -> dict[str, Any]:
    """Train in this process, and say what it took."""
    from midpoint.analyst import Factorizer  # noqa: PLC0415 - part of the child's memory
    from midpoint.analyst.engines import RatingsTables, StreamingEngine, train_on  # noqa: PLC0415

    def run() -> Any:
        if engine == "local":
            from midpoint.analyst import train  # noqa: PLC0415
            from midpoint.data import load  # noqa: PLC0415

            ratings = load(directory / "ratings.parquet", users=directory / "users.parquet")
            how = Factorizer(dimension=DIMENSION, seed=SEED)
            return train(ratings, "gender", factorizer=how, scheme=scheme)
        source = (directory / "ratings.parquet", directory / "users.parquet")
        if engine == "stream":
            read = StreamingEngine(directory).read(RatingsTables(*source, features=("gender",)))
            return train_on(read, Factorizer(dimension=DIMENSION, seed=SEED), scheme=scheme)
        from midpoint.analyst.engines.spark import SparkEngine, open_session  # noqa: PLC0415

        on_spark = SparkEngine(open_session()).read(RatingsTables(*source, features=("gender",)))
        return train_on(on_spark, Factorizer(dimension=DIMENSION, seed=SEED), scheme=scheme)

    company = Company(os.getpid())
    company.start()
    profiles, seconds = timed(run)
    company.stop()
    facts = {"seconds": seconds, "alone_seconds": company.alone, "core_seconds": company.used}
    return facts | {"items": profiles.n_items, "positions": profiles.positions is not None}


def in_fresh_process(engine: str, scheme: str, directory: Path, patience: int) -> dict[str, Any]:
    """Measure in a process of its own, and watch its memory and that of its children."""
    out = directory / "out.json"
    given = [engine, scheme, str(directory), str(out)]
    with subprocess.Popen([*command_of(__file__), "--measure", *given], process_group=0) as process:
        watch = Watch(process.pid)
        watch.start()
        try:
            code: int | str = process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, SIGKILL)  # its own children and nothing else
            code = f"more than {patience} s"
        watch.stop()
    peaks = {"peak_megabytes": watch.peak, "peak_own_megabytes": watch.peak_own}
    return {"failed": code, **peaks} if code else json.loads(out.read_text()) | peaks


def _row(point: dict[str, Any]) -> list[str]:
    without, counterparts = point["dmpss"], point["cmpss"]
    if "failed" in without or "failed" in counterparts:
        return [point["engine"], point["size"], "failed", *5 * ("",)]
    return [
        point["engine"],
        point["size"],
        f"{without['alone_seconds']:.1f}",
        f"{counterparts['alone_seconds']:.1f}",
        f"{counterparts['alone_seconds'] / without['alone_seconds']:.2f}",
        f"{without['core_seconds']:.1f} / {counterparts['core_seconds']:.1f}",
        f"{without['peak_megabytes']:,.0f} / {counterparts['peak_megabytes']:,.0f}",
        f"{point['conditions']['date']}, load {point['conditions']['load_before']:g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", nargs="+", default=[f"{e}:{s}" for e, s in POINTS],
                        help="engine:ratings, or engine:flixster")  # fmt: skip
    parser.add_argument(
        "--directory", type=Path, default=Path(gettempdir()) / "midpoint-engines", help="for tables"
    )
    parser.add_argument("--patience", type=int, default=1200, help="seconds for one, at most")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    chosen = options(parser, points=["stream:100000", "spark:100000"])
    if chosen.measure:
        engine, scheme, directory, out = chosen.measure
        Path(out).write_text(json.dumps(measure(engine, scheme, Path(directory))))
        return
    console = Console(stderr=True)
    warn_if_busy(console)
    path = RESULTS / f"{NAME}.json"
    points = json.loads(path.read_text())["points"] if path.exists() else []
    for engine, size in (text.split(":") for text in chosen.points):
        where = directory_of(size, chosen.directory)
        start, measured = conditions(), {}
        for scheme in SCHEMES:
            console.print(f"{engine}, {size}, {scheme} ...")
            measured[scheme] = in_fresh_process(engine, scheme, where, chosen.patience)
        points = [p for p in points if (p["engine"], p["size"]) != (engine, size)]
        points.append({"engine": engine, "size": size, "conditions": start, **measured})
        bars = {"times_bar": TIMES_BAR, "megabytes_bar": MEGABYTES_BAR}
        kept = {"conditions": start, **bars, "points": points}
        write_results(NAME, kept)
    head = ["engine", "ratings", "seconds without", "with", "times", "core seconds", "peak MB"]
    head.append("measured")
    show("Training without and with counterparts", head, [_row(point) for point in points])
    if chosen.points:
        write_results(NAME, kept)  # with the table


if __name__ == "__main__":
    main()
