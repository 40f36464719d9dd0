"""Run the notebooks of the documentation, and keep what they show.

Needs nbclient and ipykernel, which `make notebooks` sets up beside the peers. Each notebook runs in
an empty directory. What goes to the error stream is not kept, nor the directory's
name.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> None:
    """Run a notebook from an empty state, and write it with its outputs."""
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as scratch:
        NotebookClient(book, timeout=600, resources={"metadata": {"path": scratch}}).execute()
        where = f"{Path(scratch).resolve()}{os.sep}"
    for cell in book.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = joined(shown for shown in cell.outputs if kept(shown))
            for shown in cell.outputs:
                if "text" in shown:
                    shown.text = shown.text.replace(where, "")
    book.metadata.pop("language_info", None)
    nbformat.write(book, path)


def kept(shown: Any) -> bool:
    """Tell whether an output belongs to the page; what goes to the error stream does not."""
    return not (shown.output_type == "stream" and shown.name == "stderr")


def joined(outputs: Iterable[Any]) -> list[Any]:
    """Put what was printed in several pieces together."""
    parts = list[Any]()
    for shown in outputs:
        if parts and parts[-1].output_type == shown.output_type == "stream":
            parts[-1].text += shown.text
        else:
            parts.append(shown)
    return parts


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="such as researcher; all unless given")
    chosen = parser.parse_args().names or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    programs = Path(sys.executable).parent
    os.environ.update(
        COLUMNS="100", NO_COLOR="1", PATH=f"{programs}{os.pathsep}{os.environ['PATH']}"
    )
    for name in chosen:
        run(NOTEBOOKS / f"{name}.ipynb")
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
