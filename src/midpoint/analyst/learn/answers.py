"""Collected answers with numbers for texts: numbers are compared faster, and take less memory."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Answers(NamedTuple):
    """Answers by numbers; n answers."""

    person: Integers
    """Who gave each, in the order of their first answers. Shape (n,)."""
    disclosure: Integers
    """Index of its disclosure in `disclosures`. Shape (n,)."""
    item: Integers
    """Index of its item in `items`. Shape (n,)."""
    value: NDArray[np.float64]
    """The reported value. Shape (n,)."""
    disclosures: list[str]
    """Digests of the disclosures."""
    items: list[str]
    """Names of the items."""

    @classmethod
    def of(cls, whole: pl.DataFrame) -> "Answers":
        """Number the texts of answers without blanks."""
        person, _ = _coded(whole["person"])
        disclosure, disclosures = _coded(whole["disclosure"])
        item, items = _coded(whole["item"])
        return cls(person, disclosure, item, whole["value"].to_numpy(), disclosures, items)


def indices_of(names: Iterable[str], among: Iterable[str]) -> Integers:
    """Return where each name is among others, -1 where it is not. Shape (names,)."""
    index = {name: n for n, name in enumerate(among)}
    return np.array([index.get(name, -1) for name in names], np.int64)


def _coded(column: pl.Series) -> tuple[Integers, list[str]]:
    """Number the texts of a column in the order of their first appearance; return both."""
    codes = column.cast(pl.Categorical)
    texts = codes.unique(maintain_order=True)
    code = texts.to_physical().to_numpy()
    number = np.zeros(int(code.max(initial=0)) + 1, np.int64)
    number[code] = np.arange(len(code))
    return number[codes.to_physical().to_numpy()], texts.cast(pl.String).to_list()
