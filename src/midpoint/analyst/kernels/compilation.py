"""How the package compiles its numerical kernels, and on how many cores they run."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Part = TypeVar("Part")
Result = TypeVar("Result")
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_sources = sorted(Path(__file__).parent.rglob("*.py"))
_stamp = (
    getattr(numba.config, "BOUNDSCHECK", None),
    [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in _sources],
)
"""Which version of all kernels this is: the code of one holds that of those it calls."""


def compiled(function: Kernel) -> Kernel:
    """Compile a numerical kernel at its first call, and keep the machine code on disk.

    It runs without the interpreter's lock, so that threads share the work. Arithmetic may be
    reordered when it is compiled, but not when it runs: the same input gives the same bits.
    Where no cache directory is writable, every process compiles again. A change of any module of
    kernels renews all of them: numba by itself renews only those in the changed file, and old and
    new ones together write beyond their arrays where they differ on how long those are.
    """

    def build(*, cache: bool) -> Kernel:
        decorate: Any = numba.njit(nogil=True, fastmath=True, error_model="numpy", cache=cache)
        kernel: Kernel = decorate(function)
        return kernel

    try:
        kernel: Any = build(cache=True)
    except RuntimeError:  # numba found no directory for its cache
        return build(cache=False)
    file = kernel._cache._cache_file  # noqa: SLF001 - numba has no setting for it
    file._source_stamp = (file._source_stamp, _stamp)  # noqa: SLF001
    return cast("Kernel", kernel)


def usable_cores() -> int:
    """Count the processor cores that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    here = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return min(here, *_most) if _most else here


def use_cores(most: int) -> None:
    """Use no more cores from now on: this process is one of several that share the machine."""
    _most[:] = [most]


_most: list[int] = []
"""Cores that this process may use at most, if it was said."""


def in_parallel(
    work: Callable[[Part], Result], parts: Sequence[Part], threads: int | None
) -> list[Result]:
    """Do each part on some thread; the results come in the order of the parts."""
    workers = min(threads or usable_cores(), len(parts))
    if workers <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra to one thread while the context is open, or a function runs.

    Its threads would fight with our own for the cores, and wait on them while there is no work.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """Look once which libraries are loaded; threadpoolctl has no types."""
    import_module("scipy.linalg")
    return import_module("threadpoolctl").ThreadpoolController()
