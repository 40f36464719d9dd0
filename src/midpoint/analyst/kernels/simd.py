"""Vectors of float32 numbers, each held in one processor register, for compiled kernels.

The compiler does not by itself keep the many running sums of a small matrix product in registers,
nor solve several systems side by side. With the vector as a type of its own a kernel says so. The
functions work inside compiled kernels only, on flat contiguous arrays, without bounds checks
unless `NUMBA_BOUNDSCHECK=1`.
"""

# ruff: noqa: ARG001 - an intrinsic is called with the types of all its arguments

from collections.abc import Callable
from typing import Any, Final

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic, models, register_model

from midpoint.analyst.kernels.vectors import (
    INTEGER,
    add,
    add_product,
    copies,
    fused_sum,
    in_kernels,
    instruction,
    multiply,
    pointer_to,
    read,
    store,
    subtract,
    subtract_product,
    write,
)

__all__ = [
    "LANES",
    "MANY_REGISTERS",
    "WIDE",
    "WIDE_LANES",
    "WIDTH",
    "accumulate",
    "accumulate_where",
    "add",
    "add_outer",
    "add_product",
    "add_products",
    "add_rotations",
    "inverse_root",
    "join",
    "load",
    "load_tile",
    "load_wide",
    "low",
    "multiply",
    "put",
    "spread",
    "spread_wide",
    "store",
    "subtract",
    "subtract_product",
    "total",
    "transpose",
    "wide_zeros",
    "zeros",
]

WIDTH: Final = 8
"""How many numbers a vector holds."""
WIDE: Final = 2 * WIDTH
"""How many a wide vector holds: one register where they are that long, else two."""
MANY_REGISTERS: Final = bool(binding.get_host_cpu_features().get("avx512vl", False))
"""Whether there are 32 registers, each long enough for a wide vector."""

_VECTOR = ir.VectorType(ir.FloatType(), WIDTH)
_WIDE_VECTOR = ir.VectorType(ir.FloatType(), WIDE)
_ORDER = ir.VectorType(ir.IntType(32), WIDTH)
_WIDE_ORDER = ir.VectorType(ir.IntType(32), WIDE)
_tuple: Callable[..., Any] = types.UniTuple
_with_constants: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic(prefer_literal=True)


class LanesType(types.Type):
    """The compiler's name for a vector of float32 numbers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Lanes{count}")


LANES: Final = LanesType(WIDTH)
WIDE_LANES: Final = LanesType(WIDE)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes_type: LanesType) -> None:
        vector = ir.VectorType(ir.FloatType(), lanes_type.count)
        super().__init__(manager, lanes_type, vector)  # type: ignore[no-untyped-call]


@in_kernels
def load(_typing: Any, array: Any, at: Any) -> Any:
    """Read `array[at : at + WIDTH]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = pointer_to(context, builder, WIDTH, signature.args[0], *arguments)
        return read(builder, first, WIDTH)

    return LANES(array, types.intp), generate


@in_kernels
def load_wide(_typing: Any, array: Any, at: Any) -> Any:
    """Read `array[at : at + WIDE]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = pointer_to(context, builder, WIDE, signature.args[0], *arguments)
        return read(builder, first, WIDE)

    return WIDE_LANES(array, types.intp), generate


@in_kernels
def low(_typing: Any, wide: Any) -> Any:
    """Return the first half of a wide vector."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        order = ir.Constant(_ORDER, list(range(WIDTH)))
        return builder.shuffle_vector(*arguments, ir.Constant(_WIDE_VECTOR, ir.Undefined), order)

    return LANES(wide), generate


@in_kernels
def join(_typing: Any, wide: Any, vector: Any) -> Any:
    """Return the first half of a wide vector, followed by another vector."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide_value, value = arguments
        twice = ir.Constant(_WIDE_ORDER, 2 * list(range(WIDTH)))
        order = ir.Constant(_WIDE_ORDER, [*range(WIDTH), *range(WIDE + WIDTH, 2 * WIDE)])
        return builder.shuffle_vector(
            wide_value, builder.shuffle_vector(value, value, twice), order
        )

    return WIDE_LANES(wide, vector), generate


@in_kernels
def put(_typing: Any, wide: Any, lane: Any, number: Any) -> Any:
    """Return a wide vector with one of its numbers replaced by another float32 number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide_value, lane_value, number_value = arguments
        wanted = copies(builder, builder.trunc(lane_value, ir.IntType(32)), WIDE)
        here = builder.icmp_signed("==", ir.Constant(_WIDE_ORDER, list(range(WIDE))), wanted)
        return builder.select(here, copies(builder, number_value, WIDE), wide_value)

    return WIDE_LANES(wide, types.intp, types.float32), generate


@in_kernels
def spread_wide(_typing: Any, number: Any) -> Any:
    """Return a wide vector of copies of one float32 number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return copies(builder, arguments[0], WIDE)

    return WIDE_LANES(types.float32), generate


