"""Build wheel and source archive, install the wheel in clean environments, and try it in each.

There is an environment for every supported Python that is on this machine and for every extra
alone. In each, `tools/smoke.py` runs the commands that its extras are for. The source archive must
give the same wheel. Needs uv and hatchling; runs on Linux, macOS and Windows.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
EXTRAS = ("", "analyst", "audit", "service", "spark", "service,audit")
"""Installed alone; the empty one is a person's device. The last is what an operator installs."""
VERSION = ROOT / "src" / "midpoint" / "__init__.py"
CHANGES = ROOT / "CHANGELOG.md"
SMOKE = ROOT / "tools" / "smoke.py"
PARTS = ("page/index.html", "py.typed", "licenses/LICENSE", "migrations/env.py")
"""What a wheel without its parts would lack."""


class Built(NamedTuple):
    """What is released."""

    wheel: Path
    archive: Path


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(command: Sequence[object], cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it printed; end with what it said if it fails."""
    done = subprocess.run(  # noqa: S603 - our own commands
        [str(word) for word in command],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env,
    )
    if done.returncode:
        say(f"{done.stdout}\n{done.stderr}")
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


def build(out: Path) -> Built:
    """Build both, and see that the archive alone gives the same wheel."""
    shutil.rmtree(out, ignore_errors=True)
    hatch = [sys.executable, "-m", "hatchling", "build"]
    for target in ("sdist", "wheel"):
        run([*hatch, "-t", target, "-d", out])
    made = Built(next(out.glob("*.whl")), next(out.glob("*.tar.gz")))
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(made.archive) as archive:
            archive.extractall(scratch, filter="data")
        (source,) = Path(scratch).iterdir()
        run([*hatch, "-t", "wheel", "-d", scratch], cwd=source)
        if contents(next(Path(scratch).glob("*.whl"))) != contents(made.wheel):
            raise SystemExit("the source archive gives another wheel")
    return made


def contents(wheel: Path) -> dict[str, str]:
    """Return the digest of every file of a wheel."""
    with ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def require_whole(made: Built) -> None:
    """See that the wheel holds the page, types and licence, and nothing of the tests."""
    names = list(contents(made.wheel))
    for part in PARTS:
        if not any(name.endswith(part) for name in names):
            raise SystemExit(f"the wheel lacks {part}")
    strange = [name for name in names if name.split("/")[0].split("-")[0] != "midpoint"]
    if strange:
        raise SystemExit(f"the wheel holds what is not the package's: {strange[0]}")


def require_tag(tag: str) -> None:
    """See that a tag is the version's, and that the change log has a section for it."""
    version = re.search(r'^__version__ = "(.+)"', VERSION.read_text("utf-8"), re.MULTILINE)
    if version is None or tag != f"v{version[1]}":
        raise SystemExit(f"the tag is {tag}, and {VERSION} says {version and version[1]}")
    if not re.search(rf"^## {re.escape(version[1])} \(", CHANGES.read_text("utf-8"), re.MULTILINE):
        raise SystemExit(f"{CHANGES.name} has no section '## {version[1]} (date)'")


def interpreter(python: str) -> str | None:
    """Return a Python of that version on this machine, pyenv's included; None if there is none."""
    search = ["uv", "python", "find", "--no-python-downloads", python]
    done = subprocess.run(search, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode == 0:
        return done.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(path) for path in sorted(pyenv.glob(f"{python}.*/bin/python"))), None)


def attempt(made: Built, python: str, path: str, extra: str) -> None:
    """Install the wheel with an extra into a new environment, and try what it is for."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        where = Path(scratch) / "env"
        run(["uv", "venv", "--no-python-downloads", "--python", path, where])
        programs = where / ("Scripts" if os.name == "nt" else "bin")
        wanted = f"{made.wheel}[{extra}]" if extra else made.wheel
        run(["uv", "pip", "install", "--python", programs / "python", wanted])
        work = Path(scratch) / "work"
        work.mkdir()
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        clean["HOME" if os.name != "nt" else "LOCALAPPDATA"] = scratch
        said = run([programs / "python", SMOKE, extra], cwd=work, env=clean)
    say(f"  Python {python}, {extra or 'a device'}: works {said.strip()}".rstrip())


def supported() -> list[str]:
    """Return the Pythons that the package says it supports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    words = [line.rpartition(" ")[2] for line in project["classifiers"] if "3." in line]
    return [word for word in words if word.count(".") == 1]


def main() -> None:
    """Build, look inside, install and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append", help="3.11, 3.12, 3.13; repeatable")
    parser.add_argument("--extras", action="append", help="such as service,audit; repeatable")
    parser.add_argument("--tag", help="only see whether version and change log are this tag's")
    chosen = parser.parse_args()
    if chosen.tag:
        require_tag(chosen.tag)
        return
    made = build(chosen.out.resolve())
    require_whole(made)
    for path in made:
        say(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    pythons = {python: interpreter(python) for python in chosen.python or supported()}
    left = [python for python, path in pythons.items() if path is None]
    if len(left) == len(pythons):
        raise SystemExit(f"none of Python {', '.join(left)} is on this machine")
    if left:
        say(f"Not on this machine, and not tried: Python {', '.join(left)}")
    for (python, path), extra in product(pythons.items(), chosen.extras or EXTRAS):
        if path is not None:
            attempt(made, python, path, extra)
    say(f"{made.wheel.name} and {made.archive.name} are in {chosen.out}")


if __name__ == "__main__":
    main()
