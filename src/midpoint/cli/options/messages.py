"""What the commands on reports and disclosures share: options, and how messages are read."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Message, RefusedError

if TYPE_CHECKING:
    from midpoint.analyst import ItemProfiles, Scorer

M = TypeVar("M", bound=Message)

Directory = Annotated[
    Path, typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False)
]
ReportFiles = Annotated[
    list[Path], typer.Argument(help="One person's reports, as JSON.", show_default=False)
]
DisclosureFile = Annotated[
    Path | None,
    typer.Option(
        "--disclosure", help="What the reports were made under; the profiles' default unless given."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


class Estimator(StrEnum):
    """How a profile is estimated."""

    map = "map"
    least_squares = "least-squares"


HowToEstimate = Annotated[
    Estimator, typer.Option(help="With the training users' spread as a prior, or without.")
]


def read_message(path: Path, kind: type[M]) -> M:
    """Read a message from a file; an error names the file."""
    try:
        return kind.parse(path.read_bytes())
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except RefusedError as error:
        raise MidpointError(f"{path}: {error}") from error


def disclosure_of(profiles: "ItemProfiles", path: Path | None) -> Disclosure:
    """Read what people answer under; the default disclosure of the profiles unless given."""
    from midpoint.analyst import disclose

    return disclose(profiles) if path is None else read_message(path, Disclosure)


def scorer_of(profiles: "ItemProfiles", path: Path | None, estimator: Estimator) -> "Scorer":
    """Return what turns reports into scores, by the disclosure that they were made under."""
    from midpoint.analyst import Scorer

    return Scorer(profiles, disclosure_of(profiles, path), estimator=estimator.value)
