"""Vectors of float32 and of float64 numbers, added and multiplied inside a compiled kernel."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from midpoint.analyst.kernels import doubles, simd

Numbers = NDArray[np.floating[Any]]


def results(vectors: ModuleType, a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """Return a * b, a + b * c and a - b * c, one after the other, as a kernel computes them."""
    width = len(a)

    def compute(a: Numbers, b: Numbers, c: Numbers, out: Numbers) -> None:
        x, y, z = vectors.load(a, 0), vectors.load(b, 0), vectors.load(c, 0)
        vectors.store(out, 0, vectors.multiply(x, y))
        vectors.store(out, width, vectors.add_product(x, y, z))
        vectors.store(out, 2 * width, vectors.subtract_product(x, y, z))
        vectors.store(out, 3 * width, vectors.spread(a[1]))

    out = np.zeros(5 * width, a.dtype)
    kernel: Any = njit(compute)
    kernel(a, b, c, out)
    return out


@pytest.mark.parametrize(
    ("vectors", "width", "kind"),
    [(simd, simd.WIDTH, np.float32), (doubles, doubles.LANES, np.float64)],
)
def test_a_vector_is_its_numbers_in_their_own_precision(
    vectors: ModuleType, width: int, kind: type[np.floating[Any]]
) -> None:
    a, b, c = np.random.default_rng(0).uniform(1, 2, (3, width)).astype(kind)
    product, total, rest, copies, beyond = results(vectors, a, b, c).reshape(5, width)
    np.testing.assert_array_equal(product, a * b)
    near = 2 * float(np.finfo(kind).eps)  # one instruction rounds once, numpy twice
    np.testing.assert_allclose(total, a + b * c, rtol=near)
    np.testing.assert_allclose(rest, a - b * c, rtol=0, atol=4 * near)
    np.testing.assert_array_equal(copies, a[1])
    np.testing.assert_array_equal(beyond, 0)  # nothing is written past the end
    assert (total != a - b * c).all()
