"""From columns of names and numbers, one row a rating, to codes in ascending order."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from midpoint.data.origin import Origin, counted
from midpoint.data.scale import Scale
from midpoint.errors import MidpointError

Entry = TypeVar("Entry", bound=np.generic)
Number = TypeVar("Number", np.float32, np.int64)


def number_column(
    values: ArrayLike, kind: type[Number], role: str, origin: Origin
) -> NDArray[Number]:
    """Read a column of numbers, naming the first row that is none."""
    try:
        column = np.asarray(values, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        for row, value in enumerate(_any_column(values, role, origin).tolist()):
            if not _is_of(kind, value):
                raise MidpointError(
                    f"{origin.locate(row)}: {role} {value!r} is not a number; correct it or remove"
                    f" the {origin.unit}"
                ) from error
        raise MidpointError(f"{origin.path}: the {role} column cannot be read: {error}") from error
    return _one_dimensional(column, role, origin)


def encode(
    names: ArrayLike, role: str, origin: Origin
) -> tuple[NDArray[np.int32], NDArray[np.str_]]:
    """Number the distinct names in ascending order; small whole numbers need no sorting."""
    column = _name_column(names, role, origin)
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low <= 4 * len(column) and high < 2**63:
            number = column.astype(np.int64) - low  # a narrow type could not hold the difference
            present = np.bincount(number) > 0
            code = (np.cumsum(present) - 1).astype(np.int32)
            return code[number], (np.flatnonzero(present) + low).astype(np.str_)
    distinct, codes = np.unique(column, return_inverse=True)
    labels = distinct.astype(np.str_)
    if len(labels) and not labels[0]:
        raise _nameless(int(np.argmin(codes)), role, origin)
    return codes.astype(np.int32).reshape(-1), labels


def ascending(key: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the stable order of keys >= 0; packed with its position a key sorts fast."""
    bits = max(len(key) - 1, 1).bit_length()
    if len(key) and int(key.max()) < 1 << (63 - bits):
        packed = (key.astype(np.int64) << bits) | np.arange(len(key))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed
    return np.argsort(key, kind="stable")


def require_finite(value: NDArray[np.float32], origin: Origin) -> None:
    """Refuse NaN and infinity, from which no scale can be guessed."""
    finite = np.isfinite(value)
    if not finite.all():
        row = int(np.argmin(finite))
        raise MidpointError(
            f"{origin.locate(row)}: rating {value[row]:g} is no finite number; correct it or remove"
            f" the {origin.unit}"
        )


def require_legal(value: NDArray[np.float32], scale: Scale, origin: Origin) -> None:
    """Refuse ratings off the scale, naming the first."""
    legal = scale.contains(value)
    if not legal.all():
        row = int(np.argmin(legal))
        raise MidpointError(
            f"{origin.locate(row)}: rating {value[row]:g} is not on the scale ({scale}; off it:"
            f" {int((~legal).sum())} of {counted(len(value), 'rating')}); correct or remove it, or"
            " name another scale by --scale, in Python scale="
        )


def _name_column(names: ArrayLike, role: str, origin: Origin) -> NDArray[Any]:
    """Read a column of names; whole numbers that came as 1.0 (in a column with gaps) become 1."""
    column = _any_column(names, role, origin)
    is_float = column.dtype.kind == "f"
    if is_float and isinstance(names, Sequence) and all(isinstance(name, int) for name in names):
        return np.array([str(name) for name in names], dtype=np.str_)  # numpy rounded long ones
    if is_float:
        _require_all(np.isfinite(column), role, origin)
        whole = np.all(column % 1 == 0) and np.all(np.abs(column) < 2**63)
        return column.astype(np.int64) if whole else column.astype(np.str_)
    if column.dtype.kind == "O":
        # What is not equal to itself is a NaN, of whatever library.
        named = [name is not None and name == name for name in column.tolist()]  # noqa: PLR0124
        _require_all(np.array(named, dtype=np.bool_), role, origin)
        return column.astype(np.str_)
    return column


def _any_column(values: ArrayLike, role: str, origin: Origin) -> NDArray[Any]:
    try:
        column = np.asarray(values)
    except ValueError as error:
        raise MidpointError(f"{origin.path}: the {role} column cannot be read: {error}") from error
    return _one_dimensional(column, role, origin)


def _one_dimensional(column: NDArray[Entry], role: str, origin: Origin) -> NDArray[Entry]:
    if column.ndim != 1:
        raise MidpointError(
            f"{origin.path}: the {role} column has the shape {column.shape}; give one {role} a row"
        )
    return column


def _is_of(kind: type[np.generic], value: object) -> bool:
    try:
        np.asarray(value, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _require_all(named: NDArray[np.bool_], role: str, origin: Origin) -> None:
    if not named.all():
        raise _nameless(int(np.argmin(named)), role, origin)


def _nameless(row: int, role: str, origin: Origin) -> MidpointError:
    return MidpointError(
        f"{origin.locate(row)}: there is no {role}; fill it in or remove the {origin.unit}"
    )
