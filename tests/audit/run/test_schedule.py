"""A run that is killed outright, in the middle, with several processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from midpoint.audit.measure.results import CSV, AuditResults
from midpoint.data import Simulation
from tests.support.audits.small_audit import small_audit

pytestmark = pytest.mark.slow  # whole audits in processes of their own

SCHEMES = ["mp", "dmpss", "mpr"]
SCRIPT = f"""
import sys
from pathlib import Path

from tests.support.audits.small_audit import small_audit

from midpoint.data import PRESETS, simulate

if __name__ == "__main__":
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    out = Path(sys.argv[1])
    small_audit(ratings, out, schemes={SCHEMES}, jobs=2).save(out)
"""
RESULTS = 2 * (1 + 4 * 4 + 1)
"""Of each fold the profiles, of each scheme the cost and three attackers, of dmpss the bound."""
PATIENCE = 120.0
"""Seconds to wait for what takes a few."""


def start(script: Path, out: Path) -> "subprocess.Popen[bytes]":
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen([sys.executable, str(script), str(out)], env=environment)


def stored(out: Path) -> list[Path]:
    """Return what is finished; directories come and go meanwhile, which `os.walk` bears."""
    walk = os.walk(out / "tasks")
    return sorted(Path(at, n) for at, _, names in walk for n in names if n.endswith(".npz"))


def wait_for(out: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(stored(out)) < count:
        assert time.monotonic() < deadline, "the audit does not come on"
        time.sleep(0.005)


def test_a_run_killed_outright_resumes_to_the_same_bytes(tiny: Simulation, tmp_path: Path) -> None:
    script, whole, cut = tmp_path / "run.py", tmp_path / "whole", tmp_path / "cut"
    script.write_text(SCRIPT)
    small_audit(tiny.ratings, whole, schemes=SCHEMES).save(whole)  # in one piece, here
    victim = start(script, cut)
    wait_for(cut, 5)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait(PATIENCE) == -signal.SIGKILL
    time.sleep(1.0)  # its processes notice, and end
    kept = {path: path.stat().st_mtime_ns for path in stored(cut)}
    assert 5 <= len(kept) < RESULTS
    assert not (cut / CSV).exists()
    time.sleep(1.0)
    assert len(stored(cut)) == len(kept)  # nobody works on
    assert start(script, cut).wait(PATIENCE) == 0
    assert len(stored(cut)) == RESULTS
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (cut / CSV).read_bytes() == (whole / CSV).read_bytes()
    assert AuditResults.load(cut).rows == AuditResults.load(whole).rows
