"""A real service in a process of its own, and a real Chromium."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

MIDPOINT = str(Path(sys.executable).with_name("midpoint"))
FLAGS = [
    "--no-sandbox",
    "--no-zygote",  # which the Chromium of an npm package cannot start
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name that is not this machine's own, so that plain HTTP to it is no secure context.
    "--host-resolver-rules=MAP midpoint.test 127.0.0.1",
]
PATIENCE = 60.0


def chromium() -> str:
    """Return the browser to drive: MIDPOINT_CHROMIUM, else the system's."""
    named = os.environ.get("MIDPOINT_CHROMIUM")
    found = (
        [named] if named else map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    )
    for path in found:
        if path:
            return path
    pytest.skip("no Chromium on PATH; install one, or name it in MIDPOINT_CHROMIUM")


class Service:
    """`midpoint serve` on a port that stays the same over restarts."""

    def __init__(self, site: Path, *flags: str) -> None:
        self.site = site
        self.flags = flags
        self.port = 0
        self._log = site / "serve.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command = [MIDPOINT, "serve", str(self.site), "--port", str(self.port), "--rate", "0"]
        command += self.flags
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stderr=log, stdout=log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            said = re.search(r"http://127\.0\.0\.1:(\d+)", self._log.read_text())
            if said:
                self.port = int(said[1])
                if self._is_ready():
                    return
            time.sleep(0.1)
        raise RuntimeError(f"the service did not start: {self._log.read_text()}")

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
