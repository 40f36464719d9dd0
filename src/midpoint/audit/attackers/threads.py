"""Linear algebra in one thread: the same sums however many jobs run, and no fight over cores."""

from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread while the context is open."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limited


@cache
def _controller() -> Any:
    """Look once which libraries are loaded; threadpoolctl has no types."""
    import_module("scipy.linalg")
    import_module("sklearn.svm")
    return import_module("threadpoolctl").ThreadpoolController()
