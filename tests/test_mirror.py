"""Tests mirror the tree, and TypeScript mirrors Python; tables say where they do not."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "midpoint"

COVERED = {
    # One contract suite runs every engine, and what each is made of.
    "analyst/engines/engine": "analyst/engines/test_contract",
    "analyst/engines/local": "analyst/engines/test_contract",
    "analyst/counterparts/dimensions": "analyst/counterparts/test_fit",
    "analyst/counterparts/sample": "analyst/counterparts/test_fit",
    "analyst/counterparts/start": "analyst/counterparts/test_fit",
    "analyst/engines/unfinished": "analyst/engines/test_counterparts",
    "analyst/engines/spark/panel": "analyst/engines/test_counterparts",
    "analyst/engines/spark/blocks": "analyst/engines/spark/test_passes",
    "analyst/engines/spark/engine": "analyst/engines/test_contract",
    "analyst/engines/spark/factorizer": "analyst/engines/test_contract",
    "analyst/engines/spark/people": "analyst/engines/test_contract",
    "analyst/engines/spark/reader": "analyst/engines/test_contract",
    "analyst/engines/spark/reports": "analyst/engines/test_contract",
    "analyst/engines/spark/sample": "analyst/engines/test_contract",
    "analyst/engines/spark/scores": "cli/test_batch",
    "analyst/engines/spark/solver": "analyst/engines/spark/test_passes",
    "analyst/engines/spark/statistics": "analyst/engines/test_contract",
    "analyst/engines/spark/tables": "analyst/engines/test_contract",
    "analyst/engines/streaming/engine": "analyst/engines/test_contract",
    "analyst/engines/streaming/factorizer": "analyst/engines/test_contract",
    "analyst/engines/streaming/sample": "analyst/engines/test_contract",
    "analyst/engines/streaming/scan": "analyst/engines/test_contract",
    "analyst/engines/streaming/statistics": "analyst/engines/test_contract",
    # Parts of one computation, held to a slow form of the whole.
    "analyst/fit/choice": "audit/choose/test_rule",
    "analyst/fit/sets/training": "analyst/fit/sets/test_factorization",
    "analyst/fit/sets/tuning": "analyst/fit/sets/test_factorization",
    "analyst/fit/assembly": "analyst/fit/test_factorizer",
    "analyst/fit/profile_files": "analyst/fit/test_profiles",
    "analyst/fit/summary": "analyst/test_reprs",
    "analyst/kernels/normal_equations": "analyst/kernels/test_ridge",
    "analyst/kernels/simd": "analyst/kernels/test_ridge",
    "analyst/kernels/gram": "analyst/kernels/test_ridge",
    "analyst/kernels/triangle": "analyst/kernels/test_ridge",
    "analyst/kernels/small_systems": "analyst/kernels/test_ridge",
    "analyst/kernels/doubles": "analyst/kernels/positions/test_newton",
    # The service, seen from outside.
    "analyst/service/http/app": "analyst/service/http/test_routes",
    "analyst/service/http/dispatch": "analyst/service/http/test_routes",
    "analyst/service/state/publication": "analyst/service/test_retraining",
    # One contract for every database.
    "analyst/storage/batch": "analyst/storage/test_store",
    "analyst/storage/connection": "analyst/storage/test_store",
    "analyst/storage/records": "analyst/storage/test_store",
    "analyst/storage/tables": "analyst/storage/test_store",
    "analyst/storage/transaction": "analyst/storage/test_store",
    "analyst/storage/upgrade": "analyst/storage/test_store",
    # One contract suite tries every attacker on people whom it must read.
    "audit/attackers/attacker": "audit/test_contract",
    "audit/attackers/auc": "audit/attackers/test_learned",
    "audit/attackers/catalogue": "audit/run/test_schemes_and_attacks",
    "audit/attackers/features": "audit/attackers/test_learned",
    "audit/attackers/kernels": "audit/attackers/test_learned",
    "audit/attackers/products": "audit/attackers/test_learned",
    "audit/attackers/scaling": "audit/attackers/test_learned",
    "audit/attackers/trees": "audit/attackers/test_learned",
    "audit/choose/candidates": "audit/choose/test_measurement",
    "audit/choose/panel": "audit/choose/test_measurement",
    "audit/choose/attackers": "audit/choose/test_measurement",
    "audit/rounds/attackers": "audit/test_pipeline_rounds",
    # Seen in what an audit gives as a whole.
    "audit/measure/costs": "audit/measure/test_collecting",
    "audit/measure/privacy": "audit/measure/test_collecting",
    "audit/measure/stored": "audit/measure/test_collecting",
    "audit/measure/findings": "audit/measure/test_results",
    "audit/run/adversaries/catalogue": "audit/run/adversaries/test_outsiders",
    "audit/run/assignment": "audit/test_pipeline_outsiders",
    "audit/run/accuracy": "audit/run/test_counterparts",
    "audit/run/processes": "audit/run/test_schedule",
    "audit/run/tasks/clock": "audit/run/tasks/test_auditor",
    "audit/run/tasks/fold": "audit/run/tasks/test_auditor",
    "audit/run/tasks/learning": "audit/run/tasks/test_auditor",
    "audit/report/curve_figures": "audit/report/test_figures",
    "audit/report/paper_tables": "audit/report/test_paper",
    "audit/report/settings": "audit/report/test_paper",
    "audit/report/tables/attackers": "audit/report/test_opening",
    "audit/report/tables/latex": "audit/report/test_opening",
    # The dialogue, as a person meets it.
    "cli/answer/keys": "cli/answer/test_session",
    "cli/answer/options": "cli/answer/test_category",
    # Data that other modules are made of.
    "data/simulation/model": "data/simulation/test_draw",
    "data/simulation/presets": "data/sources/test_catalogue",
    "data/sources/wheel": "data/sources/test_acquisition",
}
"""Modules without a test module of their own, and the one that covers them.

