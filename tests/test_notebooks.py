"""Every notebook shows what it shows today: it was run in order, and running it again agrees."""

import io
import json
import re
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.test_tutorials import Shell

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
NEEDS = {"implicit": "implicit", "lenskit": "lenskit"}
"""Libraries of others, which the locked environment does not have; `make notebooks` has them."""


def code_cells(name: str) -> list[dict[str, Any]]:
    book = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    """Return what a cell printed when it was kept."""
    shown = [part for part in cell["outputs"] if part["output_type"] == "stream"]
    return "".join(line for part in shown for line in part["text"])


def words(text: str) -> str:
    """Return a text without numbers and keys, which differ from run to run."""
    return " ".join(re.sub(r"\b[0-9a-f]{12,}\b|[-+]?\d[\d.,]*", "#", text).split())


def run(cell: dict[str, Any], names: dict[str, object], shell: Shell) -> str:
    """Run a cell, lines for the terminal included; return what Python printed."""
    lines = "".join(cell["source"]).splitlines()
    python = [line for line in lines if not line.startswith("!")]
    with redirect_stdout(io.StringIO()) as out:
        exec(compile("\n".join(python), "cell", "exec"), names)  # noqa: S102 - our own examples
    for line in lines:
        if line.startswith("!"):
            shell.line(line[1:])
    return out.getvalue()


def test_there_are_those_that_the_documentation_promises() -> None:
    assert {"researcher", "operator", *NEEDS} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_was_run_in_order_and_without_a_fault(name: str) -> None:
    cells = code_cells(name)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for part in (part for cell in cells for part in cell["outputs"]):
        assert part["output_type"] != "error"
        assert part.get("name") != "stderr"
        assert not re.search(r"(?<![\w.])/(tmp|home|root|work)/", json.dumps(part))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_still_shows_what_it_showed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} is not installed; `make notebooks` has it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    names: dict[str, object] = {"__name__": name}
    with ExitStack() as stack:
        shell = Shell(stack)
        for cell in code_cells(name):
            said = words(run(cell, names, shell))
            assert said == words(printed(cell)) or shell.shown
            shell.shown.clear()
