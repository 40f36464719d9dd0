"""A copy of a data set from which a private feature is taken out."""

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.user import PURPOSES, Parameters, adjustments, obfuscate
from midpoint.user.core.obfuscation import illegal
from midpoint.wire import Disclosure, from_fixed, to_fixed

CHUNK = 2**20
"""Ratings obfuscated at a time, about, so that the coins of many fit into memory."""
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = {".parquet", ".pq"}


@dataclass(frozen=True)
class Summary:
    """What became of a data set."""

    scheme: str
    """What was done to it."""
    ratings: int
    """Ratings that were read."""
    revealed: int
    """Ratings in the copy."""
    withheld: int
    """Ratings withheld by the scheme."""
    people_dropped: int
    """People left out since their category is not known or not in the disclosure."""
    items_dropped: int
    """Items left out since the disclosure does not know them."""


def protect(
    ratings: Ratings,
    told: Disclosure,
    *,
    alpha: float = 1.0,
    seed: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[Ratings, Summary]:
    """Obfuscate a whole data set under a disclosure; return the copy and what became of it."""
    known = dict(zip(told.items, range(len(told.items)), strict=True))
    place = np.array([known.get(item, -1) for item in ratings.item_ids.tolist()], dtype=np.intp)
    cell = _cells(ratings, told)
    fit = ratings.select_ratings((place[ratings.item] >= 0) & (cell[ratings.user] >= 0))
    _require_any(fit, told)
    parameters, toss = Parameters.of(told), _coins(seed)
    _require_legal(fit, parameters)
    kept, values = [], []
    for first, last in _chunks(fit.user_offsets):
        starts = fit.user_offsets[first : last + 1]
        part = slice(int(starts[0]), int(starts[-1]))
        item, category = place[fit.item[part]], cell[fit.user[part]]
        value, uniform = to_fixed(fit.value[part]), toss(len(item))
        own = adjustments(parameters, starts - starts[0], item, value, cell[first:last])
        done = obfuscate(item, value, category, parameters, uniform, alpha, own)
        kept.append(done.keep)
        values.append(from_fixed(done.value).astype(np.float32))
        progress(part.stop, len(fit))
    keep = np.concatenate(kept)
    copy = replace(fit, value=np.concatenate(values), time=None).select_ratings(keep)
    summary = Summary(
        scheme=told.scheme,
        ratings=len(ratings),
        revealed=len(copy),
        withheld=int((~keep).sum()),
        people_dropped=int((cell < 0).sum()),
        items_dropped=int((place < 0).sum()),
    )
    return copy, summary


def _chunks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Go through people, those of one chunk after another: nobody's ratings are parted."""
    first, people = 0, len(offsets) - 1
    while first < people:
        end = int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1
        last = min(max(end, first + 1), people)
        yield first, last
        first = last


def written(copy: Ratings, path: Path) -> bytes:
    """Return a long table with the columns user, item and rating, as the file's name demands."""
    import polars as pl  # heavy, and not needed to protect

    value = pl.Series("rating", np.round(copy.value.astype(np.float64), 6))
    table = pl.DataFrame(
        [
            pl.Series("user", copy.user_ids.tolist(), pl.String).gather(copy.user),
            pl.Series("item", copy.item_ids.tolist(), pl.String).gather(copy.item),
            value.cast(pl.Int64) if (value % 1 == 0).all() else value,
        ]
    )
    stream = io.BytesIO()
    suffix = table_suffix(path)
    if suffix in PARQUET:
        table.write_parquet(stream)
    else:
        table.write_csv(stream, separator=SEPARATORS[suffix])
    return stream.getvalue()


def table_suffix(path: Path) -> str:
    """Return what kind of table a file's name asks for."""
    suffix = path.suffix.lower()
    if suffix not in SEPARATORS and suffix not in PARQUET:
        raise MidpointError(f"--out {path}: name a .csv, .tsv or .parquet file")
    return suffix


def _cells(ratings: Ratings, told: Disclosure) -> NDArray[np.intp]:
    """Return each user's joint cell in row-major order; -1 where a category is not known."""
    cell = np.zeros(ratings.n_users, dtype=np.intp)
    for part in told.features:
        feature = ratings.feature(part.name)
        code = {name: k for k, name in enumerate(part.categories)}
        number = np.array([*(code.get(name, -1) for name in feature.categories), -1], np.intp)
        own = number[feature.codes]  # a missing code, -1, takes the last one
        cell = np.where((cell < 0) | (own < 0), -1, cell * len(part.categories) + own)
    return cell


def _require_any(fit: Ratings, told: Disclosure) -> None:
    if not len(fit):
        names = "; ".join(f"{part.name}: {', '.join(part.categories)}" for part in told.features)
        raise MidpointError(
            f"no rating is of an item of the disclosure (such as {told.items[0]!r}) by a person of"
            f" known category ({names}); check that they are called the same"
        )


def _require_legal(fit: Ratings, parameters: Parameters) -> None:
    wrong = illegal(to_fixed(fit.value), parameters)
    if wrong.any():
        n = int(np.argmax(wrong))
        raise MidpointError(
            f"user {fit.user_ids[fit.user[n]]} rates item {fit.item_ids[fit.item[n]]} with"
            f" {fit.value[n]:g}, which is not on the disclosure's scale; mend it, or disclose for"
            " this scale"
        )


def _coins(seed: int | None) -> Callable[[int], NDArray[np.float64]]:
    """Return what draws uniforms: by the seed, or of the system's secure randomness."""
    width = len(PURPOSES)
    if seed is not None:
        rng = np.random.default_rng(seed)
        return lambda count: rng.random((count, width))

    def toss(count: int) -> NDArray[np.float64]:
        bits = np.frombuffer(os.urandom(8 * count * width), dtype=np.uint64)
        return np.asarray((bits >> np.uint64(11)) / 2.0**53).reshape(count, width)

    return toss
