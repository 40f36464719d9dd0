"""The user: her device, which alone knows her private feature."""

from typing import TYPE_CHECKING, Any

from midpoint.user.checks.certificate import verify_certificate
from midpoint.user.checks.disclosure import Accepted, check_disclosure, check_titles
from midpoint.user.checks.pin import Pin
from midpoint.user.core.coins import PURPOSES, toss
from midpoint.user.core.correction import Recommendation, correct, corrections, taste_move
from midpoint.user.core.counterparts import Adjustment, adjust, reveal_probability, value_shift
from midpoint.user.core.decisions import decide, require_legal
from midpoint.user.core.ledger import Decision, Ledger
from midpoint.user.core.obfuscation import Obfuscated, obfuscate
from midpoint.user.core.private import DeviceSecret, PrivateCategory
from midpoint.user.device_files import BrokenSealError, StorageError
from midpoint.user.parameters import Parameters
from midpoint.wire.numbers import check_numbers

if TYPE_CHECKING:
    from midpoint.user.agent import Agent, AsyncAgent

__all__ = [
    "PURPOSES",
    "Accepted",
    "Adjustment",
    "Agent",
    "AsyncAgent",
    "BrokenSealError",
    "Decision",
    "DeviceSecret",
    "Ledger",
    "Obfuscated",
    "Parameters",
    "Pin",
    "PrivateCategory",
    "Recommendation",
    "StorageError",
    "adjust",
    "check_disclosure",
    "check_numbers",
    "check_titles",
    "correct",
    "corrections",
    "decide",
    "obfuscate",
    "require_legal",
    "reveal_probability",
    "taste_move",
    "toss",
    "value_shift",
    "verify_certificate",
]


def __getattr__(name: str) -> Any:
    """Bring the agent, and the HTTP library with it, only where it is used."""
    if name not in ("Agent", "AsyncAgent"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from midpoint.user import agent  # noqa: PLC0415

    return getattr(agent, name)
