"""The words of the glossary: retired ones stay out, and directories and files stay small.

One word for one thing, in code, tests, page and documentation. The tables below say what to write
instead of a retired word; `docs/reference/glossary.md` defines the words that stay.
"""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = {
    r"places?|placed|placing|placements?": (
        "position (latent), index (in a list), directory, address, `instead of`, `in one step`"
    ),
    r"told": "disclosure (as a name); disclosed, shown, reported (in prose)",
    r"laws?": "prior, distribution or rule",
    r"habits?": "selection factors",
    r"rehears\w*": "nested folds",
    r"anew": "again, or new",
    r"mend\w*": "fix",
    r"believe\w*": "estimate, expect or accept",
    r"turned\s+round": "sign flipped",
    r"own-numbers": "adjustment",
    r"fold[e]rs?": "directory",
    r"whoever": "somebody who, people who, no matter who",
    r"keep(?:s|ing)?\s+back|kept\s+back": "withhold, withheld",
}
"""Patterns of whole words in lower case, `_` written as `-`, and what to write instead."""

RETIRED_MODULES = {
    "telling": "limits",
    "keeping": "device_files",
    "lanes": "simd",
    "extent": "disclosure_size",
    "places": "positions",
    "placing": "positions",
    "placement": "tradeoff",
    "pairing": "paired_test",
    "heads": "http_limits",
    "watching": "middleware, or what is measured",
    "possible": "report_rules",
    "disclosing": "disclosure",
    "rehearsing": "nested_folds",
    r"transcript_\w+": "a module of audit/rounds",
}
"""Patterns of names of modules, and the name to take instead."""

READ = (
    ".cff",
    ".css",
    ".html",
    ".js",
    ".json",
    ".lua",
    ".md",
    ".py",
    ".pyi",
    ".sh",
    ".toml",
    ".ts",
    ".yaml",
    ".yml",
)
DIRECTORIES = (
    "src",
    "web/src",
    "web/tests",
    "tests",
    "docs",
    "benchmarks",
    "tools",
    "vectors",
    ".github",
)
BUILT = ("src/midpoint/analyst/service/http/page", "benchmarks/results", "web/.chromium")
HISTORY = ("tests/test_words.py",)

WORDS = re.compile(
    rf"\b(?:{'|'.join(f'(?P<w{k}>{word})' for k, word in enumerate(RETIRED))})(?![a-z])"
)
MODULE = re.compile(rf"(?:test_)?({'|'.join(RETIRED_MODULES)})(?:\.test)?\.(?:py|ts)")
ALLOWED = re.compile(r"(?<![\w-])place-(content|items|self)(?=\s*:)")
"""Properties of CSS, whose names are not ours."""


def files() -> list[Path]:
    """List what people write: not what is built or measured, nor the history."""
    written = chain(ROOT.iterdir(), *((ROOT / directory).rglob("*") for directory in DIRECTORIES))
    return sorted(
        path
        for path in written
        if path.is_file()
        and (path.suffix in READ or path.name == "Makefile")
        and _name(path) not in HISTORY
        and not _name(path).startswith(BUILT)
    )


def retired(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and its replacement for every retired word of a text."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", ALLOWED.sub("", text))
    parted = parted.replace("_", "-").lower()
    for match in WORDS.finditer(parted):
        replacement = list(RETIRED.values())[int(str(match.lastgroup)[1:])]
        yield parted.count("\n", 0, match.start()) + 1, match[0], replacement


