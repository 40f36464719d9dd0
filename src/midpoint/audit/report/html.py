"""Tables as HTML."""

from collections.abc import Iterable, Sequence

Cells = Sequence[str]


def table(caption: str, heads: Cells, rows: Iterable[Cells], *, kind: str = "numbers") -> str:
    """Lay out cells that are HTML already."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(_row(row) for row in rows)
    title = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="wide"><table class="{kind}">{title}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(cells: Cells) -> str:
    first, *others = cells
    rest = "".join(f"<td>{cell}</td>" for cell in others)
    return f'<tr><th scope="row">{first}</th>{rest}</tr>\n'
