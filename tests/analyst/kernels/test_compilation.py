from typing import Any

import numba
import pytest

from midpoint.analyst.kernels import compilation
from midpoint.analyst.kernels.compilation import compiled, usable_cores, use_cores

DOUBLE = "def double(x):\n    return 2 * x"


def test_a_kernel_is_compiled_even_where_nothing_can_be_cached() -> None:
    names: dict[str, Any] = {}
    exec(DOUBLE, names)  # noqa: S102 - a function without a file has no directory for its cache
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(names["double"])

    kernel = compiled(names["double"])

    assert kernel(21) == 42
    assert kernel.signatures


def test_at_least_one_core_is_usable() -> None:
    assert usable_cores() >= 1


def test_a_process_among_others_uses_fewer_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_most", [])
    before = usable_cores()
    use_cores(1)
    assert usable_cores() == 1
    use_cores(before + 1)
    assert usable_cores() == before
