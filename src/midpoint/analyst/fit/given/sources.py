"""What other recommenders know of their items: factors and biases, from models, arrays and files.

No library is imported: a model is known by the names of what it holds.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.data.feature import word
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Ids = Sequence[object] | Mapping[Any, object] | NDArray[Any]
BIAS = ("bias", "biases", "item_bias", "intercept")
"""What a column of biases is called."""
ID_COLUMNS = ("item", "item_id", "id", "movieid", "itemid", "item_ids")
"""What a column of ids is called; the first column, unless one of these is there."""


class FactorArrays(NamedTuple):
    """What was read; M items, d factors."""

    item_ids: NDArray[np.str_]
    """Names of the items, as in the ratings. Shape (M,)."""
    vectors: Float
    """Their factors. Shape (M, d)."""
    biases: Float | None
    """What each item adds to a rating; None where the model has no biases. Shape (M,)."""
    source: str
    """What they were read from, for messages and for the record."""


def read_factors(
    source: object,
    item_ids: Ids | None = None,
    biases: Sequence[float] | NDArray[np.floating] | None = None,
) -> FactorArrays:
    """Read item factors from whatever holds them.

    Args:
        source: A model of implicit, LensKit, Cornac or Spark after its fit, an array of shape
            (items, factors), or the path of a file: .npz with `item_ids`, `vectors` and perhaps
            `biases`, or a table with a column of ids, perhaps one called `bias`, and the factors.
        item_ids: The ratings' name of each row; or a mapping from the model's own name or number
            of an item to the ratings' name.
        biases: What each row adds to a rating, where the source does not say.
    """
    read = _from_file(source) if isinstance(source, str | Path) else _from_model(source)
    if biases is not None:
        read = read._replace(biases=_numbers(biases))
    return _checked(_named(read, item_ids))


class _Read(NamedTuple):
    """Factors as a source holds them."""

    vectors: Float
    names: list[str] | None
    """The source's own names of the rows; None where rows are only numbered."""
    biases: Float | None
    source: str


def _from_model(model: Any) -> _Read:
    """Look at what a fitted model holds: each library has its own names for it."""
    kind = f"{type(model).__module__.partition('.')[0]} {type(model).__name__}"
    if isinstance(model, np.ndarray | list | tuple):
        return _Read(_numbers(model), None, None, "arrays")
    if hasattr(model, "item_embeddings"):  # LensKit
        biases = getattr(getattr(model, "bias", None), "item_biases", None)
        names = getattr(getattr(model, "items", None), "ids", lambda: None)()
        return _Read(_numbers(model.item_embeddings), _words(names), _maybe(biases), kind)
    if hasattr(model, "itemFactors"):  # Spark's ALSModel
        rows = sorted((row["id"], row["features"]) for row in model.itemFactors.collect())
        return _Read(
            _numbers([list(vector) for _, vector in rows]),
            [word(number) for number, _ in rows],
            None,
            kind,
        )
    if hasattr(model, "iid_map"):  # Cornac
        vectors = next(
            (getattr(model, name) for name in ("i_factors", "V") if _has(model, name)), 0
        )
        names = sorted(model.iid_map, key=lambda name: int(model.iid_map[name]))
        return _Read(
            _numbers(vectors), _words(names), _maybe(getattr(model, "i_biases", None)), kind
        )
    if _has(model, "item_factors"):  # implicit, on the processor or on a graphics card
        factors = model.item_factors
        on_card = hasattr(factors, "to_numpy")
        return _Read(_numbers(factors.to_numpy() if on_card else factors), None, None, kind)
    raise MidpointError(
        f"a {kind} holds no item factors that are known here (item_factors, item_embeddings,"
        " itemFactors, or i_factors with iid_map), or was not fitted yet; give its item factors as"
        " an array, with item_ids"
    )


