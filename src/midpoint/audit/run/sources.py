"""Which code makes the numbers of an audit, by what imports what, and its digest."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

PACKAGE = "midpoint"
ROOT = Path(__file__).parents[2]
"""Where the package is."""
RUN = "midpoint.audit.run"
"""What makes the numbers that are stored; all that it imports, however far, helps."""
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "lightgbm")
"""What the numbers may depend on beside our code."""


class Imported(NamedTuple):
    """One name that a module imports."""

    module: str
    """Where it is imported from."""
    name: str
    """The name; empty where it is the module itself."""


@cache
def code_digest(root: Path = ROOT) -> str:
    """Return a digest of all code of ours that makes numbers, and of the libraries' versions."""
    total = hashlib.sha256()
    for path in sources(root):
        inside = path.relative_to(root).as_posix()
        total.update(inside.encode() + b"\0" + path.read_bytes() + b"\0")
    for name in LIBRARIES:
        try:
            total.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            total.update(f"{name} is not here\n".encode())
    return total.hexdigest()


def sources(root: Path = ROOT) -> list[Path]:
    """Return the files of all modules that stored numbers depend on, sorted.

    A name that a package only passes on leads to the module that defines it, so that importing one
    thing of a package does not count all of it.
    """
    reached: set[Path] = set()
    run = sorted(_path(root, RUN).glob("*.py"))
    waiting = [Imported(f"{RUN}.{file.stem}", "") for file in run if file.stem != "__init__"]
    seen = set(waiting)
    while waiting:
        imported = waiting.pop()
        file = _file(root, imported.module)
        passed_on = _passed_on(root, imported) if imported.name else None
        if passed_on is not None:
            following = [passed_on]
        elif file not in reached:
            reached.add(file)
            following = list(_imports(root, imported.module))
        else:
            following = []
        new = [one for one in dict.fromkeys(following) if one not in seen]
        seen.update(new)
        waiting += new
    return sorted(reached)


def _passed_on(root: Path, imported: Imported) -> Imported | None:
    """Return where a package gets a name from, if it does not define it itself."""
    if _file(root, imported.module).name != "__init__.py":
        return None
    bound = dict(_bound(root, imported.module, lazy=True))
    if imported.name in bound:
        return bound[imported.name]
    inside = f"{imported.module}.{imported.name}"
    return Imported(inside, "") if _exists(root, inside) else None


def _imports(root: Path, module: str) -> Iterator[Imported]:
    """Go through what a module imports from ours to do its work."""
    yield from (imported for _, imported in _bound(root, module, lazy=False))


@cache
def _bound(root: Path, module: str, *, lazy: bool) -> tuple[tuple[str, Imported], ...]:
    """Return what a module imports from ours, by the name that it has there.

    What only type checkers read, and what a package brings when it is first asked for, is `lazy`:
    a name that is passed on, and no part of its work.
    """
    return tuple(_bindings(ast.parse(_file(root, module).read_bytes()), lazy=lazy))


def _bindings(tree: ast.AST, *, lazy: bool) -> Iterator[tuple[str, Imported]]:
    for node in _nodes(tree, lazy=lazy):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == PACKAGE:
                    yield alias.asname or alias.name, Imported(alias.name, "")
        elif isinstance(node, ast.ImportFrom) and _is_ours(node):
            for alias in node.names:
                yield alias.asname or alias.name, Imported(str(node.module), alias.name)


def _nodes(tree: ast.AST, *, lazy: bool) -> Iterator[ast.AST]:
    """Go through a tree, functions included: they import, too. Expressions import nothing."""
    waiting = [tree]
    while waiting:
        inner = [n for n in ast.iter_child_nodes(waiting.pop()) if not isinstance(n, ast.expr)]
        kept = [node for node in inner if lazy or not _is_lazy(node)]
        yield from kept
        waiting += reversed(kept)


def _is_ours(node: ast.ImportFrom) -> bool:
    return not node.level and (node.module or "").partition(".")[0] == PACKAGE


def _is_lazy(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _exists(root: Path, module: str) -> bool:
    path = _path(root, module)
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def _file(root: Path, module: str) -> Path:
    path = _path(root, module)
    package = path / "__init__.py"
    return package if package.exists() else path.with_suffix(".py")


def _path(root: Path, module: str) -> Path:
    return root.joinpath(*module.split(".")[1:])
