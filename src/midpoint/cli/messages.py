"""What the commands on reports and disclosures share: options, and how messages are read."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Message, RefusedError, Report

if TYPE_CHECKING:
    from midpoint.analyst import Estimate, Evidence, ItemProfiles

M = TypeVar("M", bound=Message)

Directory = Annotated[
    Path, typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False)
]
ReportFiles = Annotated[
    list[Path], typer.Argument(help="One person's reports, as JSON.", show_default=False)
]
DisclosureFile = Annotated[
    Path | None,
    typer.Option("--disclosure", help="Refuse reports that were made under another disclosure."),
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


def read_answers(paths: Sequence[Path], disclosure: Disclosure | None = None) -> dict[str, int]:
    """Read one person's reports as answers by item, in fixed point; each item counts once."""
    answers: dict[str, int] = {}
    for path in paths:
        report = read_message(path, Report)
        if disclosure is not None and report.disclosure != disclosure.digest:
            raise MidpointError(
                f"{path} was made under disclosure {report.disclosure[:12]}, not"
                f" {disclosure.digest[:12]}; name the one it was made under"
            )
        for item, value in report.answers:
            if answers.setdefault(item, value) != value:
                raise MidpointError(
                    f"{path}: item {item!r} is answered otherwise in an earlier report; a device"
                    " never does that, so these are reports of two people"
                )
    return answers


def evidence_of(profiles: "ItemProfiles", answers: dict[str, int]) -> "Evidence":
    """Sum up answers for the estimators."""
    import numpy as np

    from midpoint.analyst import Evidence
    from midpoint.wire import from_fixed

    items = profiles.index_of(np.array(list(answers), dtype=np.str_))
    return Evidence.of(profiles, items, from_fixed(np.array(list(answers.values()), np.int64)))


def belief_of(profiles: "ItemProfiles", evidence: "Evidence", estimator: Estimator) -> "Estimate":
    """Estimate a profile."""
    from midpoint.analyst import least_squares, posterior

    if estimator is Estimator.map:
        return posterior(evidence, profiles)
    return least_squares(evidence, profiles.noise_variance)