@in_kernels
def total(_typing: Any, wide: Any) -> Any:
    """Return the sum of a wide vector's numbers, in an order that the compiler chooses."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _WIDE_VECTOR])
        summed = instruction(builder, kind, f"llvm.vector.reduce.fadd.v{WIDE}f32")
        nothing = ir.Constant(ir.FloatType(), 0.0)
        return builder.call(summed, [nothing, *arguments], fastmath=("reassoc",))

    return types.float32(wide), generate


@in_kernels
def spread(_typing: Any, number: Any) -> Any:
    """Return a vector of copies of one float32 number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return copies(builder, arguments[0], WIDTH)

    return LANES(number), generate


@in_kernels
def inverse_root(_typing: Any, number: Any, floor: Any) -> Any:
    """Return `1 / sqrt(number)` where `number > floor`, which is at least 0, and 0 elsewhere."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number_value, floor_value = arguments
        unit, zero = (ir.Constant(_VECTOR, [value] * WIDTH) for value in (1.0, 0.0))
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        root = instruction(builder, kind, f"llvm.sqrt.v{WIDTH}f32")
        good = builder.fcmp_ordered(">", number_value, floor_value)
        value = builder.fdiv(unit, builder.call(root, [builder.select(good, number_value, unit)]))
        return builder.select(good, value, zero)

    return LANES(number, floor), generate


@_with_constants
def zeros(_typing: Any, count: Any) -> Any:
    """Return a tuple of `count` vectors of zeros; `count` is a constant."""

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.ArrayType(_VECTOR, count.literal_value), None)

    return _tuple(LANES, count.literal_value)(count), generate


@_with_constants
def wide_zeros(_typing: Any, count: Any) -> Any:
    """Return a tuple of `count` wide vectors of zeros; `count` is a constant."""

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.ArrayType(_WIDE_VECTOR, count.literal_value), None)

    return _tuple(WIDE_LANES, count.literal_value)(count), generate


@in_kernels
def add_outer(_typing: Any, totals: Any, columns: Any, array: Any, at: Any) -> Any:
    """Return the tuple with `array[at + r] * columns[c]` added to total number r C + c.

    C is the number of columns; there are as many r as the totals have room for. Columns and totals
    are all wide or none is.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, vectors, *index = arguments
        rows = totals.count // columns.count
        first = pointer_to(context, builder, rows, signature.args[2], *index)
        for r in range(rows):
            value = builder.load(builder.gep(first, [INTEGER(r)]))
            factor = copies(builder, value, totals.dtype.count)
            for c in range(columns.count):
                t = r * columns.count + c
                vector, old = builder.extract_value(vectors, c), builder.extract_value(result, t)
                result = builder.insert_value(result, fused_sum(builder, old, factor, vector), t)
        return result

    return totals(totals, columns, array, types.intp), generate


@in_kernels
def add_rotations(_typing: Any, totals: Any, wide: Any) -> Any:
    """Return the tuple with x_i x_(i + k) added to number i of total k, in each half of x.

    Indices go round within a half of the wide vector x.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        result, value = arguments
        for k in range(totals.count):
            order = [half + (i + k) % WIDTH for half in (0, WIDTH) for i in range(WIDTH)]
            turned = builder.shuffle_vector(value, value, ir.Constant(_WIDE_ORDER, order))
            total = fused_sum(builder, builder.extract_value(result, k), value, turned)
            result = builder.insert_value(result, total, k)
        return result

    return totals(totals, wide), generate


@_with_constants
def load_tile(_typing: Any, count: Any, columns: Any, array: Any, at: Any, step: Any) -> Any:
    """Return a tuple of `count` vectors, number r C + c read at `array[at + r step + c WIDTH]`.

    C is the constant `columns`, and `count` is a constant as well.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, _, array_value, start, step_value = arguments
        result = ir.Constant(ir.ArrayType(_VECTOR, count.literal_value), ir.Undefined)
        for t in range(count.literal_value):
            r, c = divmod(t, columns.literal_value)
            index = builder.add(start, builder.mul(step_value, INTEGER(r)))
            index = builder.add(index, INTEGER(c * WIDTH))
            pointer = pointer_to(context, builder, WIDTH, signature.args[2], array_value, index)
            result = builder.insert_value(result, read(builder, pointer, WIDTH), t)
        return result

    result_type = _tuple(LANES, count.literal_value)
    return result_type(count, columns, array, types.intp, types.intp), generate


