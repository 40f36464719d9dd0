"""`midpoint serve` as it is typed."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from midpoint.cli.app import app
from midpoint.errors import MidpointError
from tests.support.models.small_model import run, trained

PROGRAM = "from midpoint.cli import main; main()"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    run("publish", trained().directory, tmp_path / "site")
    return tmp_path / "site"


def test_what_a_person_can_fix_is_said_before_anything_starts(site: Path, tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="midpoint publish"):
        run("serve", tmp_path / "nowhere")
    with pytest.raises(MidpointError, match="go together"):
        run("serve", site, "--tls-cert", "x.pem")
    with pytest.raises(MidpointError, match="sqlite:///FILE or postgresql"):
        run("serve", site, "--database", "oracle://x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(MidpointError, match="cannot listen"):
            run("serve", site, "--port", taken.getsockname()[1])


def test_a_witness_looks_once_an_hour_at_least(tmp_path: Path) -> None:
    """Two looks a day apart would else show an entry for a day."""
    words = ("witness", "https://service.example", str(tmp_path / "witness"), "--every")
    shown = CliRunner().invoke(app, [*words, "61"], env={"COLUMNS": "200"})
    assert shown.exit_code == 2
    assert "less than or equal to 60" in shown.output
    with pytest.raises(MidpointError, match="cannot listen"):  # the control: an hour is taken
        run(*words, "60", "--host", "host.invalid")


def started(site: Path, log: Path, *flags: str) -> tuple[subprocess.Popen[bytes], str]:
    """Run the command; return the process and where it listens."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "serve", str(site), "--port", "0", *flags],
            stderr=stream,
            env={"COLUMNS": "300", "MIDPOINT_ASK": "3", "PATH": ""},
        )
    for _ in range(600):
        line = log.read_text().partition("\n")[0]
        if " at http" in line:
            return process, line.rpartition(" at ")[2]
        time.sleep(0.05)
    raise RuntimeError(log.read_text())


@pytest.mark.slow
def test_it_serves_warns_takes_settings_from_the_environment_and_stops(
    site: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    process, url = started(site, log, "--host", "0.0.0.0", "--witness", "https://w.example")  # noqa: S104
    url = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    try:
        found = httpx.get(f"{url}/v1/disclosure", timeout=60)  # at once: it listens
        assert found.status_code == 200
        assert "connect-src 'self' https://w.example;" in found.headers["content-security-policy"]
        asked = httpx.post(
            f"{url}/v1/solicitation",
            headers={"Authorization": f"Bearer {'0' * 64}", "Content-Type": "application/json"},
            json={"disclosure": found.headers["etag"].strip('"'), "version": 1},
            timeout=60,
        )
        assert len(asked.json()["items"]) == 3
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    text = log.read_text()
    assert "warning: others on the network can read" in text
    assert "Application shutdown complete." in text
    assert (site / "midpoint.sqlite").exists()