def _from_file(source: str | Path) -> _Read:
    """Read a file of arrays, executing nothing, or a table."""
    path = Path(source)
    if not path.is_file():
        raise MidpointError(f"{path} is not a file; name an .npz, CSV, TSV or Parquet file")
    if path.suffix == ".npz":
        return _from_arrays(path)
    cells = read_table(path, "the table of item factors").cells
    names = {name.lower(): name for name in reversed(cells.columns)}
    key = next((names[name] for name in ID_COLUMNS if name in names), cells.columns[0])
    bias = next((names[name] for name in BIAS if name in names and names[name] != key), None)
    columns = [name for name in cells.columns if name not in {key, bias}]
    wrong = next((name for name in columns if not cells[name].dtype.is_numeric()), None)
    if wrong is not None or not columns:
        raise MidpointError(
            f"{path}: column {wrong!r} holds no numbers; write a column of item ids, perhaps one"
            " called `bias`, and a column of numbers for each factor"
        )
    return _Read(
        _numbers(cells.select(columns).to_numpy()),
        [word(value) for value in cells[key].to_list()],
        None if bias is None else _numbers(cells[bias].to_numpy()),
        str(path),
    )


def _from_arrays(path: Path) -> _Read:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError) as error:
        raise MidpointError(f"{path} holds no arrays of numbers ({error})") from error
    if "vectors" not in held:
        raise MidpointError(
            f"{path} holds {', '.join(held) or 'nothing'}; save it by numpy.savez(path,"
            " item_ids=..., vectors=..., biases=...)"
        )
    names = held.get("item_ids")
    return _Read(_numbers(held["vectors"]), _words(names), _maybe(held.get("biases")), str(path))


def _named(read: _Read, item_ids: Ids | None) -> FactorArrays:
    """Give each row the name that the ratings have for it."""
    rows = len(read.vectors)
    own = read.names if read.names is not None else None
    if isinstance(item_ids, Mapping):
        known = {word(key): word(value) for key, value in item_ids.items()}
        keys = own if own is not None else [str(row) for row in range(rows)]
        missing = [key for key in keys if key not in known]
        if missing:
            raise MidpointError(f"item_ids does not say what item {missing[0]!r} is called")
        names = [known[key] for key in keys]
    elif item_ids is not None:
        names = [word(value) for value in item_ids]
    elif own is not None:
        names = own
    else:
        raise MidpointError(
            f"{read.source} only numbers its items; give item_ids, the name that the ratings have"
            " for each row"
        )
    if len(names) != rows:
        raise MidpointError(f"{len(names)} item_ids for {rows} rows of factors of {read.source}")
    return FactorArrays(np.array(names, np.str_), read.vectors, read.biases, read.source)


def _checked(read: FactorArrays) -> FactorArrays:
    """Refuse what no model can have meant."""
    source, vectors, biases = read.source, read.vectors, read.biases
    if vectors.ndim != 2 or not vectors.size:
        raise MidpointError(
            f"item factors of {source} have shape {vectors.shape}; (items, factors) is needed, of"
            " at least one each"
        )
    if biases is not None and biases.shape != (len(vectors),):
        raise MidpointError(
            f"biases of {source} have shape {biases.shape} for {len(vectors)} items"
        )
    wrong = ~np.isfinite(vectors).all(axis=1)
    if biases is not None:
        wrong |= ~np.isfinite(biases)
    if wrong.any():
        raise MidpointError(
            f"{source}: factors or bias of item {read.item_ids[wrong.argmax()]!s} are not finite"
            " numbers; leave such items out"
        )
    names, counts = np.unique(read.item_ids, return_counts=True)
    if (counts > 1).any():
        raise MidpointError(f"{source}: item {names[counts.argmax()]!s} has two rows of factors")
    return read


def _numbers(values: Any) -> Float:
    """Copy numbers of any library; tensors of torch are arrays, too."""
    try:
        plain = values.detach().cpu() if hasattr(values, "detach") else values
        return np.array(plain, np.float64)
    except (TypeError, ValueError) as error:
        raise MidpointError(f"item factors are no table of numbers ({error})") from error


def _maybe(values: Any) -> Float | None:
    return None if values is None else _numbers(values)


def _words(values: Any) -> list[str] | None:
    return None if values is None else [word(value) for value in np.asarray(values).tolist()]


def _has(model: Any, name: str) -> bool:
    return getattr(model, name, None) is not None
