"""Disclosures with counterparts that nobody published, for vectors: integers all the way."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import (
    GRAIN,
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    Prior,
    RatingScale,
    as_rows,
)
from tests.support.made_up import AGE, GENDER, STARS, plausible


def counterparts_disclosure(
    scheme: str = "cmpss",
    features: tuple[FeatureNames, ...] = (GENDER,),
    n_items: int = 12,
    seed: int = 1,
    points: tuple[int, ...] = STARS,
    selection_factors: int = 2,
    taste_factors: int = 3,
    reach: float = 1.0,
    choose: bool = False,
    strata: int = 1,
    *,
    spread: bool = False,
    **changes: Any,
) -> Disclosure:
    """Draw a consistent disclosure; selection and taste factors matter more with a larger reach.

    Tastes may choose what is rated too; log spreads may be carried over.
    """
    rng = np.random.default_rng(seed)
    K = int(np.prod([len(feature.categories) for feature in features]))
    d = selection_factors if SCHEMES[scheme].sub_samples else 0
    span, add = (points[-1] - points[0]) * GRAIN // ONE, round(reach * GRAIN)
    drawn = {
        "rate": rng.integers(-3 * GRAIN, 2 * GRAIN, size=(n_items, K)),
        "selection": rng.integers(-add, add + 1, size=(n_items, d)),
        "base": points[0] * GRAIN // ONE + rng.integers(0, span + 1, size=(n_items, K)),
        "taste": rng.integers(-add, add + 1, size=(n_items, taste_factors)) * span // (4 * GRAIN),
        "levels": plausible(rng, n_items, K, points),
    }
    content: dict[str, Any] = {
        "scheme": scheme,
        "features": features,
        "scale": RatingScale(low=points[0], high=points[-1], levels=points),
        "items": tuple(f"item-{j:03d}" for j in range(n_items)),
        "prior": prior(
            rng, K, d + taste_factors * (1 + choose), (points[-1] - points[0]) / ONE, strata=strata
        ),
        **{name: as_rows(drawn[name]) for name in SCHEMES[scheme].columns},
    }
    if spread:
        spreads = log_spreads(rng, strata, K)
        content["prior"] = content["prior"].model_copy(update={"spread": as_rows(spreads)})
    return Disclosure(**(content | changes))


def log_spreads(rng: np.random.Generator, strata: int, K: int) -> NDArray[np.int64]:
    """Draw means of log spreads less than 1/4 apart, and deviations. Shape (G, K, 2)."""
    mean = rng.integers(-ONE // 8, ONE // 8, size=(strata, K))
    return np.stack([mean, rng.integers(ONE // 10, ONE // 2, size=(strata, K))], axis=2)


def real_size() -> Disclosure:
    """Three categories, and positions of 44 dimensions that are known badly in some directions."""
    wide = prior(
        np.random.default_rng(26), 3, 44, 4.0, certain=ONE // 16, apart=ONE // 16, strata=2
    )
    return counterparts_disclosure(
        features=(AGE,),
        n_items=300,
        seed=27,
        selection_factors=4,
        taste_factors=20,
        choose=True,
        prior=wide,
    )


def prior(
    rng: np.random.Generator,
    K: int,
    D: int,
    span: float,
    *,
    certain: int = ONE,
    apart: int = ONE // 4,
    strata: int = 1,
) -> Prior:
    """Draw means, precisions and maps near one; some means lie between two multiples of 1/256.

    Precisions are at least so much in all directions, entries of maps so far from those of 1.
    """
    G, unit = strata, np.eye(D, dtype=np.int64) * ONE
    mean = rng.integers(-ONE, ONE, size=(G, K, D))
    mean[:, :, 0] = mean[:, :, 0] // GRAIN * GRAIN + GRAIN // 2
    side = rng.integers(-2, 3, size=(G, K, D, D))
    precision = side @ side.swapaxes(2, 3) * (ONE // 8) + unit // ONE * certain
    maps = rng.integers(-apart, apart, size=(G, K, K, D, D)) + unit
    own = np.arange(K)
    maps[:, own, own] = unit
    least = np.zeros((G, K), dtype=np.int64)
    drawn = np.sort(rng.integers(GRAIN // 4, 2 * GRAIN, size=(G - 1, K)), axis=0)
    common = drawn[:, :1]  # a stratum begins at about the same activity in all categories
    least[1:] = np.maximum.accumulate(common + drawn % (common // 2 + 1), axis=0)
    return Prior(
        least=as_rows(least),
        mean=as_rows(mean),
        precision=as_rows(precision),
        map=as_rows(maps),
        noise=max(1, round(span * span * ONE / 16)),
    )
