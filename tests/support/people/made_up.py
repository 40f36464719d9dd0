"""Disclosures and ratings that nobody gave, for tests and vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.user import Accepted, check_disclosure
from midpoint.wire import (
    GRAIN,
    ONE,
    SCHEMES,
    Catalogue,
    Certificate,
    Disclosure,
    Entry,
    FeatureNames,
    RatingScale,
    Signed,
    SigningKey,
    Solicitation,
    ValueMap,
    as_rows,
)
from midpoint.wire.limits import most_spread, spread_of_means
from tests.support.people.nature import Nature

GENDER = FeatureNames(name="gender", categories=("F", "M"))
AGE = FeatureNames(name="age", categories=("young", "middle", "old"))
STARS = tuple(ONE * star for star in (1, 2, 3, 4, 5))
ANALYST = SigningKey(bytes(range(32)))
STRANGER = SigningKey(bytes(range(1, 33)))
AUDITOR = SigningKey(bytes(range(2, 34)))
HEIR = SigningKey(bytes(range(3, 35)))
"""Succeeds the analyst's key, where that vouches for it."""


def distributions(rng: np.random.Generator, shape: Sequence[int], L: int) -> NDArray[np.int64]:
    """Draw distributions over L levels that sum to ONE, some levels without mass."""
    cuts = np.sort(rng.integers(0, ONE + 1, size=(*shape, L - 1)), axis=-1)
    ends = np.concatenate([cuts, np.full((*shape, 1), ONE)], axis=-1)
    return np.diff(ends, axis=-1, prepend=0)


def plausible(rng: np.random.Generator, M: int, K: int, points: Sequence[int]) -> NDArray[np.int64]:
    """Draw distributions again while an item's categories are further apart than devices take."""
    values, most = np.asarray(points), most_spread(points[-1] - points[0])
    drawn = distributions(rng, (M, K), len(points))
    for _ in range(40):
        far = spread_of_means(drawn, values) > most * ONE
        drawn[far] = distributions(rng, (int(far.sum()), K), len(points))
    return drawn