That one imports the module, or one that is made of it: see `covers`.
"""
MIGRATIONS = "analyst/storage/migrations/"
"""Alembic loads these by their path; `analyst/storage/test_store` runs them all."""


def modules(source: Path, pattern: str = "*.py") -> set[str]:
    """Name the modules below a directory, packages' `__init__` left out."""
    paths = (path.relative_to(source) for path in source.rglob(pattern))
    return {path.with_suffix("").as_posix() for path in paths if not path.name.startswith("__")}


def untested(source: Path, tests: Path) -> set[str]:
    """Name the modules whose test module is not where theirs is."""
    names = {name for name in modules(source) if not name.startswith(MIGRATIONS)}
    return {name for name in names if not _test_of(name, tests).exists()}


def _test_of(name: str, tests: Path) -> Path:
    path = Path(name)
    return tests / path.parent / f"test_{path.name}.py"


def test_every_module_has_its_test_module_or_is_covered_by_another() -> None:
    found = untested(SOURCE, TESTS)
    assert sorted(found - COVERED.keys()) == [], "write a test module where the module lies"
    assert sorted(COVERED.keys() - found) == [], "these have a test module now, or are gone"
    assert sorted(n for n in {*COVERED.values()} if not (TESTS / f"{n}.py").exists()) == []


@cache
def imports(path: Path, root: Path) -> frozenset[Path]:
    """Return the files of ours that define what a file imports, a package's own names followed."""
    pairs = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            pairs += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            pairs += [(alias.name, "") for alias in node.names]
    return frozenset(file for pair in pairs if (file := _defined(*pair, root)) is not None)


def _defined(module: str, name: str, root: Path) -> Path | None:
    """Return the file that defines a name of a module; None if it is not ours."""
    whole = _file(f"{module}.{name}", root) if name else None
    file = whole or _file(module, root)
    if whole or file is None or file.name != "__init__.py":
        return file
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return _defined(str(node.module), name, root)
    return file


