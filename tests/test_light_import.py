"""What a device installs and imports stays light."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

HEAVY = ("httpx", "numba", "polars", "scipy", "sklearn", "pandas")

SCRIPT = """
import json, sys
{statement}
heavy = {heavy!r}
print(json.dumps(sorted(name for name in heavy if name in sys.modules)))
"""


def loaded(statement: str, heavy: tuple[str, ...] = HEAVY) -> list[str]:
    """Return which heavy libraries are there after a statement in a fresh interpreter."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(statement=statement, heavy=heavy)],
        capture_output=True,
        text=True,
        check=True,
    )
    names: list[str] = json.loads(found.stdout.splitlines()[-1])
    return names


@pytest.mark.parametrize(
    "statement",
    ["import midpoint", "import midpoint.user, midpoint.wire", "import midpoint.data"],
)
def test_light_rooms_load_nothing_heavy(statement: str) -> None:
    assert loaded(statement) == []


def test_the_check_sees_what_is_heavy() -> None:
    assert {"numba", "scipy"} <= set(loaded("import midpoint.analyst"))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"]])
def test_help_waits_for_no_heavy_library(arguments: list[str]) -> None:
    statement = f"""
import contextlib, io
from midpoint.cli import main
sys.argv = ["midpoint", *{arguments!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
"""
    assert loaded(statement) == []