def columns(
    scheme: str, M: int, K: int, points: Sequence[int], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw the columns a scheme needs, and the prior of one with counterparts."""
    single = SCHEMES[scheme].value_map is ValueMap.ITEM_AVERAGE
    raw = rng.integers(-ONE // 2, ONE // 2, size=(M, K)) * K
    p = rng.integers(50, 1000, size=(M, K))
    drawn = {
        "offset": (raw - raw.sum(axis=1, keepdims=True) // K) // K,
        "reveal": np.maximum(p.min(axis=1, keepdims=True) * ONE // p, 1),
        "levels": plausible(rng, M, K, points),
        "average": rng.integers(points[0], points[-1], size=(M, 1 if single else K)),
    }
    found = {name: as_rows(drawn[name]) for name in SCHEMES[scheme].columns & drawn.keys()}
    shape = (M, K, 2 if SCHEMES[scheme].sub_samples else 0, 2)
    nature = Nature.draw(rng, shape, low=points[0] / ONE, high=points[-1] / ONE)
    return found | nature.columns(scheme)


def disclosure(
    scheme: str = "dmpss",
    features: tuple[FeatureNames, ...] = (GENDER,),
    n_items: int = 12,
    seed: int = 1,
    points: tuple[int, ...] = STARS,
    **changes: Any,
) -> Disclosure:
    """Draw a consistent disclosure."""
    rng = np.random.default_rng(seed)
    K = int(np.prod([len(feature.categories) for feature in features]))
    content: dict[str, Any] = {
        "scheme": scheme,
        "features": features,
        "scale": RatingScale(low=points[0], high=points[-1], levels=points),
        "items": tuple(f"item-{j:02d}" for j in range(n_items)),
        **columns(scheme, n_items, K, points, rng),
    }
    return Disclosure(**(content | changes))


UNARY = RatingScale(low=0, high=ONE, levels=(ONE,))
"""The scale of sets: an item is in hers, or nothing is known."""


def unary_disclosure(scheme: str = "dmpss", **made: Any) -> Disclosure:
    """Draw a consistent disclosure of sets."""
    return as_sets(disclosure(scheme, **made))


def as_sets(graded: Disclosure) -> Disclosure:
    """Turn a disclosure into one of sets: what categories prefer stands where levels would."""
    columns: dict[str, Any] = {n: getattr(graded, n) for n in graded.columns - {"levels"}}
    K = graded.n_cells
    if "levels" in graded.columns:
        preferred = np.random.default_rng(K).integers(-ONE // 8, ONE // 8, (len(graded.items), K))
        preferred[:, -1] -= preferred.sum(axis=1)
        columns["offset"] = as_rows(preferred)
    if "base" in graded.columns:
        columns["base"] = as_rows(np.full((len(graded.items), K), GRAIN))
        columns["prior"] = graded.prior
    kept = {"scheme": graded.scheme, "features": graded.features, "items": graded.items}
    return Disclosure(**(columns | kept | {"scale": UNARY}))


def solicitation(
    shown: Disclosure, number: int = 1, items: Sequence[str] | None = None, *, more: bool = False
) -> Solicitation:
    """Ask about these items, or all; `more` may be answered in an open round."""
    asked = shown.items if items is None else tuple(items)
    return Solicitation(disclosure=shown.digest, round=number, items=asked, open=more)


def ratings(shown: Disclosure, seed: int = 7, share: float = 0.8) -> dict[str, int]:
    """Draw ratings for most of the items."""
    rng = np.random.default_rng(seed)
    low, high = shown.scale.low, shown.scale.high
    points = shown.scale.levels or range(low, high + 1, (high - low) // 7)
    drawn = rng.integers(0, len(points), size=len(shown.items))
    rated = rng.random(len(shown.items)) < share
    return {
        item: points[level]
        for item, level, known in zip(shown.items, drawn, rated, strict=True)
        if known
    }


def titles_of(shown: Disclosure) -> Catalogue:
    """Give every item a title."""
    titles = tuple(f"Title of {item}" for item in shown.items)
    return Catalogue(items=shown.items, titles=titles, ratings=tuple(range(len(shown.items))))


def entries(
    disclosures: Sequence[Disclosure], key: SigningKey = ANALYST, *, titled: bool = False
) -> list[Entry]:
    """Make the analyst's list of these disclosures, with or without their titles."""
    made: list[Entry] = []
    for sequence, shown in enumerate(disclosures):
        made.append(
            Entry(
                sequence=sequence,
                disclosure=shown.digest,
                catalogue=titles_of(shown).digest if titled else None,
                previous=made[-1].digest if made else None,
                time=1_700_000_000 + sequence,
                key=key.public,
            )
        )
    return made


def accepted(shown: Disclosure) -> Accepted:
    """Accept it on first use, unsafe ones too."""
    chain = sealed(entries([shown]))
    return check_disclosure(shown.raw, chain, None, ratings_in_levels=False, allow_unsafe=True)


def sealed(made: Sequence[Entry], key: SigningKey = ANALYST) -> list[Signed]:
    """Sign each entry."""
    return [Signed.seal(entry, key) for entry in made]


def inherited(
    before: Sequence[Disclosure],
    after: Sequence[Disclosure],
    *,
    successor: str | None = HEIR.public,
    by: SigningKey = ANALYST,
) -> list[Signed]:
    """Make a list in which the analyst's last entry names a successor, whose entries follow.

    `by` signs that last entry; with another key, or no successor, nobody vouched for the heir.
    """
    made = entries([*before, before[-1], *after], titled=True)
    signed: list[Signed] = []
    for n, entry in enumerate(made):
        last, later = n == len(before), n > len(before)
        previous = Entry.parse(signed[-1].body.encode()).digest if signed else None
        changes = {"previous": previous, "successor": successor if last else None}
        key = HEIR if later else by if last else ANALYST
        signed.append(Signed.seal(entry.model_copy(update={**changes, "key": key.public}), key))
    return signed


def certificate(digest: str, auc: int = 521_000, **stated: Any) -> Certificate:
    """Make up what the auditor measured of a disclosure; more can be stated, or other things."""
    usual: dict[str, Any] = {
        "data": "0" * 64,
        "auditor": "A made-up auditor",
        "key": AUDITOR.public,
        "attack": "boosted trees",
        "auc_low": auc - 20_000,
        "auc_high": auc + 20_000,
        "null_low": 470_000,
        "null_high": 530_000,
        "rmse_cost": 3_100,
        "time": 1_700_000_000,
    }
    return Certificate(disclosure=digest, auc=auc, **(usual | stated))
