"""The service behind the door, as the tests of a malicious analyst need to know it."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import Ratings
from midpoint.wire import Disclosure, Entry, Signed, SigningKey


@dataclass(frozen=True)
class Upstream:
    """A running, honest service."""

    port: int
    """Where it listens on this machine."""
    key: SigningKey
    """Its signing key: what a malicious analyst has."""
    shown: Disclosure
    """What is current."""
    chain: tuple[Signed, ...]
    """Its list."""

    @property
    def titles(self) -> str:
        """Digest of the titles that it shows."""
        return self.chain[-1].open(Entry).catalogue or ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running_service(root: Path, ratings: Ratings) -> Iterator[Upstream]:
    """Train, publish and serve in a process of its own, on a port that the system chooses."""
    profiles = Factorizer(dimension=3, iterations=4, validation=0.0).fit(ratings, "gender")
    disclosure = disclose(profiles, "dmpss")
    Site(root).publish(profiles, disclosure, time=int(time.time()))
    start = "from midpoint.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", str(root), "--port", "0"]
    served = subprocess.Popen(
        [*command, "--rate", "0", "--no-log"], stderr=subprocess.PIPE, text=True
    )
    try:
        said = served.stderr.readline() if served.stderr else ""
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        assert found, said
        _wait_until_ready(f"http://127.0.0.1:{found[1]}/health/ready")
        chain = Site(root).chain()
        assert chain is not None
        yield Upstream(int(found[1]), SigningKey.load(root / "key.pem"), disclosure, chain.entries)
    finally:
        served.terminate()
        served.wait(20)
        if served.stderr:
            served.stderr.close()


def _wait_until_ready(url: str) -> None:
    for _ in range(300):
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{url} does not get ready")
