"""What the programs that make vectors share."""

from typing import Any

from midpoint.user import Pin
from midpoint.wire import (
    ONE,
    Disclosure,
    Entry,
    FeatureNames,
    Message,
    Refusal,
    Signed,
    WitnessStatement,
)
from tests.support.made_up import AGE, GENDER

KEY = bytes(range(32, 64))
FEATURES: dict[str, tuple[FeatureNames, ...]] = {
    "2": (GENDER,),
    "3": (AGE,),
    "2x3": (GENDER, AGE),
}
UNEVEN = (0, ONE, 3 * ONE, 7 * ONE)
HALVES = tuple(ONE * half // 2 for half in range(1, 11))
Case = dict[str, Any]
Listed = tuple[str, Disclosure, list[Signed], Pin | None, WitnessStatement | None, Refusal | Pin]


def text(message: Message) -> str:
    return message.raw.decode()


def pinned(entry: Entry, shown: Disclosure) -> Pin:
    """What a device keeps after this entry."""
    return Pin(
        key=entry.key,
        sequence=entry.sequence,
        head=entry.digest,
        features=shown.features,
        scale=shown.scale,
        scheme=shown.scheme,
    )


def own_category(shown: Disclosure, turn: int) -> dict[str, str]:
    return {
        feature.name: feature.categories[(turn + index) % len(feature.categories)]
        for index, feature in enumerate(shown.features)
    }
