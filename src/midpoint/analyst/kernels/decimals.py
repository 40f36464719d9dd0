"""Compiled writing of integers: lists of scores are most of what the service sends."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels.compilation import compiled

LONGEST = 21
"""Characters of the longest integer of 64 bits, with its sign and a comma."""
_MINUS, _ZERO, _COMMA = ord("-"), ord("0"), ord(",")


def decimals(numbers: NDArray[np.int64]) -> bytes:
    """Return integers as JSON has them in a list, without the brackets: b"3,-1,20". Shape (n,)."""
    text = np.empty(LONGEST * len(numbers), np.uint8)
    return text[: _write(np.ascontiguousarray(numbers, np.int64), text)].tobytes()


@compiled
def _write(numbers: NDArray[np.int64], text: NDArray[np.uint8]) -> int:
    """Write all of them; return how many characters that took."""
    end = 0
    for n in range(len(numbers)):
        if n:
            text[end] = _COMMA
            end += 1
        if numbers[n] < 0:
            text[end] = _MINUS
            end += 1
        rest = numbers[n]
        start = end
        while True:  # digits come last first; a remainder of a negative number counts from 10
            digit = rest % 10
            rest = rest // 10
            if numbers[n] < 0 and digit:
                digit = 10 - digit
                rest += 1
            text[end] = _ZERO + digit
            end += 1
            if rest == 0:
                break
        low, high = start, end - 1
        while low < high:
            text[low], text[high] = text[high], text[low]
            low += 1
            high -= 1
    return end
