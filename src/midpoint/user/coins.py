"""Coins of a device: the same for an item for ever, whatever disclosure or round asks.

coin = (first 53 bits, big-endian, of HMAC-SHA-256(secret, tag, item, purpose)) / 2^53, where each
part goes in after its length in four bytes, big-endian. Not keyed by the disclosure: a new
disclosure must not toss a withheld item again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.user.private import DeviceSecret

TAG = b"midpoint/v1/coin"
PURPOSES = ("reveal", "value", "split", "mix")
"""What coins are for, in the order of their columns."""
REVEAL, VALUE, SPLIT, MIX = range(4)


def coin_bits(secret: DeviceSecret, item: str, purpose: str) -> int:
    """Return the 53 bits of one coin as an integer."""
    drawn = secret.prf(TAG, item.encode(), purpose.encode())
    return int.from_bytes(drawn[:7], "big") >> 3


def toss(secret: DeviceSecret, items: Sequence[str]) -> NDArray[np.float64]:
    """Return uniforms in [0, 1). Shape (items, purposes)."""
    bits = [[coin_bits(secret, item, purpose) for purpose in PURPOSES] for item in items]
    return np.array(bits, dtype=np.float64).reshape(-1, len(PURPOSES)) / 2**53
