"""A protocol whose devices are asked several times, as one more scheme of an audit."""

from dataclasses import dataclass

from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol


@dataclass(frozen=True)
class RoundsProtocol(LearningProtocol):
    """A protocol over several rounds: what is attacked is the whole transcript.

    Half way the analyst learns again and discloses other numbers.
    """

    rounds: int = 4
    """How often everyone is asked."""
    budget: int = 30
    """New items in each round, chosen by what was answered."""
    items: int = 300
    """Items that may be asked about, at most: those that most people can rate."""
    device: DeviceKind = DeviceKind.FINAL
    """What devices do when they are asked again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds < 2 or self.budget < 1 or self.items < 1:
            raise MidpointError("an audit of rounds takes 2 rounds and 1 item in each at least")
        if self.alpha < 1 or self.name in {"nothing", "full"}:
            raise MidpointError(
                f"rounds of {self.name!r} with alpha {self.alpha:g} cannot be held; name a scheme"
                " that sends ratings, without alpha"
            )
