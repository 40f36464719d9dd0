"""Integers written as JSON has them."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst.kernels.decimals import decimals

whole = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(whole | st.integers(-1000, 1000)))
def test_lists_are_written_as_json_writes_them(numbers: list[int]) -> None:
    written = b"[%b]" % decimals(np.array(numbers, np.int64))
    assert written == json.dumps(numbers, separators=(",", ":")).encode()


def test_the_ends_of_the_range_and_tens() -> None:
    numbers = [-(2**63), 2**63 - 1, 0, -1, 9, 10, -10, -100, 65536, -99]
    assert json.loads(b"[%b]" % decimals(np.array(numbers)[::1])) == numbers
    assert json.loads(b"[%b]" % decimals(np.array(numbers)[::-2])) == numbers[::-2]
