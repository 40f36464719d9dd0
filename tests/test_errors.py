"""The one kind of error that a person can fix."""

import ast
from pathlib import Path

from midpoint import errors
from midpoint.errors import MidpointError

SOURCE = Path(errors.__file__).parent


def words(text: str) -> list[str]:
    """Return the fixed text of every message that a `MidpointError` is raised with."""
    calls = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MidpointError"
    )
    return [
        "".join(
            part.value
            for part in ast.walk(call)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        for call in calls
    ]


def test_it_is_caught_as_a_wrong_value() -> None:
    assert issubclass(MidpointError, ValueError)
    assert str(MidpointError("row 3 is blank; fill it")) == "row 3 is blank; fill it"


def test_messages_are_sentences_without_a_full_stop() -> None:
    said = [words(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")]
    fixed = [text.removesuffix("...") for texts in said for text in texts]
    ends = [text for text in fixed if text.endswith((".", "!", "\n"))]
    assert sum(map(len, said)) > 100
    assert ends == []
    assert words('raise MidpointError(f"{x} is wrong.")') == [" is wrong."]  # it would be seen
