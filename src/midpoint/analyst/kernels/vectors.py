"""What vectors of any number and length have in common, inside compiled kernels.

`simd` has vectors of float32 numbers and `doubles` those of float64. Here is what does not depend
on which: the compiler takes it from the vectors that it is given.
"""

# ruff: noqa: ARG001 - an intrinsic is called with the types of all its arguments

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, config, types
from numba.extending import intrinsic

INTEGER: Final = ir.IntType(64)
FUSED: Final = ("contract",)
"""A product and a sum may become one instruction."""
CHECKED: Final[bool] = getattr(config, "BOUNDSCHECK", False)
"""Whether code raises an IndexError where it would leave an array: by `NUMBA_BOUNDSCHECK=1`."""
_check: Callable[..., None] = cgutils.do_boundscheck
in_kernels: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
"""Makes a function that kernels may call of one that writes instructions."""


@in_kernels
def store(_typing: Any, array: Any, at: Any, vector: Any) -> Any:
    """Write `array[at : at + N] = vector`, N numbers long."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *index, value = arguments
        pointer = pointer_to(context, builder, vector.count, signature.args[0], *index)
        write(builder, value, pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@in_kernels
def add(_typing: Any, left: Any, right: Any) -> Any:
    """Return `left + right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments)

    return left(left, right), generate


@in_kernels
def subtract(_typing: Any, left: Any, right: Any) -> Any:
    """Return `left - right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fsub(*arguments)

    return left(left, right), generate


@in_kernels
def multiply(_typing: Any, left: Any, right: Any) -> Any:
    """Return `left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return left(left, right), generate


@in_kernels
def add_product(_typing: Any, total: Any, left: Any, right: Any) -> Any:
    """Return `total + left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return fused_sum(builder, *arguments)

    return total(total, left, right), generate


@in_kernels
def subtract_product(_typing: Any, total: Any, left: Any, right: Any) -> Any:
    """Return `total - left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        total_value, *factors = arguments
        return builder.fsub(total_value, builder.fmul(*factors, flags=FUSED), flags=FUSED)

    return total(total, left, right), generate


def pointer_to(context: Any, builder: Any, count: int, kind: Any, array: Any, at: Any) -> Any:
    """Point at the first of `count` numbers of an array, all within it if `CHECKED`."""
    view = context.make_array(kind)(context, builder, array)
    if CHECKED:
        last = builder.add(at, INTEGER(count - 1))
        for index in (at, last):
            _check(context, builder, index, view.nitems)
    return builder.gep(view.data, [at])


def read(builder: Any, pointer: Any, count: int) -> Any:
    """Read the vector of as many numbers from this one on."""
    element = pointer.type.pointee
    kind = ir.VectorType(element, count).as_pointer()
    return builder.load(builder.bitcast(pointer, kind), align=_bytes(element))


def write(builder: Any, value: Any, pointer: Any) -> None:
    """Write a vector from this number on."""
    kind = value.type.as_pointer()
    builder.store(value, builder.bitcast(pointer, kind), align=_bytes(value.type.element))


def copies(builder: Any, value: Any, count: int) -> Any:
    """Return a vector of copies of one number."""
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return builder.shuffle_vector(first, undefined, order)


def fused_sum(builder: Any, total: Any, left: Any, right: Any) -> Any:
    """Return `total + left * right`, rounded once where the processor can."""
    return builder.fadd(total, builder.fmul(left, right, flags=FUSED), flags=FUSED)


def instruction(builder: Any, kind: Any, name: str) -> Any:
    """Declare one of the compiler's own functions, once in a module."""
    return builder.module.globals.get(name) or ir.Function(builder.module, kind, name)


def _bytes(element: Any) -> int:
    return 4 if element == ir.FloatType() else 8
