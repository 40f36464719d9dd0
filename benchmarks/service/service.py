"""Load on the service, beside bare endpoints of the same durability, in one run.

Scores are beside Cornac's serving app where it is installed (`make bench` does so). It looks up
factors that it made in training, of people it knows; ours first estimates a profile from the
reports that it keeps of somebody new. `--reads` leaves reports out, and `--before TREE` measures
what another checkout answers in the same run.
"""

import argparse
import json
import os
import random
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from benchmarks.measuring.measure import (
    ROOT,
    conditions,
    options,
    show,
    warn_if_busy,
    write_results,
)
from benchmarks.service import bare_service, cornac_app
from benchmarks.service.loading import (
    Figures,
    databases,
    load,
    ours,
    published,
    serving,
    wrk,
)
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.state.acceptance import OpenRound
from midpoint.analyst.storage import Storage, migrate
from midpoint.analyst.storage.connection import connect
from midpoint.wire import ONE, Report, Solicitation, SolicitationRequest, digest

CONNECTIONS = (1, 32, 256)
JUDGED = 32
"""Connections at which the bars are."""
KINDS = ("service", "plain", "group", "validate")
PLAIN_BAR, GROUP_BAR = 1.0, 0.6
"""Ours beside the plain and the group-committing bare endpoint, at 32 connections, at least."""
DIMENSION = 20
"""Of Cornac's factors: as many as ours."""
SCORES_BAR = 3.0
"""Ours beside those of another checkout, at 32 connections, at least."""
SCORES = ("/v1/scores?top=10&margin=100", "/v1/scores")
BEFORE = """
import argparse, json, sys, tempfile
from pathlib import Path
from benchmarks.service import loading, service
service.CONNECTIONS = (1, 32)
with tempfile.TemporaryDirectory() as name:
    site = loading.published(Path(name) / "site")
    fresh = dict(loading.databases(Path(name), postgresql=False))["sqlite"]
    how = argparse.Namespace(seconds=int(sys.argv[1]), workers=int(sys.argv[2]))
    print(json.dumps(service.measure_reads(site, fresh, Path(name), how)))
"""
"""Measures what devices read of another checkout, by its own benchmark."""


