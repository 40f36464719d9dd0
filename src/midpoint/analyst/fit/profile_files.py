"""Item profiles on disk: a directory of arrays, with a manifest that has the digest of each."""

import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.files import replace_directory

FORMAT = 3
"""Version of the layout; another one is refused."""
MANIFEST = "manifest.json"
Arrays = Mapping[str, NDArray[Any]]


def write_profiles(path: Path, arrays: Arrays, manifest: Mapping[str, Any]) -> None:
    """Write arrays and what else is to be known, replacing the directory as a whole."""
    require_new_directory(path)
    with replace_directory(path) as fresh:
        written = {name: _write(fresh / f"{name}.npy", array) for name, array in arrays.items()}
        whole = {"format": FORMAT, **manifest, "arrays": written}
        whole["digest"] = _digest(whole)
        (fresh / MANIFEST).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def read_profiles(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what was written, the manifest first; refuse what is damaged or of another version."""
    manifest = _read_manifest(path)
    written = manifest["arrays"].items()
    return manifest, {name: _read(path / f"{name}.npy", digest) for name, digest in written}


def require_new_directory(path: Path) -> None:
    """Refuse to replace anything but item profiles: it may be all that someone has."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    with suppress(MidpointError, KeyError, OSError):
        expected = {MANIFEST, *(f"{name}.npy" for name in _read_manifest(path)["arrays"])}
        if {file.name for file in path.iterdir()} <= expected:
            return
    raise MidpointError(f"{path} is there and holds no item profiles; name a new directory")


def _write(path: Path, array: NDArray[Any]) -> str:
    """Write an array and return the digest of its file."""
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    path.write_bytes(stream.getvalue())
    return hashlib.sha256(stream.getvalue()).hexdigest()


def _read(path: Path, digest: str) -> NDArray[Any]:
    """Read an array, executing nothing, if its file is the one that was written."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error}); train the model again") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise MidpointError(f"{path} is damaged: its digest is not the manifest's; train it again")
    try:
        array: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
        array.setflags(write=False)
    except (ValueError, EOFError, AttributeError) as error:
        raise MidpointError(f"{path} is no array ({error}); train the model again") from error
    return array


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MidpointError(
            f"{path} holds no item profiles; make them with: midpoint train SOURCE --out {path}"
        ) from error
    except (OSError, ValueError) as error:
        raise MidpointError(f"{file} is damaged ({error}); train the model again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        version = manifest.get("format") if isinstance(manifest, dict) else None
        raise MidpointError(
            f"{file} has format {version}, this version reads {FORMAT}; train the model again"
        )
    if manifest.pop("digest", None) != _digest(manifest):
        raise MidpointError(f"{file} is damaged: it was changed by hand; train the model again")
    return manifest


def _digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
