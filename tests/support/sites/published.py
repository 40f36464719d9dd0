"""A list of four disclosures, and the pins of those who accepted them."""

from typing import Any

from midpoint.user import Pin, check_disclosure
from midpoint.wire import (
    Refusal,
    RefusedError,
)
from tests.support.people.made_up import (
    ANALYST,
    disclosure,
    entries,
    sealed,
)

SHOWN = [disclosure(seed=seed) for seed in range(4)]

LIST = entries(SHOWN)

CHAIN = sealed(LIST)

PINS = [
    Pin(
        key=ANALYST.public,
        sequence=entry.sequence,
        head=entry.digest,
        features=SHOWN[0].features,
        scale=SHOWN[0].scale,
        scheme=SHOWN[0].scheme,
    )
    for entry in LIST
]


def code_of(*arguments: Any, **options: Any) -> Refusal | None:
    """Return the code by which a disclosure is refused; None if it is accepted."""
    try:
        check_disclosure(*arguments, **options)
    except RefusedError as refused:
        return refused.code
    return None
