"""Preparation of raw ratings, as in the paper's experimental set-up."""

from dataclasses import replace

import numpy as np

from midpoint.data.origin import counted
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.errors import MidpointError


def at_least(ratings: Ratings, *, user_ratings: int = 20, item_ratings: int = 20) -> Ratings:
    """Keep users and items with so many ratings (Section 7.1, "Datasets").

    Dropping an item takes ratings from users and the other way round, so it is repeated until
    nothing changes. What is left is the largest such part, whatever the order of dropping.
    """
    if min(user_ratings, item_ratings) < 1:
        raise MidpointError(
            f"at_least needs counts of one or more: got {user_ratings} and {item_ratings}"
        )
    user, item = ratings.user, ratings.item
    while True:
        keep_user = np.bincount(user, minlength=ratings.n_users) >= user_ratings
        keep_item = np.bincount(item, minlength=ratings.n_items) >= item_ratings
        keep = keep_user[user] & keep_item[item]
        if keep.all():
            break
        user, item = user[keep], item[keep]
    if not len(user):
        raise MidpointError(
            f"{ratings.name}: of {ratings.n_users:,} users and {ratings.n_items:,} items nothing is"
            f" left where users have {user_ratings} ratings at least and items {item_ratings}; ask"
            " for fewer"
        )
    users, items = int((~keep_user).sum()), int((~keep_item).sum())
    kept = ratings.select_users(keep_user).select_items(keep_item)
    if not users + items:
        return kept
    return kept.leaving_out(
        f"{counted(users, 'person')} with fewer than {user_ratings} ratings and"
        f" {counted(items, 'item')} with fewer than {item_ratings} (--at-least)"
    )


def in_levels(ratings: Ratings, count: int) -> Ratings:
    """Bring ratings to the nearest of so many levels, equally far apart.

    On a fine scale people prefer round numbers, which shows how a rating was changed; on a coarse
    one all numbers are round.
    """
    scale = ratings.scale
    most = np.inf if scale.levels is None else len(scale.levels)
    if not 2 <= count <= most:
        raise MidpointError(
            f"{ratings.name} cannot be brought to {count} levels: ask for 2 or more, and no more"
            f" than the scale has ({'any number' if scale.levels is None else most})"
        )
    coarse = Scale.stars(scale.low, scale.high, (scale.high - scale.low) / (count - 1))
    value, name = coarse.nearest(ratings.value), f"{ratings.name}-{count}-levels"
    return replace(ratings, value=value, scale=coarse, name=name)


def as_sets(ratings: Ratings, least: float) -> Ratings:
    """Make unary data of ratings: of each person the items that she rated at least so high.

    With the lowest rating of the scale, all items that she rated: what people viewed.
    """
    scale = ratings.scale
    if scale.is_unary:
        raise MidpointError(f"{ratings.name} is unary already; leave out --liked")
    if not scale.low <= least <= scale.high:
        raise MidpointError(
            f"--liked {least:g}: ratings of {ratings.name} go from {scale.low:g} to {scale.high:g};"
            " name one of these"
        )
    kept = ratings.select_ratings(ratings.value >= np.float32(least))
    if not len(kept):
        raise MidpointError(f"--liked {least:g}: nobody in {ratings.name} rated so high; ask less")
    sets = replace(
        kept,
        value=np.ones(len(kept), np.float32),
        scale=Scale.unary(),
        name=f"{ratings.name}-liked-{least:g}",
    )
    people = int((np.diff(sets.user_offsets) == 0).sum())
    below = len(ratings) - len(kept)
    notes = [f"{counted(below, 'rating')} below {least:g} (--liked)"] * (below > 0)
    notes += [f"{counted(people, 'person')} who liked nothing (--liked)"] * (people > 0)
    sets = sets.select_users(np.diff(sets.user_offsets) > 0)
    for note in notes:
        sets = sets.leaving_out(note)
    return sets


def with_known(ratings: Ratings, *features: str) -> Ratings:
    """Keep users whose category of every one of these features is known, and all items."""
    if not features:
        return ratings
    known = ratings.feature(*features).known
    if not known.any():
        raise MidpointError(f"{ratings.name}: {' and '.join(features)} is known of no user")
    if known.all():
        return ratings
    return ratings.select_users(known).leaving_out(
        f"{counted(int((~known).sum()), 'person')} of unknown {' or '.join(features)}"
    )