def _file(module: str, root: Path) -> Path | None:
    above = root / "src" if module.split(".", maxsplit=1)[0] == "midpoint" else root
    path = above.joinpath(*module.split("."))
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.exists()), None)


def covers(test: Path, module: Path, root: Path) -> bool:
    """Tell whether a test imports a module, by itself or by helpers, or one that is made of it.

    Helpers are what it imports of ours, and the fixtures of its directory. A module is made of what
    it imports, and within its directory of what that imports in turn.
    """
    fixtures = test.with_name("conftest.py")  # the one of all tests says nothing of this one
    own = [fixtures] if fixtures.exists() and test.parent != root / "tests" else []
    used, waiting = set[Path](), [test, *own]
    while waiting:
        new = imports(waiting.pop(), root) - used
        used |= new
        waiting += [file for file in new if root / "tests" in file.parents]
    reached, waiting = set(used), [file for file in used if file.parent == module.parent]
    while waiting:
        inside = {f for f in imports(waiting.pop(), root) if f.parent == module.parent} - reached
        reached |= inside
        waiting += inside
    ours = (file for file in used if root / "src" in file.parents)
    return module in reached or any(module in imports(file, root) for file in ours)


def test_what_is_said_to_cover_a_module_imports_it_or_what_is_made_of_it() -> None:
    idle = [
        f"{module}: {test}"
        for module, test in COVERED.items()
        if not covers(TESTS / f"{test}.py", SOURCE / f"{module}.py", TESTS.parent)
    ]
    assert idle == [], "these tests do not reach what they are said to cover"


