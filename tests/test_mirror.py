"""Tests mirror the tree, and TypeScript mirrors Python; tables say where they do not."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "midpoint"

COVERED = {
    # One contract suite runs every engine, and what each is made of.
    "analyst/engines/engine": "analyst/engines/test_contract",
    "analyst/engines/local": "analyst/engines/test_contract",
    "analyst/engines/counts": "analyst/engines/test_counterparts",
    "analyst/engines/unfinished": "analyst/engines/test_counterparts",
    "analyst/engines/spark/panel": "analyst/engines/test_counterparts",
    "analyst/engines/tables": "analyst/engines/test_contract",
    "analyst/engines/spark/blocks": "analyst/engines/spark/test_passes",
    "analyst/engines/spark/engine": "analyst/engines/test_contract",
    "analyst/engines/spark/factorizer": "analyst/engines/test_contract",
    "analyst/engines/spark/people": "analyst/engines/test_contract",
    "analyst/engines/spark/reader": "analyst/engines/test_contract",
    "analyst/engines/spark/scores": "cli/test_batch",
    "analyst/engines/spark/solver": "analyst/engines/spark/test_passes",
    "analyst/engines/spark/statistics": "analyst/engines/test_contract",
    "analyst/engines/spark/tables": "analyst/engines/test_contract",
    "analyst/engines/streaming/engine": "analyst/engines/test_contract",
    "analyst/engines/streaming/factorizer": "analyst/engines/test_contract",
    "analyst/engines/streaming/scan": "analyst/engines/test_contract",
    "analyst/engines/streaming/statistics": "analyst/engines/test_contract",
    # Parts of one computation, held to a slow form of the whole.
    "analyst/fit/assembly": "analyst/fit/test_factorizer",
    "analyst/fit/standardized": "analyst/fit/test_als",
    "analyst/fit/summary": "analyst/test_reprs",
    "analyst/kernels/normal_equations": "analyst/kernels/test_ridge",
    "analyst/kernels/simd": "analyst/kernels/test_ridge",
    "analyst/kernels/gram": "analyst/kernels/test_ridge",
    "analyst/kernels/small_systems": "analyst/kernels/test_ridge",
    "analyst/kernels/doubles": "analyst/kernels/test_newton",
    # The service, seen from outside.
    "analyst/service/http/app": "analyst/service/http/test_routes",
    "analyst/service/http/dispatch": "analyst/service/http/test_routes",
    "analyst/service/logs": "analyst/service/test_faults",
    "analyst/service/metrics": "analyst/service/http/test_routes",
    "analyst/service/state/publication": "analyst/service/test_retraining",
    # One contract for every database.
    "analyst/storage/connection": "analyst/storage/test_store",
    "analyst/storage/migrations/env": "analyst/storage/test_store",
    "analyst/storage/migrations/versions/v0001_first": "analyst/storage/test_store",
    "analyst/storage/records": "analyst/storage/test_store",
    "analyst/storage/tables": "analyst/storage/test_store",
    "analyst/storage/upgrade": "analyst/storage/test_store",
    # One contract suite tries every attacker on people whom it must read.
    "audit/attackers/attacker": "audit/test_contract",
    "audit/attackers/auc": "audit/attackers/test_learned",
    "audit/attackers/catalogue": "audit/run/test_choice",
    "audit/attackers/features": "audit/attackers/test_learned",
    "audit/attackers/kernels": "audit/attackers/test_learned",
    "audit/attackers/linear": "audit/attackers/test_learned",
    "audit/attackers/products": "audit/attackers/test_learned",
    "audit/attackers/scaling": "audit/attackers/test_learned",
    "audit/attackers/threads": "audit/measure/test_null_band",
    "audit/attackers/trees": "audit/attackers/test_learned",
    "audit/rounds/attackers": "audit/test_pipeline_rounds",
    # Seen in what an audit gives as a whole.
    "audit/measure/collecting": "audit/test_pipeline",
    "audit/run/accuracy": "audit/run/test_counterparts",
    "audit/run/processes": "audit/run/test_schedule",
    "audit/run/round_views": "audit/test_pipeline_rounds",
    "audit/run/tasks": "audit/run/test_schedule",
    "audit/report/curve_figures": "audit/report/test_figures",
    "audit/report/adversary_figures": "audit/report/test_verdict",
    "audit/report/tables": "audit/report/test_page",
    "audit/report/html": "audit/report/test_page",
    "audit/report/paper_tables": "audit/report/test_paper",
    "audit/report/settings": "audit/report/test_paper",
    # The dialogue, as a person meets it.
    "cli/answer/keys": "cli/answer/test_session",
    "cli/answer/options": "cli/answer/test_command",
    "cli/answer/script": "cli/answer/test_command",
    "cli/answer/statements": "cli/answer/test_protect",
    # Data that other modules are made of.
    "data/encoding": "data/test_ratings",
    "data/simulation/model": "data/simulation/test_draw",
    "data/simulation/presets": "data/sources/test_catalogue",
    "data/sources/wheel": "data/sources/test_acquisition",
}
"""Modules without a test module of their own, and the one that covers them."""


def modules(source: Path, pattern: str = "*.py") -> set[str]:
    """Name the modules below a directory, packages' `__init__` left out."""
    paths = (path.relative_to(source) for path in source.rglob(pattern))
    return {path.with_suffix("").as_posix() for path in paths if not path.name.startswith("__")}


def untested(source: Path, tests: Path) -> set[str]:
    """Name the modules whose test module is not where theirs is."""
    found = modules(source)
    return {name for name in found if not _test_of(name, tests).exists()}


def _test_of(name: str, tests: Path) -> Path:
    path = Path(name)
    return tests / path.parent / f"test_{path.name}.py"


def test_every_module_has_its_test_module_or_is_covered_by_another() -> None:
    found = untested(SOURCE, TESTS)
    assert sorted(found - COVERED.keys()) == [], "write a test module where the module lies"
    assert sorted(COVERED.keys() - found) == [], "these have a test module now, or are gone"
    assert sorted(n for n in {*COVERED.values()} if not (TESTS / f"{n}.py").exists()) == []


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
