"""A site, a service in this process or its own, and a person whose device talks to it."""

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import uvicorn

from midpoint.analyst import ItemProfiles, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http.app import create_app
from midpoint.analyst.service.server import Address, configured, listening
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url
from midpoint.user import (
    Accepted,
    DeviceSecret,
    Ledger,
    PrivateCategory,
    check_disclosure,
    decide,
)
from midpoint.wire import ONE, Chain, Report, Solicitation, SolicitationRequest

JSON = {"Content-Type": "application/json"}
START = 1_700_000_000
PATIENCE = 300
"""Seconds in which something has to happen, on a machine that has other things to do, too."""


def published(directory: Path, profiles: ItemProfiles, *, at: int = START) -> Site:
    """Publish a model to a site."""
    site = Site(directory)
    site.publish(profiles, disclose(profiles), time=at)
    return site


def settings_of(site: Site, **changes: Any) -> Settings:
    """Return settings for tests: a database in the site, no limit of rate, no log."""
    content: dict[str, Any] = {
        "site": str(site.root),
        "database": sqlite_url(site.root / "midpoint.sqlite"),
        "ask": 8,
        "rate": 0,
        "log": False,
    }
    return Settings(**(content | changes))


@contextmanager
def running(settings: Settings) -> Iterator[httpx.Client]:
    """Run a service in a thread, on a port that the system chooses."""
    migrate(settings.database)
    address = Address(port=0)
    configuration = configured(create_app(settings), address)
    server = uvicorn.Server(configuration)
    with listening(address) as (opened, url):
        thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise RuntimeError("the service did not start")
                time.sleep(0.01)
            with httpx.Client(base_url=url, timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@dataclass
class Process:
    """`midpoint serve` as a process of its own."""

    site: Path
    flags: tuple[str, ...] = ()
    port: int = 0
    log: Path = field(init=False)
    url: str = field(init=False, default="")
    _running: subprocess.Popen[bytes] | None = None
    _client: httpx.Client = field(default_factory=httpx.Client)

    def __post_init__(self) -> None:
        self.log = self.site / f"log-{secrets.token_hex(4)}.jsonl"

    def start(self) -> None:
        """Start it, on the same port if it ran before, and wait until it is ready."""
        command = ["serve", str(self.site), "--port", str(self.port), "--rate", "0", *self.flags]
        with self.log.open("ab") as stream:
            self._running = subprocess.Popen(
                [sys.executable, "-c", "from midpoint.cli import main; main()", *command],
                stderr=stream,
                env={**os.environ, "COLUMNS": "300"},
            )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            line = self.log.read_text().rpartition("Serving ")[2].splitlines()
            if line and " at http" in line[0]:
                self.url = line[0].rpartition(" at ")[2]
                self.port = int(self.url.rpartition(":")[2])
                with suppress(httpx.TransportError):
                    if self._client.get(f"{self.url}/health/live").status_code == 200:
                        return
            if self._running is not None and self._running.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(self.log.read_text())

    @property
    def pid(self) -> int:
        if self._running is None:
            raise RuntimeError("it does not run")
        return self._running.pid

    def client(self) -> httpx.Client:
        """Return a client that waits: after a kill nobody answers until a worker has started."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE)

    def get(self, path: str) -> httpx.Response:
        """Ask once."""
        with self.client() as client:
            return client.get(path)

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def stop(self) -> int:
        """Ask it to stop; return its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        if self._running is None:
            raise RuntimeError("it does not run")
        return self._running.wait(60)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._running is not None and self._running.poll() is None:
            self._running.terminate()
            self._running.wait(60)
        self._client.close()


@dataclass
class Person:
    """Somebody with a device; `token` and `ledger` are hers."""

    client: httpx.Client
    category: str = "F"
    token: str = field(default_factory=lambda: secrets.token_hex(32))
    ledger: Ledger = field(default_factory=lambda: Ledger(DeviceSecret.generate()))

    @property
    def headers(self) -> Mapping[str, str]:
        return {**JSON, "Authorization": f"Bearer {self.token}"}

    def accept(self) -> Accepted:
        """Fetch and check the current disclosure."""
        raw = self.client.get("/v1/disclosure").content
        chain = Chain.parse(self.client.get("/v1/chain").content)
        return check_disclosure(raw, list(chain.entries), None)

    def solicit(self, digest: str) -> httpx.Response:
        """Ask to be asked."""
        body = SolicitationRequest(disclosure=digest).raw
        return self.client.post("/v1/solicitation", headers=self.headers, content=body)

    def answer(self, stars: int = 4, *, more: Mapping[str, int] | None = None) -> Report:
        """Go through a round; return the report, not sent yet. She has rated all she is asked."""
        accepted = self.accept()
        asked = Solicitation.parse(self.solicit(accepted.disclosure.digest).content)
        rated = {**dict.fromkeys(asked.items, stars * ONE), **(more or {})}
        category = PrivateCategory({"gender": self.category})
        return decide(rated, asked, accepted, category, self.ledger)

    def send(self, report: Report | bytes) -> httpx.Response:
        """Send a report."""
        raw = report if isinstance(report, bytes) else report.raw
        return self.client.post("/v1/reports", headers=self.headers, content=raw)

    def get(self, path: str, **more: str) -> httpx.Response:
        """Ask with her token."""
        return self.client.get(path, headers={**self.headers, **more})


def code_of(response: httpx.Response) -> tuple[int, str]:
    """Return the status and the problem's code."""
    return response.status_code, response.json()["code"]
