"""The digest covers what makes numbers, and nothing that only shows them."""

import shutil
from pathlib import Path

import pytest

from midpoint.audit.run.sources import ROOT, code_digest, sources

COUNTS = (
    "audit/attackers/linear.py",
    "audit/rounds/conversation.py",
    "audit/run/accuracy.py",
    "analyst/kernels/ridge.py",
    "analyst/disclose/disclosure.py",
    "protocol/learning.py",
    "user/core/obfuscation.py",
    "wire/scheme.py",
    "data/split.py",
)
SHOWS = (
    "audit/report/page.py",
    "audit/measure/collecting.py",
    "audit/pipeline.py",
    "audit/contract.py",
    "cli/audit.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    copy = tmp_path / "midpoint"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__", "*.js", "*.html"))
    return copy


def digest_after(tree: Path, path: str, number: int) -> str:
    """Edit a file, and return the digest of a copy under another name, which is not remembered."""
    with (tree / path).open("a") as stream:
        stream.write("\n# edited\n")
    other = tree.with_name(f"copy-{number}")
    tree.rename(other)
    found = code_digest(other)
    other.rename(tree)
    return found


@pytest.mark.slow
def test_editing_what_makes_numbers_changes_it_and_editing_a_report_does_not(tree: Path) -> None:
    seen = [code_digest()]
    for number, path in enumerate((*SHOWS, *COUNTS)):
        after = digest_after(tree, path, number)
        assert (after in seen) == (path in SHOWS), path
        seen.append(after)


def test_all_of_a_room_is_covered_by_what_is_imported() -> None:
    reached = {path.relative_to(ROOT).as_posix() for path in sources()}
    for room in ("audit/attackers", "audit/rounds", "audit/run", "analyst/kernels"):
        files = {path.relative_to(ROOT).as_posix() for path in (ROOT / room).glob("*.py")}
        unused = {name for name in files - reached if not name.endswith("__init__.py")}
        assert unused <= {"analyst/kernels/decimals.py"}, unused  # only the service writes numbers
    quiet = ("audit/report/", "audit/measure/", "cli/", "analyst/service/", "analyst/engines/spark")
    assert not [name for name in reached if name.startswith(quiet)]


def test_a_name_that_a_package_passes_on_leads_to_where_it_is_defined(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "audit/run/tasks.py": "from midpoint.room import a, b\nimport midpoint.files",
        "room/__init__.py": "from midpoint.room.one import a\nfrom midpoint.room.two import b, c\n"
        "from midpoint.room.heavy import d\n",
        "room/one.py": "def a():\n    from midpoint import deep\n",
        "room/two.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from midpoint.room.heavy import d\n",
        "room/heavy.py": "",
        "deep.py": "",
        "files.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    reached = [path.relative_to(tmp_path).as_posix() for path in sources(tmp_path)]
    assert reached == ["audit/run/tasks.py", "deep.py", "files.py", "room/one.py", "room/two.py"]
