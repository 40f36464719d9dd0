import hashlib
import hmac

import numpy as np

from midpoint.user import PURPOSES, DeviceSecret, toss
from midpoint.user.core.coins import coin_bits

KEY = bytes(range(32))
ITEMS = [f"item {j}" for j in range(4000)]


def test_a_coin_is_the_documented_function() -> None:
    parts = (b"midpoint/v1/coin", "é".encode(), b"value")
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    bits = int.from_bytes(hmac.new(KEY, message, hashlib.sha256).digest(), "big") >> (256 - 53)
    assert coin_bits(DeviceSecret(KEY), "é")[PURPOSES.index("value")] == bits
    assert toss(DeviceSecret(KEY), ["é"])[0, PURPOSES.index("value")] == bits / 2**53


def test_coins_depend_on_secret_and_item_and_nothing_else() -> None:
    first = toss(DeviceSecret(KEY), ITEMS[:5])
    assert np.array_equal(first[::-1], toss(DeviceSecret(KEY), ITEMS[:5][::-1]))
    assert not np.any(first == toss(DeviceSecret(KEY[::-1]), ITEMS[:5]))
    assert len(np.unique(first)) == first.size


def test_no_items_no_coins() -> None:
    assert toss(DeviceSecret(KEY), []).shape == (0, len(PURPOSES))


def test_coins_are_uniform_and_purposes_independent() -> None:
    coins = toss(DeviceSecret(KEY), ITEMS)
    assert coins.min() >= 0
    assert coins.max() < 1
    for column in coins.T:
        counts, _ = np.histogram(column, bins=16, range=(0, 1))
        assert ((counts - 250) ** 2 / 250).sum() < 44.3  # chi-square, 15 degrees, P = 1e-4
    between = np.asarray(np.corrcoef(coins.T))[np.triu_indices(len(PURPOSES), 1)]
    assert np.abs(between).max() < 4 / np.sqrt(len(ITEMS))


def test_the_same_check_sees_dependent_purposes() -> None:
    coins = toss(DeviceSecret(KEY), ITEMS)
    mixed = np.column_stack([coins[:, 0], 0.2 * coins[:, 0] + 0.8 * coins[:, 1]])
    assert np.asarray(np.corrcoef(mixed.T))[0, 1] > 4 / np.sqrt(len(ITEMS))