def bare(kind: str, url: str, workers: int) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a bare endpoint."""
    command = [
        "-m",
        "uvicorn",
        "--factory",
        "benchmarks.service.bare_service:create",
        "--workers",
        str(workers),
    ]
    quiet = ["--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "5"]
    return [*command, *quiet], {bare_service.KIND: kind, bare_service.URL: url}


def reports(site: Site, url: str, count: int, path: Path) -> None:
    """Open a round for as many people, and write their reports down as requests."""
    chain = site.chain()
    if chain is None:
        raise RuntimeError("nothing was published")
    current = json.loads(chain.entries[-1].body)["disclosure"]
    items = site.disclosure(current).items
    draw = random.Random(0)  # noqa: S311 - nothing is secret here
    asked = tuple(sorted(draw.sample(items, 20)))
    lines = []
    migrate(url)
    with Storage(url) as storage:
        for start in range(0, count, 250):
            tokens = [secrets.token_bytes(32) for _ in range(start, min(start + 250, count))]
            storage.write(
                [
                    OpenRound(bytes.fromhex(digest(t)), 1, current, asked, only_asked=False)
                    for t in tokens
                ]
            )
            for token in tokens:
                answers = tuple((i, draw.randint(1, 5) * ONE) for i in asked if draw.random() < 0.8)
                report = Report(
                    id=secrets.token_hex(16), disclosure=current, round=0, answers=answers
                )
                lines.append(f"{token.hex()}\tPOST\t/v1/reports\t{report.raw.decode()}\n")
    path.write_text("".join(lines))


def measure_reports(
    site: Site, fresh: Any, directory: Path, chosen: argparse.Namespace
) -> dict[str, Figures]:
    """Load the service and the bare endpoints with reports, one after the other, several times."""
    best: dict[str, Figures] = {}
    for connections in CONNECTIONS:
        for _ in range(chosen.repeats if connections == JUDGED else 1):
            for kind in KINDS:
                figures = one_load(kind, site, fresh(), directory, connections, chosen)
                name = f"{kind} {connections}"
                turns = [*best.get(name, {}).get("turns", []), figures["per_second"]]
                if len(turns) == 1 or figures["per_second"] > best[name]["per_second"]:
                    best[name] = figures
                best[name]["turns"] = turns
    return best


def one_load(
    kind: str, site: Site, url: str, directory: Path, connections: int, chosen: argparse.Namespace
) -> Figures:
    """Load one server with reports, each to be taken once."""
    requests = directory / "requests.tsv"
    reports(site, url, chosen.seconds * 2500, requests)
    engine = connect(url, writing=True)
    bare_service.metadata.create_all(engine)
    engine.dispose()
    run = ours(site, url, chosen.workers)
    if kind != "service":
        run = bare(kind, url, chosen.workers)
    with serving(*run, directory / "log") as server:
        figures = load(server, requests, connections, chosen.seconds)
    if set(figures["statuses"]) - {"201", "200"} or figures["errors"]:
        raise RuntimeError(f"{kind} did not take every report: {figures}")
    return figures


def measure_reads(
    site: Site, fresh: Any, directory: Path, chosen: argparse.Namespace
) -> dict[str, Figures]:
    """Load the service with what devices read."""
    url, requests = fresh(), directory / "requests.tsv"
    reports(site, url, 200, requests)
    lines = requests.read_text().splitlines()
    by_path = {}
    with serving(*ours(site, url, chosen.workers), directory / "log") as server:
        tokens = []
        with httpx.Client(base_url=server) as client:
            for line in lines:
                token, _, path, body = line.split("\t")
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                client.post(path, headers=headers, content=body.encode())
                tokens.append(token)
        for path in ("/v1/disclosure", "/v1/chain/head", *SCORES):
            requests.write_text("".join(f"{token}\tGET\t{path}\t\n" for token in tokens))
            for connections in CONNECTIONS:
                by_path[f"{path} {connections}"] = load(
                    server, requests, connections, chosen.seconds
                )
        by_path["solicitation"] = one_by_one(server, tokens[:50], site)
    return by_path


def measure_before(tree: Path, chosen: argparse.Namespace) -> dict[str, Figures]:
    """Load the service of another checkout with what devices read, on SQLite."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE, str(chosen.seconds), str(chosen.workers)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, Figures] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def compare(reads: dict[str, Figures], before: dict[str, Figures]) -> dict[str, float]:
    """Print how many times as many scores are given as by another checkout, and as to one."""
    times = {}
    for path in SCORES:
        now, alone, then = (
            side[f"{path} {connections}"]["per_second"]
            for side, connections in ((reads, JUDGED), (reads, 1), (before, JUDGED))
        )
        times[path] = now / then
        print(
            f"\n{path} at {JUDGED} connections: {now:,.0f} a second, {now / then:.1f} times those"
            f" of the other checkout, to be at least {SCORES_BAR:g}:"
            f" {'yes' if now >= SCORES_BAR * then else 'NO'}; {now / alone:.2f} times those at one,"
            f" to be at least 1: {'yes' if now >= alone else 'NO'}"
        )
    return times


def measure_peer(directory: Path, chosen: argparse.Namespace) -> dict[str, Figures] | str:
    """Load Cornac's serving app with what our scores are; or say why not."""
    python = peer_python()
    if python is None:
        return "Cornac's serving app did not run: Cornac, Flask or gunicorn is not installed."
    program, requests = cornac_app.__file__, directory / "requests.tsv"
    subprocess.run([python, program, "train", str(directory), str(DIMENSION)], check=True)
    by_path = {}
    with serving([program, "serve", str(directory)], {}, directory / "log", python) as server:
        for path in ("/recommend?k=10", "/recommend?k=-1"):
            lines = (f"-\tGET\t{path}&uid={person}\t\n" for person in range(200))
            requests.write_text("".join(lines))
            for connections in CONNECTIONS:
                figures = load(server, requests, connections, chosen.seconds)
                if set(figures["statuses"]) != {"200"}:
                    raise RuntimeError(f"Cornac did not answer: {figures}")
                by_path[f"Cornac {path} {connections}"] = figures
    return by_path


