import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst.kernels import compilation
from midpoint.analyst.kernels.compilation import (
    compiled,
    in_parallel,
    one_blas_thread,
    usable_cores,
    use_cores,
)

DOUBLE = "def double(x):\n    return 2 * x"


def test_a_kernel_is_compiled_even_where_nothing_can_be_cached() -> None:
    names: dict[str, Any] = {}
    exec(DOUBLE, names)  # noqa: S102 - a function without a file has no directory for its cache
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(names["double"])

    kernel = compiled(names["double"])

    assert kernel(21) == 42
    assert kernel.signatures


CALLER = """
import numba
import callee
from compilation import compiled

@compiled
def ours(x):
    return callee.grow(x)

@numba.njit(cache=True)
def plain(x):
    return callee.grow(x)

print(ours(1), plain(1))
"""
CALLEE = "from compilation import compiled\n\n@compiled\ndef grow(x):\n    return x + {}\n"


@pytest.mark.slow
def test_a_change_of_one_module_renews_the_kernels_of_another(tmp_path: Path) -> None:
    """Else a kernel works with the lengths of arrays that its callees had in an older version."""
    shutil.copy(compilation.__file__, tmp_path)
    (tmp_path / "caller.py").write_text(CALLER)
    here = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(growth: int) -> list[int]:
        (tmp_path / "callee.py").write_text(CALLEE.format(growth))
        command = [sys.executable, "-B", "-c", "import caller"]
        return [int(x) for x in subprocess.check_output(command, env=here, text=True).split()]

    assert run(10) == [11, 11]
    assert run(2000) == [2001, 11]  # numba's own cache is not renewed


def test_at_least_one_core_is_usable() -> None:
    assert usable_cores() >= 1


def test_a_process_among_others_uses_fewer_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_most", [])
    before = usable_cores()
    use_cores(1)
    assert usable_cores() == 1
    use_cores(before + 1)
    assert usable_cores() == before


def test_linear_algebra_has_one_thread_for_a_while() -> None:
    def threads() -> set[int]:
        found = threadpool_info()
        return {library["num_threads"] for library in found if library["user_api"] == "blas"}

    with threadpool_limits(3, user_api="blas"):
        before = threads()
        with one_blas_thread():
            assert threads() == {1}
        assert one_blas_thread()(threads)() == {1}
        assert threads() == before != {1}


def test_work_in_parallel_comes_in_order() -> None:
    parts = list(range(40))
    for threads in (1, 3, None):
        assert in_parallel(lambda part: part**2, parts, threads) == [part**2 for part in parts]
    assert in_parallel(str, [], None) == []
