"""What an audit has found so far, on disk: one small file a task, so that a killed run resumes."""

import hashlib
import inspect
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.custom import FromFile
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.sources import code_digest
from midpoint.audit.run.work import Work
from midpoint.errors import MidpointError
from midpoint.files import replace_file

MANIFEST = "audit.json"
TASKS = "tasks"
ATTACK = "attack"
EARLY = "early"
"""What the analyst knew before the first of several rounds."""
PLAIN = "+=,"
"""What stays as it is in the names of files, beside letters and digits."""
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Store:
    """The directory of one audit."""

    root: Path
    """Where it is."""

    def open(self, plan: Plan, data: Mapping[str, Any], work: Work) -> None:
        """Make the directory, or go on in one that was made in exactly this way.

        Schemes and attackers may be added; one of a name that was there must be the same, unless
        it came to nothing: who fixes an attacker of her own that failed at once goes on here.
        """
        fixed = {"code": code_digest(), "data": dict(data), "plan": asdict(plan)}
        named = {
            "schemes": {
                name: {"kind": described_kind(type(protocol)), **asdict(protocol)}
                for name, protocol in work.schemes.items()
            },
            "attackers": {
                name: {
                    "kind": described_kind(make),
                    "adaptive": name not in work.clean,
                    "control": work.controls[name],
                    "adversary": work.adversary.get(name, ""),
                }
                for name, make in work.attackers.items()
            },
        }
        wanted = json.loads(json.dumps(fixed | named, default=_described))
        if (self.root / MANIFEST).exists():
            made = self.manifest()
            self._require_same(made, {key: wanted[key] for key in fixed})
            for key in named:
                known = made.get(key, {})
                there = [name for name in wanted[key] if name in known and self._ran(key, name)]
                self._require_same(known, {name: wanted[key][name] for name in there})
                wanted[key] = known | wanted[key]
        elif self.root.exists() and any(self.root.iterdir()):
            raise MidpointError(f"{self.root} holds something else; name a new directory")
        replace_file(self.root / MANIFEST, (json.dumps(wanted, indent=1) + "\n").encode())

    def manifest(self) -> dict[str, Any]:
        """Read how the directory was made."""
        if not (self.root / MANIFEST).exists():
            raise MidpointError(
                f"{self.root} holds no audit; make one with: midpoint audit SOURCE --out"
                f" {self.root}"
            )
        path = self.root / MANIFEST
        try:
            made = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise MidpointError(f"{path} is damaged ({error}); name a new directory") from error
        if not isinstance(made, dict):
            raise MidpointError(f"{path} is damaged; name a new directory")
        return made

    def _ran(self, key: str, name: str) -> bool:
        """Tell whether there is any result of a scheme, or of an attacker."""
        quoted = quote(name, safe=PLAIN)
        pattern = f"{quoted}/**/*.npz" if key == "schemes" else f"*/{ATTACK}/{quoted}.npz"
        return any((self.root / TASKS).glob(f"fold-*/{pattern}"))

    def _require_same(self, made: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        for key, value in wanted.items():
            if made.get(key) != value:
                raise MidpointError(
                    f"{self.root} was made with other {_names(key, made.get(key), value)};"
                    " its numbers would not go together with new ones: name a new directory"
                )

    def profiles(self, fold: int, *names: str) -> Path:
        """Return where item profiles of a fold are: early ones, or with a scheme's positions."""
        return (self.root / TASKS / f"fold-{fold:02d}" / "profiles").joinpath(*names)

    def path(self, fold: int, *names: str) -> Path:
        """Return where the result of a task is."""
        *directories, last = (quote(name, safe=PLAIN) for name in names)
        return (self.root / TASKS / f"fold-{fold:02d}").joinpath(*directories, f"{last}.npz")

    def has(self, fold: int, *names: str) -> bool:
        """Tell whether a task is done."""
        return self.path(fold, *names).exists()

    def save(self, arrays: Mapping[str, Any], fold: int, *names: str) -> None:
        """Keep what a task found, whole or not at all."""
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        replace_file(self.path(fold, *names), stream.getvalue())

    def load(self, fold: int, *names: str) -> Arrays:
        """Read what a task found."""
        path = self.path(fold, *names)
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as content:
                return dict(content)
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise MidpointError(f"{path} is damaged ({error}); remove it and run again") from error

    def attacks(self, fold: int, scheme: str) -> list[str]:
        """Return the attackers that were ever run on a scheme here, sorted."""
        directory = self.path(fold, scheme, ATTACK, "any").parent
        return sorted(unquote(file.stem) for file in directory.glob("*.npz"))


def described_kind(kind: Any) -> str:
    """Name a class or function, one that is not ours by a digest of its file as well.

    What a partial one was given counts: the same class with other settings is another attacker.
    """
    if isinstance(kind, partial):
        given = [_described(value) for value in kind.args]
        given += [f"{key}={_described(value)}" for key, value in sorted(kind.keywords.items())]
        return f"{described_kind(kind.func)}({', '.join(given)})"
    if isinstance(kind, FromFile):
        return kind.kind
    if not hasattr(kind, "__qualname__"):
        return _described(kind)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name.startswith("midpoint."):
        return name
    try:
        source = Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):  # typed in at a prompt
        return name
    return f"{name} {hashlib.sha256(source).hexdigest()[:16]}"


def _described(value: Any) -> str:
    """Write down a setting; never by its address in memory, which another run does not know."""
    if isinstance(value, partial) or hasattr(value, "__qualname__"):
        return described_kind(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [part.name for part in fields(value)]
        settings = [f"{name}={_described(getattr(value, name))}" for name in names]
        return f"{described_kind(type(value))}({', '.join(settings)})"
    if isinstance(value, np.ndarray):  # a long one is not written out whole
        content = f"{value.dtype} {value.shape}".encode() + value.tobytes()
        return f"array {hashlib.sha256(content).hexdigest()[:16]}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_described, value))}]"
    text = repr(value)
    return described_kind(type(value)) if " at 0x" in text else text


def _said(value: Any) -> str:
    """Write a setting; one that was not given is none."""
    return "none" if value in (None, "") else str(value)


def _names(key: str, made: Any, wanted: Any) -> str:
    """Name what differs, a level deeper where that is possible."""
    if isinstance(made, dict) and isinstance(wanted, dict) and key in {"plan", "data"}:
        other = [
            f"{name}: {_said(made.get(name))}, now {_said(now)}"
            for name, now in wanted.items()
            if made.get(name) != now
        ]
        return f"{'settings' if key == 'plan' else key} ({'; '.join(other)})"
    return {"code": "code or libraries"}.get(key, f"settings of {key!r}")
