"""Reports of many people, as a table or as messages, and the disclosures they answer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from midpoint.data.tables.cells import as_numbers, names_of
from midpoint.data.tables.columns import plain_name
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Report, from_fixed

if TYPE_CHECKING:
    from midpoint.analyst.learn.admission import Admission

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "person": ("pseudonym", "person", "user", "userid", "token"),
    "disclosure": ("disclosure", "disclosuredigest", "digest"),
    "item": ("item", "itemid", "movie", "movieid"),
    "value": ("value", "rating", "answer"),
}
"""What the columns of a table of reports are called, the likeliest first."""
SCHEMA: Final = {
    "person": pl.String,
    "disclosure": pl.String,
    "item": pl.String,
    "value": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class CollectedReports:
    """Reports of many people, not yet checked."""

    answers: pl.DataFrame
    """One row for each answer: person, disclosure, item, value; a cell may be null."""
    disclosures: Mapping[str, Disclosure]
    """All disclosures that were ever published, by digest."""
    name: str = "reports"
    """Their source, for messages."""
    admitted: "Callable[[Admission], None] | None" = None
    """Called with the numbers of answers that are used and left out."""

    def __len__(self) -> int:
        """Count the answers."""
        return self.answers.height

    def __repr__(self) -> str:
        """Say how much it is, in one line; nothing about anybody."""
        people = self.answers["person"].n_unique()
        return (
            f"<CollectedReports {self.name}: {len(self)} answers of {people} people under"
            f" {len(self.disclosures)} disclosures>"
        )

    @classmethod
    def of(
        cls,
        messages: Iterable[tuple[str, Report]],
        disclosures: Iterable[Disclosure],
        name: str = "reports",
    ) -> Self:
        """Take reports as they were received, each with the pseudonym that sent it."""
        rows = [
            (person, report.disclosure, item, value)
            for person, report in messages
            for item, value in report.answers
        ]
        schema = {**SCHEMA, "value": pl.Int64}
        answers = pl.DataFrame(rows, schema=schema, orient="row")
        exact = pl.Series("value", from_fixed(answers["value"].to_numpy()), dtype=pl.Float64)
        return cls(answers.with_columns(exact), _by_digest(disclosures), name)

    @classmethod
    def read(cls, path: Path | str, disclosures: Iterable[Disclosure]) -> Self:
        """Read a table, CSV or Parquet, with the columns pseudonym, disclosure, item and value."""
        cells, origin = read_table(Path(path))
        plain = {plain_name(column): column for column in reversed(cells.columns)}
        columns = dict[str, pl.Series]()
        for role, names in NAMES.items():
            column = next((plain[name] for name in names if name in plain), None)
            if column is None:
                raise MidpointError(
                    f"{origin.path} has no column {names[0]!r}; a table of reports has the columns"
                    f" pseudonym, disclosure, item and value, and this one {_listed(cells)}"
                )
            number = role == "value"
            columns[role] = as_numbers(cells[column]) if number else names_of(cells[column])
        answers = pl.DataFrame(columns).cast(SCHEMA)  # type: ignore[arg-type]
        return cls(answers, _by_digest(disclosures), str(origin.path))


def _by_digest(disclosures: Iterable[Disclosure]) -> dict[str, Disclosure]:
    return {disclosure.digest: disclosure for disclosure in disclosures}


def _listed(cells: pl.DataFrame) -> str:
    return ", ".join(cells.columns[:8])
