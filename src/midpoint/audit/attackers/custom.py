"""User-defined attackers, imported by `module:Name` or `path/file.py:Name`."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from midpoint.audit.attackers.attacker import Attacker
from midpoint.errors import MidpointError


@dataclass(frozen=True)
class FromFile:
    """Makes attackers of a class in a file; other processes find it by the path."""

    path: str
    """The file."""
    member: str
    """The class, or a function that makes an attacker."""

    def __call__(self) -> Attacker:
        """Make a fresh attacker."""
        made: Attacker = getattr(self._module(), self.member)()
        return made

    @property
    def kind(self) -> str:
        """Name the attacker, by a digest of its whole file as well."""
        digest = hashlib.sha256(Path(self.path).read_bytes()).hexdigest()
        return f"{self.member} {digest[:16]}"

    def _module(self) -> ModuleType:
        """Load the file as a module, once in a process."""
        name = f"midpoint_own_{hashlib.sha256(self.path.encode()).hexdigest()[:12]}"
        if name not in sys.modules:
            spec = spec_from_file_location(name, self.path)
            if spec is None or spec.loader is None:
                raise ImportError(f"{self.path} is no Python file")
            module = sys.modules[name] = module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]


def custom_attacker(name: str) -> Callable[[], Attacker]:
    """Find a class of somebody's own by its name, and see that it is an attacker."""
    source, _, member = name.rpartition(":")
    if source.endswith(".py") and not Path(source).is_file():
        raise MidpointError(f"attack {name!r}: there is no file {source}; check the path")
    try:
        if source.endswith(".py"):
            make: Callable[[], Attacker] = FromFile(str(Path(source).resolve()), member)
        else:
            make = getattr(import_module(source), member)
    except Exception as error:  # whatever somebody's own file does when it is loaded
        raise MidpointError(f"attack {name!r} cannot be made ({error!r})") from error
    return require_attacker(name, make)


def require_attacker(name: str, make: Callable[[], Attacker]) -> Callable[[], Attacker]:
    """See that a class, or whatever else is given, makes attackers."""
    try:
        made = make()
    except Exception as error:  # whatever somebody's own class does when it is made
        raise MidpointError(
            f"attack {name!r} cannot be made ({error!r}); give its class, or a function that"
            " makes one"
        ) from error
    lacking = [part for part in ("adaptive", "fit", "score") if not hasattr(made, part)]
    if lacking:
        raise MidpointError(
            f"attack {name!r} has no {', '.join(lacking)}; midpoint.audit.Attacker says what an"
            " attacker is"
        )
    return make