def test_a_test_that_does_not_reach_a_module_is_noticed(tmp_path: Path) -> None:
    written = {
        "src/midpoint/__init__.py": "",
        "src/midpoint/room/__init__.py": "from midpoint.room.whole import run",
        "src/midpoint/room/whole.py": "from midpoint.room.half import step",
        "src/midpoint/room/half.py": "from midpoint.room.part import add",
        "src/midpoint/room/part.py": "",
        "src/midpoint/other.py": "from midpoint.room.whole import run",
        "tests/support/helper.py": "from midpoint.room import run",
        "tests/test_whole.py": "from tests.support.helper import run",
        "tests/test_other.py": "import midpoint.other",
        "tests/test_idle.py": "import json",
        "tests/conftest.py": "from midpoint.room import run",
        "tests/room/conftest.py": "from midpoint.room import run",
        "tests/room/test_fixture.py": "import json",
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    part = tmp_path / "src" / "midpoint" / "room" / "part.py"
    names = ("test_whole", "test_other", "test_idle", "room/test_fixture")
    reaching = [n for n in names if covers(tmp_path / "tests" / f"{n}.py", part, tmp_path)]
    assert reaching == ["test_whole", "room/test_fixture"]


def test_a_module_without_a_test_is_noticed(tmp_path: Path) -> None:
    for name in ("src/room/one.py", "src/room/two.py", "src/room/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tests" / "room").mkdir(parents=True)
    (tmp_path / "tests" / "room" / "test_one.py").touch()
    assert untested(tmp_path / "src", tmp_path / "tests") == {"room/two"}


SHARED = ("wire", "user")
"""Rooms that there are in both languages."""
ROW = re.compile(r"^\| `([\w/]+)` \| (Python|TypeScript) \| \S", re.MULTILINE)


def only_in_one(python: Path, typescript: Path) -> dict[str, str]:
    """Name the modules of the shared rooms that one language lacks, with the other one."""
    there = {"Python": modules(python), "TypeScript": modules(typescript, "*.ts")}
    return {
        name: language
        for language, other in (("Python", "TypeScript"), ("TypeScript", "Python"))
        for name in there[language] - there[other]
        if name.split("/")[0] in SHARED
    }


def test_both_languages_have_the_same_modules_but_for_those_of_the_table() -> None:
    table = dict(ROW.findall((TESTS.parent / "CONTRIBUTING.md").read_text("utf-8")))
    assert only_in_one(SOURCE, TESTS.parent / "web" / "src") == table


def test_a_module_of_one_language_is_noticed(tmp_path: Path) -> None:
    for name in ("py/wire/limits.py", "py/wire/sums.py", "py/data/a.py", "ts/wire/limits.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert only_in_one(tmp_path / "py", tmp_path / "ts") == {"wire/sums": "Python"}


WEB = TESTS.parent / "web"
IN_A_BROWSER = ("page", "extension")
"""What is shown to people: without a test module, it is covered by `tests/web` in a browser."""
COVERED_WEB = {
    "errors": "wire/message",
    "index": "library",
    "user/agent/channel": "user/agent/failures",
    "user/agent/home": "user/agent/agent",
    "user/agent/standing": "user/agent/refusals",
    "user/checks/certificate": "user/agent/refusals",
    "user/checks/disclosure": "user/agent/refusals",
    "user/checks/links": "user/agent/witness",
    "user/checks/pin": "user/agent/refusals",
    "user/checks/proof": "user/agent/refusals",
    "user/core/coins": "vectors",
    "user/core/correction": "vectors",
    "user/store": "user/agent/failures",
    "wire/corrections": "vectors",
    "wire/exchange": "user/agent/agent",
    "wire/fields": "wire/message",
    "wire/fixed": "vectors",
    "wire/limits": "wire/numbers",
    "wire/listing": "user/agent/witness",
    "wire/positions": "user/core/counterparts",
    "wire/record": "vectors",
    "wire/refusal": "user/agent/refusals",
    "wire/scheme": "wire/disclosure",
}
"""Modules of `web/src` without a test module of their own, and the one that covers them."""
RELATIVE = re.compile(r"""from\s+["'](\.{1,2}/[^"']+)["']""")


def untested_web(web: Path) -> set[str]:
    """Name the modules of TypeScript whose test module is not where theirs is."""
    names = modules(web / "src", "*.ts")
    return {name for name in names if not (web / "tests" / f"{name}.test.ts").exists()}


def reached(test: Path) -> set[Path]:
    """Return the files that a test of TypeScript imports, by itself or by what it imports."""
    files, waiting = set[Path](), [test]
    while waiting:
        file = waiting.pop()
        for name in RELATIVE.findall(file.read_text(encoding="utf-8")):
            path = (file.parent / f"{name}.ts").resolve()
            if path.exists() and path not in files:
                files.add(path)
                waiting.append(path)
    return files


def test_every_module_of_typescript_has_its_test_module_or_is_covered_by_another() -> None:
    found = {name for name in untested_web(WEB) if not name.startswith(IN_A_BROWSER)}
    assert sorted(found - COVERED_WEB.keys()) == [], "write a test module where the module lies"
    assert sorted(COVERED_WEB.keys() - found) == [], "these have a test module now, or are gone"
    idle = [
        f"{module}: {test}"
        for module, test in COVERED_WEB.items()
        if WEB / "src" / f"{module}.ts" not in reached(WEB / "tests" / f"{test}.test.ts")
    ]
    assert idle == [], "these tests do not reach what they are said to cover"


def test_a_module_of_typescript_without_a_test_is_noticed(tmp_path: Path) -> None:
    written = {
        "src/wire/one.ts": "",
        "src/wire/two.ts": "",
        "src/wire/three.ts": "",
        "tests/wire/one.test.ts": 'import { a } from "../../src/wire/one";\n',
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert untested_web(tmp_path) == {"wire/two", "wire/three"}
    assert reached(tmp_path / "tests" / "wire" / "one.test.ts") == {tmp_path / "src/wire/one.ts"}
