"""Coins of a device: the same for an item for ever, whatever disclosure or round asks.

coin = (first 53 bits, big-endian, of HMAC-SHA-256(secret, tag, item, purpose)) / 2^53, where each
part goes in after its length in four bytes, big-endian. Not keyed by the disclosure: a new
disclosure must not toss a withheld item again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.user.core.private import DeviceSecret, framed

TAG = b"midpoint/v1/coin"
PURPOSES = ("reveal", "value", "split", "mix")
"""What coins are for, in the order of their columns."""
REVEAL, VALUE, SPLIT, MIX = range(4)
_TAILS = tuple(framed(purpose.encode()) for purpose in PURPOSES)


def coin_bits(secret: DeviceSecret, item: str) -> list[int]:
    """Return the 53 bits of each of an item's coins as an integer, in the order of PURPOSES."""
    head = framed(TAG, item.encode())
    return [int.from_bytes(secret.prf(head + tail)[:7], "big") >> 3 for tail in _TAILS]


def toss(secret: DeviceSecret, items: Sequence[str]) -> NDArray[np.float64]:
    """Return uniforms in [0, 1). Shape (items, purposes)."""
    bits = np.array([coin_bits(secret, item) for item in items], dtype=np.float64)
    return bits.reshape(-1, len(PURPOSES)) / 2**53
