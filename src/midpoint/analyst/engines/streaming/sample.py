"""A sample of people that fits into memory, of ratings on disk."""

from collections.abc import Sequence

import numpy as np

from midpoint.analyst.engines.streaming.scan import Scan
from midpoint.data import Ratings


def sampled(scan: Scan, features: Sequence[str], people: int, seed: int) -> Ratings:
    """Read the ratings of so many people, at random among those whose category is known.

    Without a feature that is everybody.
    """
    feature = scan.feature(features)
    everyone = np.arange(scan.users.height)
    known = everyone if feature is None else np.flatnonzero(feature.codes >= 0)
    chosen = np.zeros(len(everyone), dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(known)[:people]] = True
    parts = [(u[chosen[u]], i[chosen[u]], value[chosen[u]]) for u, i, value in scan.coded()]
    user, item, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((item, user))  # chunks come in any order
    names = scan.user_ids
    of_feature = {
        name: {
            str(names[u]): _category(scan, name, int(u)) for u in np.flatnonzero(chosen).tolist()
        }
        for name in features
    }
    return Ratings.from_columns(
        names[user[order]],
        scan.item_ids[item[order]],
        value[order],
        scale=scan.scale,
        features=of_feature,
        name=scan.name,
    )


def _category(scan: Scan, name: str, user: int) -> str:
    feature = scan.features[name]
    return feature.categories[int(feature.codes[user])]
