"""Sums over what people rated and over what they were asked."""

import numpy as np
import pytest
from scipy.special import expit

from midpoint.analyst.kernels.positions.evidence import (
    CHUNK,
    SUREST,
    draw_parts,
    expected_sums,
    integer_products,
    sum_ratings,
)
from midpoint.wire import positions


@pytest.mark.parametrize("items", [1, CHUNK, 2 * CHUNK + 3])
@pytest.mark.parametrize("reach", [1.0, 30.0])
def test_what_is_expected_is_exact_to_the_last_bits(items: int, reach: float) -> None:
    draws = np.random.default_rng(items)
    rate, selection = draws.normal(-2, 2, items), draws.normal(size=(items, 3))
    t, sums = reach * draws.normal(size=(4, 3)), np.zeros((4, 3))
    expected_sums(rate, np.ascontiguousarray(selection.T), t, sums)
    p = expit(np.clip(rate + t @ selection.T, -SUREST, SUREST))
    np.testing.assert_allclose(sums, p @ selection, rtol=1e-12, atol=1e-12)


def test_log_odds_are_cut_as_devices_cut_them() -> None:
    assert SUREST == positions.SUREST


def test_ratings_are_summed_person_by_person() -> None:
    draws = np.random.default_rng(0)
    offsets, item = np.array([0, 2, 2, 5]), np.array([0, 3, 1, 3, 2])
    selection, taste, rest = (
        draws.normal(size=(4, 2)),
        draws.normal(size=(4, 3)),
        draws.normal(size=5),
    )
    pull, gram = np.zeros((3, 5)), np.zeros((3, 6))
    sum_ratings(offsets, item, rest, selection, taste, pull, gram)
    for i in range(3):
        mine = slice(offsets[i], offsets[i + 1])
        s, g = selection[item[mine]], taste[item[mine]]
        np.testing.assert_allclose(pull[i], np.append(s.sum(axis=0), rest[mine] @ g), atol=1e-12)
        np.testing.assert_allclose(gram[i], (g.T @ g)[np.tril_indices(3)], atol=1e-12)


def test_products_of_integers_are_exact() -> None:
    draws = np.random.default_rng(0)
    table, rows = draws.integers(-9, 9, (4, 3)), draws.integers(-(2**40), 2**40, (2, 2, 3))
    item, person, result = (
        np.array([0, 3, 1]),
        np.array([1, 0, 1]),
        np.zeros((3, 2), dtype=np.int64),
    )
    integer_products(table, item, rows, person, result)
    assert np.array_equal(result, np.einsum("nd,nkd->nk", table[item], rows[person]))


def test_parts_are_those_with_the_least_draws() -> None:
    draws = np.random.default_rng(5)
    offsets = np.array([0, 4, 4, 9, 10], np.int64)
    uniform, size = draws.random(10), np.array([2, 0, 5, 0], np.int64)
    drawn = np.empty(10, np.bool_)
    draw_parts(offsets, uniform, size, drawn)
    for i, n in enumerate(size.tolist()):
        own = slice(offsets[i], offsets[i + 1])
        assert drawn[own].tolist() == [bool(u in np.sort(uniform[own])[:n]) for u in uniform[own]]
