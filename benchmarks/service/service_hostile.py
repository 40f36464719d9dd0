"""One hostile token among 10,000: what others wait for, with it and without, in one run.

The hostile one has answered round after round, each time everything that may be answered, and goes
on to ask for scores, questions and more, as often as a token may. Honest people ask for their
scores. Before summaries were kept, each request of the hostile one read all that it had sent.
"""

import argparse
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
from rich.console import Console

from benchmarks.measuring.measure import conditions, options, show, warn_if_busy, write_results
from benchmarks.service.loading import load, ours, published, serving, wrk
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.state.acceptance import KeepReport, OpenRound
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Storage, migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.wire import Entry, Report, Solicitation, SolicitationRequest, digest

BAR = 3.0
"""p99 of honest requests with the hostile one beside that without, at most."""
ROUNDS = 150
BATCH = 250
Figures = dict[str, Any]


class People:
    """Pseudonyms with reports, written straight into a database."""

    def __init__(self, site: Site, url: str) -> None:
        chain = site.chain()
        if chain is None:
            raise RuntimeError("nothing was published")
        self.digest = chain.entries[-1].open(Entry).disclosure
        disclosure = site.disclosure(self.digest)
        self.items = disclosure.items
        self._level = disclosure.scale.high
        self._model = Model(site.profiles(self.digest), disclosure)
        self._url = url

    def report(self, number: int, items: tuple[str, ...]) -> Report:
        """Answer some items."""
        answers = tuple((item, self._level) for item in items)
        name = secrets.token_hex(16)
        return Report(id=name, disclosure=self.digest, round=number, answers=answers)

    def honest(self, count: int) -> list[str]:
        """Let many answer twenty items each; return their tokens."""
        tokens = [secrets.token_bytes(32) for _ in range(count)]
        with Storage(self._url) as storage:
            for start in range(0, count, BATCH):
                some = [bytes.fromhex(digest(t)) for t in tokens[start : start + BATCH]]
                self._write(storage, some, 0, self.items[:20])
        return [token.hex() for token in tokens]

    def hostile(self, rounds: int) -> str:
        """Let one answer everything, as often."""
        token = secrets.token_bytes(32)
        with Storage(self._url) as storage:
            for number in range(rounds):
                self._write(storage, [bytes.fromhex(digest(token))], number, self.items)
        return token.hex()

    def _write(
        self, storage: Storage, tokens: list[bytes], number: int, items: tuple[str, ...]
    ) -> None:
        opened = [
            OpenRound(t, 1, self.digest, items[:20], only_asked=False, after=number - 1, most=2**40)
            for t in tokens
        ]
        kept = [
            KeepReport.of(
                *(t, self.report(number, items), 2),
                retired=False,
                sum_up=self._model.added,
                most=2**40,
            )
            for t in tokens
        ]
        for reply in storage.write([*opened, *kept]):
            if isinstance(reply, Exception):
                raise reply


@contextmanager
def attacked(server: str, people: People, token: str) -> Iterator[list[int]]:
    """Let the hostile one ask without a pause, on four connections, until the block ends."""
    done, statuses = threading.Event(), list[int]()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = SolicitationRequest(disclosure=people.digest).raw
    template = people.report(0, people.items)

    def answer(number: int) -> bytes:
        named = template.raw.replace(template.id.encode(), secrets.token_hex(16).encode())
        return named.replace(b'"round":0', b'"round":%d' % number)

    def attack() -> None:
        with httpx.Client(base_url=server, timeout=60, headers=headers) as client:
            while not done.is_set():
                statuses.append(client.get("/v1/scores").status_code)
                asked = client.post("/v1/solicitation", content=body)
                statuses.append(asked.status_code)
                if asked.status_code == 200:
                    number = Solicitation.parse(asked.content).round
                    statuses.append(client.post("/v1/reports", content=answer(number)).status_code)
                if 429 in statuses[-3:]:
                    done.wait(0.5)

    threads = [threading.Thread(target=attack) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        done.set()
        for thread in threads:
            thread.join()


def memory(server: str) -> float:
    """Return the memory of the process that listens there, in megabytes."""
    port = int(server.rpartition(":")[2])
    listening = (c for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port)
    holders = {c.pid for c in listening if c.status == psutil.CONN_LISTEN and c.pid}
    return float(max(psutil.Process(pid).memory_info().rss for pid in holders) / 2**20)


def measure(directory: Path, chosen: argparse.Namespace) -> dict[str, Figures]:
    """Load the service with honest requests, without and with the hostile one, in turns."""
    site, url = published(directory / "site"), sqlite_url(directory / "people.sqlite")
    migrate(url)
    people = People(site, url)
    honest, hostile = people.honest(chosen.tokens), people.hostile(ROUNDS)
    requests = directory / "requests.tsv"
    requests.write_text("".join(f"{token}\tGET\t/v1/scores\t\n" for token in honest))
    best: dict[str, Figures] = {}
    command, environment = ours(site, url, 1)
    limited = command[: command.index("--rate")]  # as many requests of a token as by default
    with serving(limited, environment, directory / "log") as server:
        for _ in range(chosen.repeats):
            _keep(best, "without", load(server, requests, 8, chosen.seconds), server)
            with attacked(server, people, hostile) as statuses:
                time.sleep(1)
                figures = load(server, requests, 8, chosen.seconds)
            _keep(best, "with", figures, server)
            if not statuses or max(statuses) >= 500:
                raise RuntimeError(f"the hostile one was not served as it should be: {statuses}")
    return best


def _keep(best: dict[str, Figures], name: str, figures: Figures, server: str) -> None:
    """Keep the best of several turns."""
    if set(figures["statuses"]) != {"200"} or figures["errors"]:
        raise RuntimeError(f"honest people were not served: {figures}")
    figures["memory_mb"] = memory(server)
    if name not in best or figures["p99_ms"] < best[name]["p99_ms"]:
        best[name] = figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=5, help="of each load")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = options(parser, tokens=500, seconds=1, repeats=1)
    console = Console(stderr=True)
    warn_if_busy(console)
    wrk()
    start = conditions()
    with tempfile.TemporaryDirectory(prefix="midpoint-bench-") as name:
        best = measure(Path(name), chosen)
    rows = [
        [f"{name} the hostile token", f"{f['per_second']:,.0f}", f"{f['p50_ms']:.1f}",
         f"{f['p99_ms']:.1f}", f"{f['memory_mb']:.0f}"]
        for name, f in best.items()
    ]  # fmt: skip
    head = ["honest scores, 8 connections", "per second", "p50 ms", "p99 ms", "memory MB"]
    show(f"One hostile token of {ROUNDS} rounds among {chosen.tokens:,}", head, rows)
    ratio = best["with"]["p99_ms"] / best["without"]["p99_ms"]
    said = (
        f"p99 of honest requests is {ratio:.2f} times that without the hostile token (limit"
        f" {BAR:g}); of {chosen.repeats} turns each the best counts"
    )
    print(f"\n{said}")
    kept = {"conditions": start, "bar": BAR, "ratio": ratio, "found": best, "said": said}
    console.print(f"Figures are in {write_results('service_hostile', kept)}")


if __name__ == "__main__":
    main()