def retired_module(name: str) -> str | None:
    """Return what a file should be called whose name is retired."""
    match = MODULE.fullmatch(name)
    return match and next(
        new for old, new in RETIRED_MODULES.items() if re.fullmatch(old, match[1])
    )


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_retired_words_stay_out() -> None:
    found = [
        f"{_name(path)}:{line}: {word!r}: write {replacement}"
        for path in files()
        for line, word, replacement in retired(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("sentence", "replacement"),
    [
        ("She has a place of her own.", "position"),
        ("the_places = 3", "position"),
        ("const readPlaces = 3;", "position"),
        ("told = disclose(profiles)", "disclosure"),
        ("The Law of large numbers", "prior"),
        ("four habits of an item", "selection"),
        ("Rehearsals are folds in folds.", "nested"),
        ("The score is turned\nround.", "sign"),
        ("ownNumbers(person)", "adjustment"),
        ("my.own_numbers(person)", "adjustment"),
        ("trained anew, mended, believed", "again"),
        ("Whoever attacks", "somebody"),
        ("ratings that it keeps\nback", "withhold"),
    ],
)
def test_a_planted_word_is_caught(sentence: str, replacement: str) -> None:
    assert any(instead.startswith(replacement) for _, _, instead in retired(f"Fine.\n{sentence}"))
    assert next(line for line, _, _ in retired(f"Fine.\n{sentence}")) == 2


def test_words_that_only_look_alike_are_left_alone() -> None:
    text = "Replace the placeholder; lawful claws; own numbers; amendments; display: place-items"
    assert [word for _, word, _ in retired(text)] == ["place"]
    assert not list(retired("main { place-items: center; } replaceState()"))


NAMED = re.compile(r"`((?:src|tests|benchmarks|tools|vectors|web|docs)/[\w./-]+)`")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def missing(text: str) -> list[str]:
    """List the files that a page names and the tree does not have."""
    return [name for name in NAMED.findall(text) if not (ROOT / name).exists()]


def test_files_that_the_documentation_names_exist() -> None:
    found = [
        f"{_name(page)}: {name}" for page in PAGES for name in missing(page.read_text("utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)
    assert missing("see `tests/test_words.py` and `tests/test_gone.py`") == ["tests/test_gone.py"]


DOTTED = re.compile(
    r"`(?:midpoint\.)?((?:wire|data|analyst|user|protocol|audit|cli)(?:\.[a-z_]+)+(?:\.\w+)*)`"
)
PYTHON = ("src", "tests", "docs", "benchmarks", "README.md", "CONTRIBUTING.md")


def unknown_modules(text: str) -> list[str]:
    """List the dotted names in backquotes that are neither modules of ours nor names in one."""
    names = (name for name in DOTTED.findall(text) if not name.endswith(READ))  # a file is none
    return [name for name in names if not _is_known(name.split("."))]


def _is_known(parts: list[str]) -> bool:
    """Follow a dotted name through packages to a module that has the rest, or says it is there."""
    path = ROOT / "src" / "midpoint"
    while parts and (path / parts[0]).is_dir():
        path = path / parts.pop(0)
    if parts and (path / f"{parts[0]}.py").exists():
        module = path / f"{parts.pop(0)}.py"
    else:
        module = path / "__init__.py"
    written = module.read_text(encoding="utf-8")
    return all(re.search(rf"\b{part}\b", written) for part in parts)


def test_modules_that_texts_name_exist() -> None:
    found = [
        f"{_name(path)}: {name}"
        for path in files()
        if _name(path).startswith(PYTHON)
        for name in unknown_modules(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "name", ["analyst.selection", "midpoint.user.keeping", "wire.scheme.Shape"]
)
def test_a_planted_module_name_is_caught(name: str) -> None:
    assert unknown_modules(f"The steps of `{name}`.") == [name.removeprefix("midpoint.")]
    assert not unknown_modules("`analyst.solicit.selection.select`, `midpoint.audit.audit`")


def test_retired_modules_stay_out() -> None:
    found = [
        f"{_name(path)}: call it {new}" for path in files() if (new := retired_module(path.name))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "name", ["telling.py", "places.ts", "test_pairing.py", "transcript_view.py"]
)
def test_a_planted_module_is_caught(name: str) -> None:
    assert retired_module(name)
    assert not retired_module("limits.py")


VAGUE = ("one", "found", "mine")
"""Not names of things; loops of two lines and comprehensions may have them, and lambdas."""


def vague_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of every parameter and variable of Python that has a vague name."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given):
                bound = [(a.lineno, a.arg) for a in ast.walk(given) if isinstance(a, ast.arg)]
            case ast.Assign(targets=targets):
                bound = [pair for target in targets for pair in _stored(target)]
            case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
                bound = list(_stored(target))
            case ast.withitem(optional_vars=ast.expr() as target):
                bound = list(_stored(target))
            case ast.For(target=target, lineno=line, end_lineno=int(end)) if end > line + 2:
                bound = list(_stored(target))
            case _:
                bound = []
        yield from (pair for pair in bound if pair[1] in VAGUE)


def _stored(target: ast.expr) -> Iterator[tuple[int, str]]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def test_names_say_what_they_hold() -> None:
    found = [
        f"{_name(path)}:{line}: {name!r}: name what it holds"
        for path in files()
        if path.suffix == ".py" and _name(path).startswith(("src/", "benchmarks/", "tools/"))
        for line, name in vague_names(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        "found = 1",
        "found: int = 1",
        "rest, (one, two) = 1, (2, 3)",
        "def f(mine): ...",
        "with open() as found: ...",
        "for one in rows:\n    a = one\n    b = a\n    c = b",
    ],
)
def test_a_planted_vague_name_is_caught(planted: str) -> None:
    assert len(list(vague_names(planted))) == 1
    allowed = (
        "rows = [one for one in rows]\nfor one in rows:\n    print(one)\nself.found = {}[found]"
    )
    assert list(vague_names(allowed)) == []


def crowded(source: Path, most: int) -> list[str]:
    """List the directories that hold more modules than `most`, beside their `__init__`."""
    directories = [directory for directory in source.rglob("*") if directory.is_dir()]
    counts = {
        directory: sum(path.suffix in {".py", ".ts"} for path in directory.glob("[!_]*"))
        for directory in directories
    }
    return sorted(f"{directory}: {count}" for directory, count in counts.items() if count > most)


def long_files(directory: Path, pattern: str, most: int) -> list[str]:
    """List the files that have more lines than `most`."""
    counts = {path: lines(path) for path in directory.rglob(pattern)}
    return sorted(f"{path}: {count} lines" for path, count in counts.items() if count > most)


def lines(path: Path) -> int:
    """Count the lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def test_a_directory_holds_at_most_fifteen_modules() -> None:
    for source in ("src/midpoint", "benchmarks", "web/src/page"):
        assert crowded(ROOT / source, 15) == []


def test_a_test_file_has_at_most_400_lines() -> None:
    assert long_files(ROOT / "tests", "*.py", 400) == []


def test_what_touches_the_secret_has_at_most_1300_lines() -> None:
    core = list((ROOT / "src" / "midpoint" / "user" / "core").glob("*.py"))
    assert core
    assert sum(map(lines, core)) <= 1300


def test_the_limits_notice_what_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    for k in range(3):
        (tmp_path / "room" / f"module{k}.py").write_text("x = 1\n" * (k + 1))
    assert crowded(tmp_path, 3) == []
    assert crowded(tmp_path, 2) == [f"{tmp_path / 'room'}: 3"]
    assert long_files(tmp_path, "*.py", 2) == [f"{tmp_path / 'room' / 'module2.py'}: 3 lines"]