@_with_constants
def add_products(
    _typing: Any,
    totals: Any,
    columns: Any,
    sign: Any,
    array: Any,
    left: Any,
    left_step: Any,
    right: Any,
    right_step: Any,
) -> Any:
    """Return the tuple with x_r * y_c added to total number r C + c, or taken off it.

    x_r is at `array[left + r left_step]` and y_c at `array[right + c right_step]`. C is the
    constant `columns`; the constant `sign` is 1 to add and -1 to take off.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, _, _, array_value, left_at, left_by, right_at, right_by = arguments

        def vector(start: Any, step: Any, number: int) -> Any:
            index = builder.add(start, builder.mul(step, INTEGER(number)))
            pointer = pointer_to(context, builder, WIDTH, signature.args[3], array_value, index)
            return read(builder, pointer, WIDTH)

        y = [vector(right_at, right_by, c) for c in range(columns.literal_value)]
        for r in range(totals.count // len(y)):
            x = vector(left_at, left_by, r)
            x = x if sign.literal_value > 0 else builder.fneg(x)
            for c, other in enumerate(y):
                t = r * len(y) + c
                total = fused_sum(builder, builder.extract_value(result, t), x, other)
                result = builder.insert_value(result, total, t)
        return result

    integers = (types.intp,) * 4
    return totals(totals, columns, sign, array, *integers), generate


@_with_constants
def accumulate(_typing: Any, array: Any, at: Any, stride: Any, totals: Any, columns: Any) -> Any:
    """Add total number r C + c to the vector at `array[at + r stride + c N]`, N long.

    C is the constant `columns`; `totals` are what `add_outer` returned.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_value, start, step, values, _ = arguments
        length = totals.dtype.count
        for t in range(totals.count):
            r, c = divmod(t, columns.literal_value)
            index = builder.add(start, builder.mul(step, INTEGER(r)))
            index = builder.add(index, INTEGER(c * length))
            pointer = pointer_to(context, builder, length, signature.args[0], array_value, index)
            total = builder.fadd(read(builder, pointer, length), builder.extract_value(values, t))
            write(builder, total, pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, totals, columns), generate


@_with_constants
def accumulate_where(
    _typing: Any, array: Any, at: Any, stride: Any, totals: Any, columns: Any, mask: Any
) -> Any:
    """Add total number r C + c, times the vector `mask`, as `accumulate` does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_value, start, step, values, _, mask_value = arguments
        for t in range(totals.count):
            r, c = divmod(t, columns.literal_value)
            index = builder.add(start, builder.mul(step, INTEGER(r)))
            index = builder.add(index, INTEGER(c * WIDTH))
            pointer = pointer_to(context, builder, WIDTH, signature.args[0], array_value, index)
            value = builder.extract_value(values, t)
            write(
                builder,
                fused_sum(builder, read(builder, pointer, WIDTH), value, mask_value),
                pointer,
            )
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, totals, columns, mask), generate


@in_kernels
def transpose(_typing: Any, to: Any, at: Any, source: Any, start: Any, stride: Any) -> Any:
    """Copy a square: `to[at + i WIDTH + lane] = source[start + lane stride + i]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to_value, at_value, source_value, start_value, step = arguments
        rows = []
        for lane in range(WIDTH):
            index = builder.add(start_value, builder.mul(step, INTEGER(lane)))
            pointer = pointer_to(context, builder, WIDTH, signature.args[2], source_value, index)
            rows.append(read(builder, pointer, WIDTH))
        for i, column in enumerate(_transposed(builder, rows)):
            index = builder.add(at_value, INTEGER(i * WIDTH))
            pointer = pointer_to(context, builder, WIDTH, signature.args[0], to_value, index)
            write(builder, column, pointer)
        return context.get_dummy_value()

    return types.void(to, types.intp, source, types.intp, types.intp), generate


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Swap the off-diagonal quarters of the square, then those of each quarter, and so on."""
    half = WIDTH // 2
    while half:
        upper = [j if not j & half else WIDTH + j - half for j in range(WIDTH)]
        lower = [j + half if not j & half else WIDTH + j for j in range(WIDTH)]
        for i in (i for i in range(WIDTH) if not i & half):
            pair = rows[i], rows[i + half]
            rows[i] = builder.shuffle_vector(*pair, ir.Constant(_ORDER, upper))
            rows[i + half] = builder.shuffle_vector(*pair, ir.Constant(_ORDER, lower))
        half //= 2
    return rows
