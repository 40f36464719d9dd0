"""A copy of a data set that hides a private feature."""

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.analyst import Analyst
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.progress import shown
from midpoint.protocol.obfuscation import obfuscate_population
from midpoint.protocol.population import cells_of
from midpoint.user import PURPOSES, Parameters, check_numbers
from midpoint.user.core.obfuscation import illegal
from midpoint.wire import Disclosure, from_fixed, to_fixed

CHUNK = 2**20
"""Ratings obfuscated at a time, about, so that the coins of many fit into memory."""
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".inter": "\t"}
RECBOLE = ".inter"
"""The suffix of RecBole's files of ratings, whose columns have its own names."""
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


def obfuscate(
    ratings: Ratings,
    disclosure: Disclosure | Analyst,
    *,
    seed: int | None = None,
    alpha: float = 1.0,
    progress: bool | None = None,
) -> Ratings:
    """Return what everyone's device would reveal of a whole data set.

    People whose category is unknown and items that the disclosure does not know are left out: they
    cannot be protected. Times are left out too.

    Args:
        ratings: The data set, with the features that the disclosure protects.
        disclosure: What was disclosed of its items, or the analyst that disclosed it.
        seed: For coins that can be tossed again; keep it secret. The system's randomness if none.
        alpha: Share of ratings to obfuscate.
        progress: Whether to show a bar; in terminals and notebooks unless given.
    """
    Ratings.require(ratings)
    disclosed = disclosure.disclosure if isinstance(disclosure, Analyst) else disclosure
    with shown("Obfuscating", progress) as report:
        copy, _ = obfuscated_copy(ratings, disclosed, seed=seed, alpha=alpha, progress=report)
    return copy


def obfuscated_copy(
    ratings: Ratings,
    disclosure: Disclosure,
    *,
    seed: int | None = None,
    alpha: float = 1.0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[Ratings, Summary]:
    """Obfuscate a whole data set as `obfuscate` does; return the copy and what became of it."""
    check_numbers(disclosure)
    names = ratings.item_ids.tolist()
    index = np.array([disclosure.index.get(item, -1) for item in names], dtype=np.intp)
    cell = _cell_by_user(ratings, disclosure)
    fit = ratings.select_ratings((index[ratings.item] >= 0) & (cell[ratings.user] >= 0))
    _require_any(fit, disclosure)
    parameters, toss = Parameters.of(disclosure), _coins(seed)
    _require_legal(fit, parameters)
    kept, values = [], []
    for first, last in _chunks(fit.user_offsets):
        starts = fit.user_offsets[first : last + 1]
        part = slice(int(starts[0]), int(starts[-1]))
        item, value = index[fit.item[part]], to_fixed(fit.value[part])
        people, coins = (starts - starts[0], item, value, cell[first:last]), toss(len(item))
        done = obfuscate_population(*people, parameters, coins, alpha)
        kept.append(done.keep)
        values.append(from_fixed(done.value).astype(np.float32))
        progress(part.stop, len(fit))
    keep = np.concatenate(kept)
    copy = replace(fit, value=np.concatenate(values), time=None).select_ratings(keep)
    summary = Summary(
        scheme=disclosure.scheme,
        ratings=len(ratings),
        revealed=len(copy),
        withheld=int((~keep).sum()),
        people_dropped=int((cell < 0).sum()),
        items_dropped=int((index < 0).sum()),
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


def table_bytes(copy: Ratings, path: Path) -> bytes:
    """Return a long table with the columns user, item and rating, as the file's name demands."""
    stream = io.BytesIO()
    suffix = table_suffix(path)
    table = copy.to_polars(recbole=suffix == RECBOLE)
    if suffix in PARQUET:
        table.write_parquet(stream)
    else:
        table.write_csv(stream, separator=SEPARATORS[suffix])
    return stream.getvalue()


def table_suffix(path: Path) -> str:
    """Return what kind of table a file's name asks for."""
    suffix = path.suffix.lower()
    if suffix not in SEPARATORS and suffix not in PARQUET:
        raise MidpointError(f"{path}: name a .csv, .tsv, .parquet or .inter file")
    return suffix


def _cell_by_user(ratings: Ratings, disclosure: Disclosure) -> NDArray[np.intp]:
    """Return each user's joint cell; -1 where a category is not known."""
    if not disclosure.features:
        return np.zeros(ratings.n_users, dtype=np.intp)
    features = [ratings.feature(part.name) for part in disclosure.features]
    codes = np.stack([feature.codes for feature in features])
    distinct, which = np.unique(codes, axis=1, return_inverse=True)
    names = (
        {f.name: f.categories[k] for f, k in zip(features, column, strict=True) if k >= 0}
        for column in distinct.T.tolist()
    )
    return cells_of(disclosure, names)[which.reshape(-1)]


def _require_any(fit: Ratings, disclosure: Disclosure) -> None:
    if not len(fit):
        names = "; ".join(
            f"{part.name}: {', '.join(part.categories)}" for part in disclosure.features
        )
        raise MidpointError(
            f"no rating is of an item of the disclosure (such as {disclosure.items[0]!r}) by a"
            f" person of known category ({names}); check that they are called the same"
        )


def _require_legal(fit: Ratings, parameters: Parameters) -> None:
    wrong = illegal(to_fixed(fit.value), parameters)
    if wrong.any():
        n = int(np.argmax(wrong))
        raise MidpointError(
            f"user {fit.user_ids[fit.user[n]]} rates item {fit.item_ids[fit.item[n]]} with"
            f" {fit.value[n]:g}, which is not on the disclosure's scale; correct it, or disclose"
            " for this scale"
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
