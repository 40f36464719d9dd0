"""MovieLens 100K out of a Python package, for machines that reach nothing but packages."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from midpoint.errors import MidpointError
from midpoint.files import replace_directory

REQUIREMENT = "recbole==1.2.0"
DIRECTORY = "recbole/dataset_example/ml-100k"
FILES: Mapping[str, str] = {
    "ml-100k.inter": "d4832a77576cb5a480517a9554eef1872331f1ba780ddcd3f4bf956d562ccfc2",
    "ml-100k.item": "d464074b022a10862d32e8885d298ad09464733be6effaf4bd26761995afea38",
    "ml-100k.user": "94005f99b329506e0c6da740267d2bc41dc7d22425ce2096d9a892e42bd499f0",
}
"""The files in the package and their SHA-256."""


def movielens_100k_from_wheel(target: Path) -> None:
    """Fetch the wheel with pip, or else uv, and put its three files into the directory `target`.

    The package is never imported and nothing in it is run.
    """
    with tempfile.TemporaryDirectory(prefix="midpoint-") as temporary:
        directory = Path(temporary)
        _run(_command(directory))
        contents = {name: _member(directory, name) for name in FILES}
    for name, content in contents.items():
        arrived = hashlib.sha256(content).hexdigest()
        if arrived != FILES[name]:
            raise MidpointError(
                f"{name} in {REQUIREMENT} has SHA-256 {arrived}, not {FILES[name]}: it is not the"
                " published file; ask who runs the package index"
            )
    with replace_directory(target) as directory:
        for name, content in contents.items():
            (directory / name).write_bytes(content)


def _command(directory: Path) -> list[str]:
    """Choose the installer at hand: uv's environments come without pip."""
    if find_spec("pip") is not None:
        quick = ["--no-input", "--retries=1", "--timeout=20", "--disable-pip-version-check"]
        what = ["--no-deps", "--only-binary=:all:", f"--dest={directory}", REQUIREMENT]
        return [sys.executable, "-m", "pip", "download", *quick, *what]
    uv = [sys.executable, "-m", "uv"] if find_spec("uv") is not None else [shutil.which("uv") or ""]
    if not uv[0]:
        raise MidpointError("neither pip nor uv is installed here; install one and run it again")
    options = ["--no-deps", f"--python={sys.executable}", f"--target={directory}"]
    return [*uv, "pip", "install", *options, REQUIREMENT]


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MidpointError(f"{REQUIREMENT} cannot be had: {error}; check the network") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise MidpointError(f"{REQUIREMENT} cannot be had: {last}; check the network")


def _member(directory: Path, name: str) -> bytes:
    """Return a file out of the wheel, or of what uv unpacked from it."""
    unpacked = directory / DIRECTORY / name
    if unpacked.is_file():
        return unpacked.read_bytes()
    wheels = sorted(directory.glob("*.whl"))
    try:
        with zipfile.ZipFile(wheels[0]) as wheel:
            return wheel.read(f"{DIRECTORY}/{name}")
    except (IndexError, KeyError, zipfile.BadZipFile) as error:
        raise MidpointError(f"{REQUIREMENT} came without {DIRECTORY}/{name}; try again") from error
