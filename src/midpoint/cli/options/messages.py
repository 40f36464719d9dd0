"""What the commands on reports and disclosures share: options, and how messages are read."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst import ItemProfiles, Scorer
    from midpoint.wire import Disclosure, Message

    M = TypeVar("M", bound=Message)

ReportFiles = Annotated[
    list[Path], typer.Argument(help="One person's reports, as JSON.", show_default=False)
]
DisclosureFile = Annotated[
    Path, typer.Option(help="The disclosure, as `midpoint disclose` wrote it.")
]
Alpha = Annotated[float, typer.Option(min=0, max=1, help="Share of ratings to obfuscate.")]
CoinSeed = Annotated[
    int | None,
    typer.Option(help="Makes the coins repeatable; keep it secret. Else they are random."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


class Estimator(StrEnum):
    """How a profile is estimated."""

    map = "map"
    least_squares = "least-squares"


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """A model, what people answered under, and how their profiles are estimated."""

    model: Annotated[
        Path,
        typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False),
    ]
    disclosure: Annotated[
        Path | None,
        typer.Option(help="The disclosure that the reports answer; unless given, the model's own."),
    ] = None
    estimator: Annotated[
        Estimator,
        typer.Option(
            help="`map`: with the training users' distribution as a prior; `least-squares`:"
            " without."
        ),
    ] = Estimator.map

    def load(self) -> "tuple[ItemProfiles, Disclosure]":
        """Return the item profiles and the disclosure that people answered under."""
        profiles = self.profiles()
        return profiles, self.disclosed(profiles)

    def profiles(self) -> "ItemProfiles":
        """Return the item profiles."""
        from midpoint.analyst import ItemProfiles

        return ItemProfiles.load(self.model)

    def disclosed(self, profiles: "ItemProfiles") -> "Disclosure":
        """Return the disclosure that people answered under."""
        from midpoint.analyst import disclose
        from midpoint.wire import Disclosure

        if self.disclosure is None:
            return disclose(profiles)
        return read_message(self.disclosure, Disclosure)

    def scorer(self) -> "Scorer":
        """Return what turns reports into scores, by the disclosure that they were made under."""
        from midpoint.analyst import Scorer

        return Scorer(*self.load(), estimator=self.estimator.value)


def read_message(path: Path, kind: "type[M]") -> "M":
    """Read a message from a file; an error names the file."""
    from midpoint.wire import RefusedError

    try:
        return kind.parse(path.read_bytes())
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except RefusedError as error:
        kind_name = kind.__name__.lower()
        raise MidpointError(f"{path} holds no valid {kind_name} message: {error}") from error
