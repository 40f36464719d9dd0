"""Vectors of float64 numbers for compiled kernels that solve several small systems side by side.

They are what `simd` has in float32, for matrices whose inverse wants more digits. Four lanes keep
a system of fifty unknowns in the nearest cache. The functions work inside compiled kernels only, on
flat contiguous arrays, without bounds checks unless `NUMBA_BOUNDSCHECK=1`.
"""

# ruff: noqa: ARG001 - an intrinsic is called with the types of all its arguments

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import models, register_model

from midpoint.analyst.kernels.vectors import (
    INTEGER,
    add_product,
    copies,
    fused_sum,
    in_kernels,
    instruction,
    multiply,
    pointer_to,
    read,
    store,
    subtract_product,
    write,
)

__all__ = [
    "DOUBLES",
    "LANES",
    "SUMS",
    "TILE",
    "add_product",
    "add_tile",
    "inverse_root",
    "load",
    "load_tile",
    "multiply",
    "no_sums",
    "spread",
    "store",
    "store_tile",
    "subtract_product",
]

LANES: Final = 4
"""How many numbers a vector holds, each of a system of its own."""
TILE: Final = 4
"""Rows, and columns, of a tile whose running sums stay in registers."""

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_TILE_SIZE = TILE * TILE * LANES
_tuple: Callable[..., Any] = types.UniTuple


class DoublesType(types.Type):
    """The compiler's name for a vector of `LANES` float64 numbers."""

    def __init__(self) -> None:
        self.count = LANES
        super().__init__(name=f"Doubles{LANES}")


DOUBLES: Final = DoublesType()
SUMS: Final = _tuple(DOUBLES, TILE * TILE)


@register_model(DoublesType)
class _DoublesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, doubles_type: DoublesType) -> None:
        super().__init__(manager, doubles_type, _VECTOR)  # type: ignore[no-untyped-call]


@in_kernels
def load(_typing: Any, array: Any, at: Any) -> Any:
    """Read `array[at : at + LANES]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = pointer_to(context, builder, LANES, signature.args[0], *arguments)
        return read(builder, first, LANES)

    return DOUBLES(array, types.intp), generate


@in_kernels
def spread(_typing: Any, number: Any) -> Any:
    """Return a vector of copies of one float64 number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return copies(builder, arguments[0], LANES)

    return DOUBLES(types.float64), generate


@in_kernels
def inverse_root(_typing: Any, number: Any) -> Any:
    """Return `1 / sqrt(number)`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind, name = ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64"
        root = instruction(builder, kind, name)
        return builder.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), builder.call(root, arguments))

    return DOUBLES(number), generate


@in_kernels
def no_sums(_typing: Any) -> Any:
    """Return a tile of zeros."""

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.ArrayType(_VECTOR, TILE * TILE), None)

    return SUMS(), generate


@in_kernels
def load_tile(_typing: Any, array: Any, at: Any) -> Any:
    """Read a tile that lies row by row from `array[at]` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = pointer_to(context, builder, _TILE_SIZE, signature.args[0], *arguments)
        result = ir.Constant(ir.ArrayType(_VECTOR, TILE * TILE), ir.Undefined)
        for t in range(TILE * TILE):
            value = read(builder, builder.gep(first, [INTEGER(t * LANES)]), LANES)
            result = builder.insert_value(result, value, t)
        return result

    return SUMS(array, types.intp), generate


@in_kernels
def add_tile(_typing: Any, sums: Any, left: Any, at: Any, right: Any, start: Any) -> Any:
    """Return the tile with vector i of `left`, from `at`, times vector j of `right` added to it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, left_value, at_value, right_value, start_value = arguments
        first = pointer_to(context, builder, TILE * LANES, signature.args[1], left_value, at_value)
        other = pointer_to(
            context, builder, TILE * LANES, signature.args[3], right_value, start_value
        )
        steps = [INTEGER(i * LANES) for i in range(TILE)]
        rows = [read(builder, builder.gep(first, [step]), LANES) for step in steps]
        columns = [read(builder, builder.gep(other, [step]), LANES) for step in steps]
        for t in range(TILE * TILE):
            i, j = divmod(t, TILE)
            total = fused_sum(builder, builder.extract_value(result, t), rows[i], columns[j])
            result = builder.insert_value(result, total, t)
        return result

    return SUMS(sums, left, types.intp, right, types.intp), generate


@in_kernels
def store_tile(_typing: Any, array: Any, at: Any, sums: Any) -> Any:
    """Write a tile row by row from `array[at]` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_value, at_value, values = arguments
        first = pointer_to(context, builder, _TILE_SIZE, signature.args[0], array_value, at_value)
        for t in range(TILE * TILE):
            pointer = builder.gep(first, [INTEGER(t * LANES)])
            write(builder, builder.extract_value(values, t), pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, sums), generate
