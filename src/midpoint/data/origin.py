"""Where rows came from, so that an error can name the line."""

from bisect import bisect_left
from typing import Literal, NamedTuple


class Origin(NamedTuple):
    """The file that columns came from."""

    path: str
    """The file."""
    first_line: int = 1
    """The number of the first row, counted from one."""
    unit: Literal["line", "row"] = "line"
    """What is counted: lines of text, or rows of a file without lines."""
    breaks: tuple[int, ...] = ()
    """For each line break within a cell the row it stands in, ascending: it makes a line more."""

    def number(self, row: int) -> int:
        """Return the line of a row that is counted from zero."""
        return row + self.first_line + bisect_left(self.breaks, row)

    def locate(self, row: int) -> str:
        """Name the file and line of a row that is counted from zero."""
        return f"{self.path}, {self.unit} {self.number(row)}"


def counted(count: int, noun: str) -> str:
    """Write a count and its noun, such as "1 row" or "2 rows"."""
    plural = {"person": "people"}.get(noun, f"{noun}s")
    return f"{count} {noun if count == 1 else plural}"