def peer_python() -> str | None:
    """Return a Python that has Cornac's serving app: this one, or that of `make bench`."""
    for python in (sys.executable, str(ROOT / ".venv-bench" / "bin" / "python")):
        asked = [python, "-c", cornac_app.NEEDED]
        if shutil.which(python) and subprocess.run(asked, capture_output=True).returncode == 0:  # noqa: PLW1510
            return python
    return None


def one_by_one(server: str, tokens: Sequence[str], site: Site) -> Figures:
    """Time an adaptive solicitation, which is computed, one after the other."""
    chain = site.chain()
    current = json.loads(chain.entries[-1].body)["disclosure"] if chain else ""
    body = SolicitationRequest(disclosure=current).raw
    seconds = []
    with httpx.Client(base_url=server) as client:
        for token in tokens:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            start = time.perf_counter()
            answer = client.post("/v1/solicitation", headers=headers, content=body)
            seconds.append(time.perf_counter() - start)
            Solicitation.parse(answer.content)
    seconds.sort()
    return {"p50_ms": 1000 * seconds[len(seconds) // 2], "p99_ms": 1000 * seconds[-1]}


def ratios(measured: dict[str, Figures]) -> dict[str, float]:
    """Return ours beside each bare endpoint at 32 connections: the median of neighbouring turns."""
    turns = measured[f"service {JUDGED}"]["turns"]
    return {
        kind: statistics.median(
            a / b for a, b in zip(turns, measured[f"{kind} {JUDGED}"]["turns"], strict=True)
        )
        for kind in KINDS[1:]
    }


def table(title: str, by_name: dict[str, Figures]) -> None:
    rows = [
        [name, *(f"{f[k]:,.0f}" if k in f else "" for k in ("per_second",)),
         f"{f['p50_ms']:.1f}", f"{f['p99_ms']:.1f}"]
        for name, f in by_name.items()
    ]  # fmt: skip
    show(title, ["what, connections", "per second", "p50 ms", "p99 ms"], rows)


def show_reports(
    kind: str, site: Site, fresh: Any, directory: Path, chosen: argparse.Namespace
) -> Figures:
    """Load the service with reports, and show how it stands beside the bare endpoints."""
    measured = measure_reports(site, fresh, directory, chosen)
    beside = ratios(measured)
    table(f"Reports, {kind}", measured)
    for bare_kind, bar in (("plain", PLAIN_BAR), ("group", GROUP_BAR)):
        ratio = beside[bare_kind]
        print(f"\nAt 32 connections {ratio:.0%} of the {bare_kind} bare endpoint, to be at"
              f" least {bar:.0%}: {'yes' if ratio >= bar else 'NO'}")  # fmt: skip
    return {"ratios_at_32": beside, "reports": measured}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=4, help="of each load")
    parser.add_argument("--repeats", type=int, default=5, help="turns at 32 connections")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-postgresql", action="store_true")
    parser.add_argument("--reads", action="store_true", help="leave reports out")
    parser.add_argument("--before", type=Path, help="another checkout, whose scores are compared")
    chosen = options(parser, seconds=1, repeats=1)
    console = Console(stderr=True)
    warn_if_busy(console)
    wrk()
    kept: dict[str, Any] = {"conditions": conditions(), "workers": chosen.workers}
    with tempfile.TemporaryDirectory(prefix="midpoint-bench-") as name:
        directory = Path(name)
        site = published(directory / "site")
        for kind, fresh in databases(directory, postgresql=not chosen.no_postgresql):
            kept[kind] = {} if chosen.reads else show_reports(kind, site, fresh, directory, chosen)
            kept[kind]["reads"] = reads = measure_reads(site, fresh, directory, chosen)
            table(f"Reads, {kind}", reads)
            if chosen.before and kind == "sqlite":
                kept["before"] = before = measure_before(chosen.before.resolve(), chosen)
                table("Reads, another checkout", before)
                kept["times_before"] = compare(reads, before)
        peer = measure_peer(directory, chosen)
        if isinstance(peer, str):
            print(f"\n{peer}")
            kept["notes"] = peer
        else:
            table("Recommendations, Cornac's serving app", peer)
            kept["cornac"] = peer
    kept["bars"] = {"plain": PLAIN_BAR, "group": GROUP_BAR}
    name = "service_reads" if chosen.reads else "service"
    kept["program"] = "service"
    console.print(f"Figures are in {write_results(name, kept)}")


if __name__ == "__main__":
    main()
