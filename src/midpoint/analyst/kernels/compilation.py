"""How the package compiles its numerical kernels, and on how many cores they run."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a numerical kernel at its first call, and keep the machine code on disk.

    It runs without the interpreter's lock, so that threads share the work. Arithmetic may be
    reordered when it is compiled, but not when it runs: the same input gives the same bits.
    Where no cache directory is writable, every process compiles again.
    """

    def build(*, cache: bool) -> Kernel:
        decorate: Any = numba.njit(nogil=True, fastmath=True, error_model="numpy", cache=cache)
        kernel: Kernel = decorate(function)
        return kernel

    try:
        return build(cache=True)
    except RuntimeError:  # numba found no directory for its cache
        return build(cache=False)


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
