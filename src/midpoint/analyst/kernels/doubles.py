"""Vectors of float64 numbers for compiled kernels that solve several small systems side by side.

They are what `simd` has in float32, for matrices whose inverse wants more digits. Four lanes keep
a system of fifty unknowns in the nearest cache. The functions work inside compiled kernels only, on
flat contiguous arrays, without bounds checks. A change here does not renew kernels cached on disk:
touch the modules that use it as well.
"""

# ruff: noqa: ARG001 - an intrinsic is called with the types of all its arguments

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic, models, register_model

LANES: Final = 4
"""How many numbers a vector holds, each of a system of its own."""
TILE: Final = 4
"""Rows, and columns, of a tile whose running sums stay in registers."""

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ORDER = ir.VectorType(ir.IntType(32), LANES)
_INTEGER = ir.IntType(64)
_FUSED = ("contract",)  # a product and a sum may become one instruction
_in_kernels: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_tuple: Callable[..., Any] = types.UniTuple


class DoublesType(types.Type):
    """The compiler's name for a vector of `LANES` float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Doubles{LANES}")


DOUBLES: Final = DoublesType()
SUMS: Final = _tuple(DOUBLES, TILE * TILE)


@register_model(DoublesType)
class _DoublesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, doubles_type: DoublesType) -> None:
        super().__init__(manager, doubles_type, _VECTOR)  # type: ignore[no-untyped-call]


@_in_kernels
def load(_typing: Any, array: Any, at: Any) -> Any:
    """Read `array[at : at + LANES]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _read(builder, _number(context, builder, signature.args[0], *arguments))

    return DOUBLES(array, types.intp), generate


@_in_kernels
def store(_typing: Any, array: Any, at: Any, vector: Any) -> Any:
    """Write `array[at : at + LANES] = vector`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *index, value = arguments
        _write(builder, value, _number(context, builder, signature.args[0], *index))
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@_in_kernels
def spread(_typing: Any, number: Any) -> Any:
    """Return a vector of copies of one float64 number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, undefined, ir.Constant(_ORDER, [0] * LANES))

    return DOUBLES(types.float64), generate


@_in_kernels
def multiply(_typing: Any, left: Any, right: Any) -> Any:
    """Return `left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return DOUBLES(left, right), generate


@_in_kernels
def add_product(_typing: Any, total: Any, left: Any, right: Any) -> Any:
    """Return `total + left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _add_product(builder, *arguments)

    return DOUBLES(total, left, right), generate


@_in_kernels
def subtract_product(_typing: Any, total: Any, left: Any, right: Any) -> Any:
    """Return `total - left * right`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        total_value, *factors = arguments
        return builder.fsub(total_value, builder.fmul(*factors, flags=_FUSED), flags=_FUSED)

    return DOUBLES(total, left, right), generate


@_in_kernels
def inverse_root(_typing: Any, number: Any) -> Any:
    """Return `1 / sqrt(number)`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind, name = ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64"
        root = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), builder.call(root, arguments))

    return DOUBLES(number), generate


@_in_kernels
def no_sums(_typing: Any) -> Any:
    """Return a tile of zeros."""

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.ArrayType(_VECTOR, TILE * TILE), None)

    return SUMS(), generate


@_in_kernels
def load_tile(_typing: Any, array: Any, at: Any) -> Any:
    """Read a tile that lies row by row from `array[at]` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _number(context, builder, signature.args[0], *arguments)
        result = ir.Constant(ir.ArrayType(_VECTOR, TILE * TILE), ir.Undefined)
        for t in range(TILE * TILE):
            value = _read(builder, builder.gep(first, [_INTEGER(t * LANES)]))
            result = builder.insert_value(result, value, t)
        return result

    return SUMS(array, types.intp), generate


@_in_kernels
def add_tile(_typing: Any, sums: Any, left: Any, at: Any, right: Any, start: Any) -> Any:
    """Return the tile with vector i of `left`, from `at`, times vector j of `right` added to it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, left_value, at_value, right_value, start_value = arguments
        first = _number(context, builder, signature.args[1], left_value, at_value)
        other = _number(context, builder, signature.args[3], right_value, start_value)
        steps = [_INTEGER(i * LANES) for i in range(TILE)]
        rows = [_read(builder, builder.gep(first, [step])) for step in steps]
        columns = [_read(builder, builder.gep(other, [step])) for step in steps]
        for t in range(TILE * TILE):
            i, j = divmod(t, TILE)
            total = _add_product(builder, builder.extract_value(result, t), rows[i], columns[j])
            result = builder.insert_value(result, total, t)
        return result

    return SUMS(sums, left, types.intp, right, types.intp), generate


@_in_kernels
def store_tile(_typing: Any, array: Any, at: Any, sums: Any) -> Any:
    """Write a tile row by row from `array[at]` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_value, at_value, values = arguments
        first = _number(context, builder, signature.args[0], array_value, at_value)
        for t in range(TILE * TILE):
            pointer = builder.gep(first, [_INTEGER(t * LANES)])
            _write(builder, builder.extract_value(values, t), pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, sums), generate


def _number(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Point at one number of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


def _read(builder: Any, pointer: Any) -> Any:
    return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)


def _write(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)


def _add_product(builder: Any, total: Any, left: Any, right: Any) -> Any:
    return builder.fadd(total, builder.fmul(left, right, flags=_FUSED), flags=_FUSED)
