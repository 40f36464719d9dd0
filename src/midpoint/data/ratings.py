"""Ratings of items by users: the one table that everything else reads."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from midpoint.data.encoding import ascending, encode, number_column, require_finite, require_legal
from midpoint.data.end_levels import require_ends_are_levels
from midpoint.data.feature import Feature, read_only, word
from midpoint.data.origin import Origin, counted
from midpoint.data.scale import Scale
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

ARRAYS = ("user", "item", "value", "user_ids", "item_ids", "item_names", "time")
"""The fields of `Ratings` that are arrays."""

Selection = NDArray[np.bool_] | NDArray[np.integer[Any]]


class ItemOrder(NamedTuple):
    """The same ratings, item by item."""

    offsets: NDArray[np.int64]
    """Ratings of item j are `order[offsets[j]:offsets[j + 1]]`. Shape (items + 1,)."""
    order: NDArray[np.int64]
    """Indices of the rating columns, by item and then by user. Shape (ratings,)."""

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        return f"<ItemOrder of {len(self.order)} ratings, {len(self.offsets) - 1} items>"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings sorted by user and item, at most one for each pair, with what is known of both.

    Immutable: the arrays are read-only, and every selection is a new object. Slicing by user is
    `user_offsets`, by item `by_item`.
    """

    user: NDArray[np.int32]
    """Index of the user who gave each rating. Shape (ratings,)."""
    item: NDArray[np.int32]
    """Index of the item that was rated. Shape (ratings,)."""
    value: NDArray[np.float32]
    """The rating. Shape (ratings,)."""
    scale: Scale
    """What a rating can be."""
    user_ids: NDArray[np.str_]
    """The users' names in the source. Shape (users,)."""
    item_ids: NDArray[np.str_]
    """The items' stable names in the source. Shape (items,)."""
    item_names: NDArray[np.str_]
    """What a person calls each item, e.g. the title. Shape (items,)."""
    features: Mapping[str, Feature] = field(default_factory=dict)
    """What is known of the users, by name."""
    time: NDArray[np.int64] | None = None
    """When each rating was given, in seconds since 1970, where known. Shape (ratings,)."""
    name: str = "ratings"
    """What the data set is called."""
    left_out: tuple[str, ...] = ()
    """What was left out while the data was read and prepared, and why."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", MappingProxyType(dict(self.features)))
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))
        if not len(self.user) == len(self.item) == len(self.value) or (
            self.time is not None and len(self.time) != len(self.value)
        ):
            raise MidpointError("user, item, value and time columns differ in length")
        if len(self.item_ids) != len(self.item_names):
            raise MidpointError("there must be one name for each item")
        for feature in self.features.values():
            if len(feature.codes) != len(self.user_ids):
                raise MidpointError(
                    f"feature {feature.name!r} does not have one entry for each user"
                )
        _require_in_order(self.user, self.item, self.n_users, self.n_items)

    @classmethod
    def from_columns(
        cls,
        users: ArrayLike,
        items: ArrayLike,
        values: ArrayLike,
        *,
        scale: Scale | None = None,
        features: Mapping[str, Mapping[Any, object]] | None = None,
        item_names: Mapping[Any, str] | None = None,
        time: ArrayLike | None = None,
        name: str = "ratings",
        origin: Origin | None = None,
    ) -> Self:
        """Build from one row a rating, in any order.

        Args:
            users: Name or number of the user of each rating.
            items: Name or number of the item of each rating.
            values: The ratings.
            scale: What a rating can be; guessed from the values where not given, and values that
                come in no levels are rounded to a fine scale.
            features: For each feature the category of each user, by her name or number; None or
                NaN where it is not known.
            item_names: Titles by name or number of the item; one without is called by its name.
            time: When each rating was given, in seconds since 1970.
            name: What the data set is called.
            origin: Where the rows came from, for error messages.
        """
        origin = origin or Origin(name, unit="row")
        value = number_column(values, np.float32, "rating", origin)
        if not len(value):
            raise MidpointError(f"{origin.path} has no ratings; check the file and its delimiter")
        guessed = scale is None
        if scale is None:
            require_finite(value, origin)
            scale = Scale.guess(value, origin.path, origin.locate)
            value = scale.nearest(value)
        require_legal(value, scale, origin)
        user, user_ids = encode(users, "user", origin)
        item, item_ids = encode(items, "item", origin)
        when = None if time is None else number_column(time, np.int64, "time", origin)
        if not len(user) == len(item) == len(value) == len(value if when is None else when):
            raise MidpointError("user, item, value and time columns differ in length")
        if guessed:
            require_ends_are_levels(user, item, value, origin.locate)
        pair = user.astype(np.int64) * len(item_ids) + item
        order = ascending(pair)
        again = np.flatnonzero(np.diff(pair[order]) == 0)
        if len(again):
            first, second = order[again[0] : again[0] + 2].tolist()
            raise MidpointError(
                f"{origin.locate(second)}: user {user_ids[user[second]]} rates item"
                f" {item_ids[item[second]]} again, first on {origin.unit} {origin.number(first)}"
                f" ({counted(len(again), f'such {origin.unit}')} in all); keep one rating for each"
                " pair"
            )
        titles = {word(item): title for item, title in (item_names or {}).items()}
        known = user_ids.tolist()
        return cls(
            user=user[order],
            item=item[order],
            value=value[order],
            scale=scale,
            user_ids=user_ids,
            item_ids=item_ids,
            item_names=np.array([titles.get(j, j) for j in item_ids.tolist()], dtype=np.str_),
            features={
                feature: Feature.of_users(feature, labels, known, origin.path)
                for feature, labels in (features or {}).items()
            },
            time=None if when is None else when[order],
            name=name,
        )

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Go to another process as the plain fields, without what was computed from them."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return type(self), tuple({**parts, "features": dict(self.features)}.values())

    def __len__(self) -> int:
        """Count the ratings."""
        return len(self.value)

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        return (
            f"<Ratings {self.name}: {self.n_users} users x {self.n_items} items,"
            f" {len(self)} ratings on {self.scale}; features {', '.join(self.features) or 'none'}>"
        )

    @property
    def summary(self) -> str:
        """What was read, in a few lines: people, items, scale, features, and who was left out."""
        size = f"{self.n_users:,} people, {self.n_items:,} items, {len(self):,} ratings"
        lines = [f"{self.name}: {size}", f"  scale: {self.scale}"]
        lines += [f"  {name}: {feature.summary}" for name, feature in self.features.items()]
        if not self.features:
            lines.append(
                "  nothing is known of the people; name a table of them: --users, in Python users="
            )
        return "\n".join([*lines, *(f"  left out: {note}" for note in self.left_out)])

    def leaving_out(self, note: str) -> Self:
        """Remember who or what was left out, and why."""
        return replace(self, left_out=(*self.left_out, note))

    def to_polars(self, *, recbole: bool = False) -> "pl.DataFrame":
        """Return a data frame with the columns user, item, rating and, where known, time.

        With `recbole` the columns have the names that RecBole gives them.
        """
        from midpoint.data.output import RECBOLE, ratings_frame  # noqa: PLC0415 - polars is heavy

        ids = (self.user_ids, self.user), (self.item_ids, self.item)
        table = ratings_frame(*ids, self.value, self.time)
        return table.rename({c: RECBOLE[c] for c in table.columns}) if recbole else table

    def people_to_polars(self) -> "pl.DataFrame":
        """Return a data frame with the column user and one for each feature."""
        from midpoint.data.output import people_frame  # noqa: PLC0415 - polars is heavy

        return people_frame(self.user_ids, self.features)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the same as a data frame of pandas."""
        from midpoint.data.output import as_pandas  # noqa: PLC0415 - polars is heavy

        return as_pandas(self.to_polars())

    def to_lenskit(self) -> Any:
        """Return a data set of LensKit, with the users and items called as here."""
        from midpoint.data.output import as_lenskit  # noqa: PLC0415 - polars is heavy

        return as_lenskit(self.to_polars())

    def _repr_html_(self) -> str:
        """Show a table in a notebook: people, items, ratings, scale, features with counts."""
        rows = {
            "people": f"{self.n_users:,}",
            "items": f"{self.n_items:,}",
            "ratings": f"{len(self):,}",
            "scale": str(self.scale),
            **{name: feature.summary for name, feature in self.features.items()},
        }
        if self.left_out:
            rows["left out"] = "; ".join(self.left_out)
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in rows.items()
        )
        return f"<table><caption>{escape(self.name)}</caption>{cells}</table>"

    @property
    def n_users(self) -> int:
        """Count the users."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Count the items."""
        return len(self.item_ids)

    @cached_property
    def user_offsets(self) -> NDArray[np.int64]:
        """Ratings of user i stand at `user_offsets[i]:user_offsets[i + 1]`. Shape (users + 1,)."""
        return _offsets(self.user, self.n_users)

    @cached_property
    def by_item(self) -> ItemOrder:
        """The ratings in the order of their items."""
        return ItemOrder(_offsets(self.item, self.n_items), ascending(self.item))

    def of_user(self, user: int) -> slice:
        """Return where this user's ratings stand."""
        return slice(int(self.user_offsets[user]), int(self.user_offsets[user + 1]))

    def of_item(self, item: int) -> NDArray[np.int64]:
        """Return where this item's ratings stand."""
        offsets, order = self.by_item
        return order[offsets[item] : offsets[item + 1]]

    def feature(self, *names: str) -> Feature:
        """Return a feature by name, or the joint feature of several."""
        for name in names:
            if name not in self.features:
                known = ", ".join(self.features) or "none; name a table of people by --users"
                if "," in name:
                    known += "; name several one by one, as in --feature gender --feature age"
                raise MidpointError(f"{self.name} has no user feature {name!r}; it has {known}")
            if names.count(name) > 1:
                raise MidpointError(f"feature {name!r} is named twice; name it once")
        return Feature.joint([self.features[name] for name in names])

    def with_feature(self, feature: Feature) -> Self:
        """Add a feature, or replace the one of that name."""
        return replace(self, features={**self.features, feature.name: feature})

    @classmethod
    def require(cls, ratings: object) -> None:
        """Refuse a table that was not loaded, such as a data frame."""
        if not isinstance(ratings, cls):
            raise MidpointError(
                f"a {type(ratings).__name__} is no ratings yet; load it first, with the people's"
                " features: midpoint.load(table, users=people)"
            )

    def select_ratings(self, keep: Selection) -> Self:
        """Keep these ratings (a mask, or ascending indices), all users and all items."""
        if keep.dtype != np.bool_:
            _require_ascending(keep)
        return replace(
            self,
            user=self.user[keep],
            item=self.item[keep],
            value=self.value[keep],
            time=None if self.time is None else self.time[keep],
        )

    def select_users(self, users: Selection) -> Self:
        """Keep these users (a mask, or ascending indices) with their ratings, and all items."""
        index, code = _renumbering(users, self.n_users)
        kept = self.select_ratings(code[self.user] >= 0)
        return replace(
            kept,
            user=code[kept.user],
            user_ids=self.user_ids[index],
            features={name: feature.select(index) for name, feature in self.features.items()},
        )

    def select_items(self, items: Selection) -> Self:
        """Keep these items (a mask, or ascending indices) with their ratings, and all users."""
        index, code = _renumbering(items, self.n_items)
        kept = self.select_ratings(code[self.item] >= 0)
        return replace(
            kept,
            item=code[kept.item],
            item_ids=self.item_ids[index],
            item_names=self.item_names[index],
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything a model can depend on: ratings, scale, ids and features."""
        total = hashlib.sha256()
        parts: list[NDArray[Any] | str] = [self.user, self.item, self.value, self.scale.digested]
        parts += ["\0".join(self.user_ids.tolist()), "\0".join(self.item_ids.tolist())]
        for name in sorted(self.features):
            parts += ["\0".join([name, *self.features[name].categories]), self.features[name].codes]
        for part in parts:
            content = (
                part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
            )
            total.update(len(content).to_bytes(8, "big"))
            total.update(content)
        return total.hexdigest()


def _offsets(codes: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=size), out=offsets[1:])
    return offsets


def _renumbering(chosen: Selection, size: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the chosen indices, and for each old index its new one or -1."""
    index = np.arange(size)[chosen]
    _require_ascending(index)
    code = np.full(size, -1, dtype=np.int32)
    code[index] = np.arange(len(index), dtype=np.int32)
    return index, code


def _require_ascending(indices: Selection) -> None:
    """Refuse what would leave the ratings unsorted, or there twice."""
    if np.any(np.diff(indices) <= 0):
        raise MidpointError("select by a mask, or by ascending indices without repeats")


def _require_in_order(
    user: NDArray[np.int32], item: NDArray[np.int32], n_users: int, n_items: int
) -> None:
    """Refuse indices out of range, which compiled code would follow, and pairs out of order."""
    if not len(user):
        return
    if min(user.min(), item.min()) < 0 or user.max() >= n_users or item.max() >= n_items:
        raise MidpointError(
            f"a rating is of user {user.min()} to {user.max()} or item {item.min()} to"
            f" {item.max()}, and there are {n_users} users and {n_items} items; count from zero"
        )
    later = (user[1:] > user[:-1]) | ((user[1:] == user[:-1]) & (item[1:] > item[:-1]))
    if not later.all():
        raise MidpointError(
            f"rating {int(np.argmin(later)) + 1} does not come after the one before it; sort by"
            " user and item with one rating for each pair, or build by Ratings.from_columns"
        )
