"""Splits: folds of users by seed, and ratings into given and hidden ones, by seed or by time."""

from datetime import UTC, datetime
from time import time as now
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.data.feature import Feature
from midpoint.data.ratings import Ratings
from midpoint.errors import MidpointError

HASH_BITS = 33
"""Of 64 bits, 31 number the user (an int32) and the rest order her ratings.

Two of one user's ratings tie once in 2^33 pairs; if just there the cut falls, both are given.
"""


DAY: Final = 24 * 60 * 60
"""Seconds by which clocks may differ before a time is in the future."""


class Fold(NamedTuple):
    """Users split in two; both parts keep all items."""

    training: Ratings
    """The users who are not privacy-conscious: the analyst's data."""
    held_out: Ratings
    """The privacy-conscious users."""


class Split(NamedTuple):
    """Ratings split in two; both parts keep all users and all items."""

    given: Ratings
    """The ratings to learn from."""
    hidden: Ratings
    """The ratings to predict."""


def user_folds(
    n_users: int, folds: int = 10, *, seed: int, feature: Feature | None = None
) -> NDArray[np.int64]:
    """Assign each user to a fold at random; sizes differ by one at most (Section 7.1).

    Given a feature, the users of each category (and those of none) spread as evenly.

    Returns:
        The fold of each user, from 0 to folds - 1. Shape (users,).
    """
    if not 2 <= folds <= n_users:
        raise MidpointError(f"cannot split {n_users} users into {folds} folds; take 2 to {n_users}")
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_users)
    if feature is not None:
        if len(feature.codes) != n_users:
            raise MidpointError(f"feature {feature.name!r} is not of these {n_users} users")
        order = order[np.argsort(feature.codes[order], kind="stable")]
    fold = np.empty(n_users, dtype=np.int64)
    # Dealt like cards: a category is a run of `order`, so each fold gets its share of every run.
    fold[order] = rng.permutation(folds)[np.arange(n_users) % folds]
    return fold


def hold_out(ratings: Ratings, folds: NDArray[np.integer[Any]], k: int) -> Fold:
    """Take the users of fold k out of the training users."""
    if len(folds) != ratings.n_users:
        raise MidpointError(f"{len(folds)} folds do not fit {ratings.n_users} users")
    held_out = np.equal(folds, k)
    if not held_out.any() or held_out.all():
        raise MidpointError(f"fold {k} holds {int(held_out.sum())} of {len(folds)} users")
    return Fold(ratings.select_users(~held_out), ratings.select_users(held_out))


def split_ratings(ratings: Ratings, share: float = 0.7, *, seed: int) -> Split:
    """Split each user's ratings at random: 70% to profile her by, 30% to predict (Section 7.1).

    Of two ratings or more both sides get at least one; a single one is given. The split follows
    from the seed and the names of user and items alone, so it is the same in whatever company
    the user comes: in any fold, or after other users were dropped.
    """
    _require_share(share)
    # The order of a user's ratings is that of their hashes; `given` are her first few.
    hashes = _mix(
        _name_keys(ratings.user_ids, seed)[ratings.user]
        + _mix(_name_keys(ratings.item_ids, 0))[ratings.item]
    )
    hashes >>= np.uint64(64 - HASH_BITS)
    hashes |= ratings.user.astype(np.uint64) << np.uint64(HASH_BITS)
    counts = np.diff(ratings.user_offsets)
    wanted = np.floor(share * counts + 0.5).astype(np.int64)
    wanted = np.where(counts >= 2, np.clip(wanted, 1, counts - 1), counts)
    last = np.minimum(ratings.user_offsets[:-1] + np.maximum(wanted, 1), max(len(ratings), 1)) - 1
    given = hashes <= np.sort(hashes)[last][ratings.user] if len(ratings) else np.zeros(0, np.bool_)
    return Split(ratings.select_ratings(given), ratings.select_ratings(~given))


def split_at_random(ratings: Ratings, share: float = 0.9, *, seed: int) -> Split:
    """Split all ratings at random, regardless of the user: 90% to train on, 10% to test."""
    _require_share(share)
    given = np.zeros(len(ratings), dtype=np.bool_)
    order = np.random.default_rng(seed).permutation(len(ratings))
    given[order[: round(share * len(ratings))]] = True
    return Split(ratings.select_ratings(given), ratings.select_ratings(~given))


def split_moment(ratings: Ratings, share: float = 0.7) -> int:
    """Return the time before which about this share of all ratings was given, in seconds."""
    _require_share(share)
    if ratings.time is None or not len(ratings):
        raise MidpointError(
            f"{ratings.name} has no times, so it cannot be split by time; name their column by"
            " --time-column, or leave out --split time"
        )
    late = ratings.time > int(now()) + DAY
    if late.any():
        raise MidpointError(
            f"{ratings.name}: {int(late.sum())} times are in the future, the first"
            f" {ratings.time[late].min()} seconds after 1970; correct them"
        )
    first = ratings.time.min()
    moment = np.partition(ratings.time, at := int(share * len(ratings)))[at]
    later = ratings.time[ratings.time > first]
    if not len(later):
        raise MidpointError(
            f"all ratings of {ratings.name} have the same time, so it cannot be split by time"
        )
    return int(moment if moment > first else later.min())


def split_by_time(ratings: Ratings, moment: int) -> Split:
    """Split all ratings at one time, the same for everybody: what came before, and the rest."""
    if ratings.time is None:
        raise MidpointError(f"{ratings.name} has no times, so it cannot be split by time")
    given = ratings.time < moment
    return Split(ratings.select_ratings(given), ratings.select_ratings(~given))


def day(moment: int) -> str:
    """Write a time as the day that it is on, in UTC."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def _require_share(share: float) -> None:
    if not 0 < share < 1:
        raise MidpointError(f"the share to give must be between 0 and 1: got {share}")


def _name_keys(names: NDArray[np.str_], seed: int) -> NDArray[np.uint64]:
    """Hash names, character by character, all at once; padding does not count. Shape (names,)."""
    native = np.ascontiguousarray(names, dtype=np.str_)
    characters = native.view(np.uint32).reshape(len(native), native.dtype.itemsize // 4)
    keys = _mix(np.full(len(native), seed % 2**64, dtype=np.uint64))
    for column in characters.T:
        keys = np.where(column > 0, _mix(keys ^ column), keys)
    return keys


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit keys by SplitMix64's step: a bijection whose bits all depend on all bits."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
