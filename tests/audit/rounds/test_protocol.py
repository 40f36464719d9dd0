import pytest

from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.errors import MidpointError


def test_devices_keep_decisions_unless_said_otherwise() -> None:
    protocol = RoundsProtocol("dmpss")
    assert (protocol.rounds, protocol.budget, protocol.items, protocol.device) == (
        4,
        30,
        300,
        DeviceKind.FINAL,
    )


def test_what_cannot_be_held_is_refused() -> None:
    for rounds, budget, items in ((1, 1, 1), (2, 0, 1), (2, 1, 0)):
        with pytest.raises(MidpointError, match="2 rounds and 1 item"):
            RoundsProtocol("dmpss", rounds=rounds, budget=budget, items=items)
    for name, alpha in (("nothing", 1.0), ("full", 1.0), ("mpss", 0.5)):
        with pytest.raises(MidpointError, match="cannot be held"):
            RoundsProtocol(name, alpha=alpha)
