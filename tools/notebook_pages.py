"""MkDocs hook: every executed notebook is a page, with what its cells showed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

FORMATS = ("image/png", "text/html", "text/plain")
"""What a cell may show, the best first."""


def on_files(files: Any, *, config: Any) -> Any:
    """Add a page for each notebook; the notebook itself stays beside it, to download."""
    for path in sorted(Path(config.docs_dir).rglob("*.ipynb")):
        source = path.relative_to(config.docs_dir).with_suffix(".md").as_posix()
        files.append(File.generated(config, source, content=page(path)))
    return files


def page(path: Path) -> str:
    """Return a notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title, *rest = (part for cell in cells for part in _parts(cell))
    head, _, lead = title.partition("\n")
    note = f"*A notebook, as it ran: [{path.name}]({path.name}){{ download }}.*"
    return "\n\n".join([head, note, lead.strip(), *rest]) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for shown in cell["outputs"]:
        yield _output(shown)


def _output(shown: dict[str, Any]) -> str:
    if shown["output_type"] == "stream":
        return f"```text\n{''.join(shown['text']).rstrip()}\n```"
    kind = next(name for name in FORMATS if name in shown["data"])
    data = "".join(shown["data"][kind])
    if kind == "image/png":
        return f"![What the cell draws](data:image/png;base64,{data.strip()})"
    return (
        f'<div class="md-typeset__table">\n{data}\n</div>'
        if kind == "text/html"
        else f"```text\n{data}\n```"
    )
