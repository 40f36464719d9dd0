from dataclasses import replace
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.analyst import expected_loss
from midpoint.protocol import PROTOCOLS, LearningProtocol, Setting, more_accurate, worst_case_loss
from midpoint.protocol.accuracy import MOST_COINS
from midpoint.user import Parameters
from midpoint.wire import (
    ONE,
    Disclosure,
    FeatureNames,
    RatingScale,
    as_rows,
    from_fixed,
    to_fixed,
)
from tests.support.people.unadjusted import obfuscate_unadjusted


def setting(S: int = 8, D: int = 2, K: int = 2, seed: int = 0, certain: int = 3) -> Setting:
    """Draw items of which the first few are always revealed."""
    rng = np.random.default_rng(seed)
    offset = rng.normal(size=(S, K)) * 0.4
    reveal = rng.uniform(0.2, 1, size=(S, K))
    reveal[:certain] = 1
    return Setting(
        vectors=rng.normal(size=(S, D)),
        offset=offset - offset.mean(axis=1, keepdims=True),
        noise_variance=0.5,
        reveal=reveal,
    )


def least_squares(name: str, alpha: float = 1.0) -> LearningProtocol:
    return LearningProtocol(name, estimator="least-squares", alpha=alpha)


def simulated(one: LearningProtocol, s: Setting, k: int, seed: int, runs: int = 30_000) -> float:
    """Run the linear model, coins and least squares, and return the mean squared error."""
    rng = np.random.default_rng(seed)
    x = np.array([1.5, -0.5])
    r = s.vectors @ x + s.offset[:, k] + np.sqrt(s.noise_variance) * rng.normal(size=(runs, 8))
    mixed = rng.random((runs, 8)) < one.alpha
    keep = np.ones((runs, 8), dtype=bool)
    if one.scheme.sub_samples and s.reveal is not None:
        keep = ~mixed | (rng.random((runs, 8)) < s.reveal[:, k])
    shift = mixed * s.offset[:, k] if one.name in {"mp", "mpss"} else 0.0
    A = np.einsum("nj,jd,je->nde", keep.astype(float), s.vectors, s.vectors)
    b = np.einsum("nj,jd->nd", keep * (r - shift), s.vectors)
    found = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    return float(((found - x) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("name", ["no", "mp", "ss", "mpss"])
def test_the_loss_is_what_simulation_finds(name: str, alpha: float) -> None:
    s, one = replace(setting(), noise_variance=0.05), least_squares(name, alpha)
    found = max(simulated(one, s, k, seed=k) for k in (0, 1))
    loss = worst_case_loss(one, s)
    assert loss.least == loss.most == pytest.approx(found, rel=0.04)


def test_mp_is_eq_12_and_nobody_is_more_accurate() -> None:
    s = setting()
    mp = least_squares("mp")
    exact = expected_loss(s.vectors.T @ s.vectors, s.noise_variance)
    assert worst_case_loss(mp, s).least == pytest.approx(exact)
    for name in PROTOCOLS:
        if name not in {"dmp", "dmpss", "cmp", "cmpss"}:
            assert more_accurate(mp, least_squares(name), s) is True, name
    for name in ("no", "mpss", "ia", "ssfa", "nothing"):
        assert more_accurate(least_squares(name), mp, s) is False
    assert more_accurate(least_squares("full"), mp, s) is True


def test_what_cannot_be_said_is_not_said() -> None:
    s, mp = setting(), least_squares("mp")
    assert more_accurate(least_squares("dmp"), mp, s) is None
    assert more_accurate(mp, least_squares("dmp"), s) is None
    rounded = worst_case_loss(least_squares("mpr"), s)
    assert rounded.least == worst_case_loss(mp, s).most < rounded.most
    assert more_accurate(least_squares("mpr"), mp, s) is None


def rounded(s: Setting, y: float, runs: int) -> NDArray[np.float64]:
    """Return what MPr makes of ratings that are y when shifted, with coins. Shape (runs, 8)."""
    points = tuple(ONE * point for point in range(-20, 21))
    disclosure = Disclosure(
        scheme="mpr",
        features=(FeatureNames(name="gender", categories=("F", "M")),),
        scale=RatingScale(low=points[0], high=points[-1], levels=points),
        items=tuple("abcdefgh"),
        offset=as_rows(to_fixed(s.offset)),
    )
    item = np.tile(np.arange(8), runs)
    ratings = to_fixed(y) + to_fixed(s.offset)[item, 0]
    coins = np.random.default_rng(1).random((8 * runs, 4))
    sent = obfuscate_unadjusted(item, ratings, 0, Parameters.of(disclosure), coins).value
    return from_fixed(sent).reshape(runs, 8)


def test_rounding_adds_no_more_than_its_bound_and_sometimes_nearly_all_of_it() -> None:
    """With little noise, ratings midway between two levels are the worst case."""
    s = replace(setting(), noise_variance=1e-6)
    most = worst_case_loss(least_squares("mpr"), s).most
    pull = s.vectors @ np.linalg.inv(s.vectors.T @ s.vectors)
    for fraction, near in ((0.5, 1.0), (0.25, 0.75), (0.0, 0.0)):
        moved = (rounded(s, 3 + fraction, 40_000) - (3 + fraction)) @ pull
        loss = float((moved**2).sum(axis=1).mean())
        assert loss == pytest.approx(near * most, rel=0.03, abs=1e-4)


def test_losses_without_bound() -> None:
    s = setting()
    for name in ("nothing", "ia", "fa", "ssia", "ssfa"):
        assert worst_case_loss(least_squares(name), s).least == inf
    assert worst_case_loss(LearningProtocol("mp"), s).least == inf  # the prior's pull grows with x
    assert worst_case_loss(least_squares("ia", alpha=0.0), s).least < inf
    # One certain item cannot fix two dimensions: now and then nothing else is revealed.
    assert worst_case_loss(least_squares("mpss"), setting(certain=1)).least == inf
    assert worst_case_loss(least_squares("mp"), setting(certain=1)).most < inf


def test_quantised_offsets_cost_their_error() -> None:
    s = setting()
    off = worst_case_loss(least_squares("mp"), replace(s, disclosed=s.offset + 0.1)).least
    assert off > worst_case_loss(least_squares("mp"), s).least
    assert worst_case_loss(
        least_squares("mp"), replace(s, disclosed=0 * s.offset)
    ) == worst_case_loss(least_squares("no"), s)


@settings(max_examples=min(40, settings().max_examples))
@given(st.integers(0, 10**6), st.sampled_from(["ss", "mpss"]), st.sampled_from([1.0, 0.4]))
def test_bounds_for_many_items_hold_where_the_exact_value_is_known(
    seed: int, name: str, alpha: float
) -> None:
    one, s = least_squares(name, alpha), setting(S=8, seed=seed)
    exact = worst_case_loss(one, s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("midpoint.protocol.accuracy.MOST_COINS", 2)
        bounds = worst_case_loss(one, s)
    assert bounds.least <= exact.least * (1 + 1e-9)
    assert exact.most <= bounds.most * (1 + 1e-9)
    assert bounds.least < bounds.most


def test_revealing_more_is_more_accurate() -> None:
    s = setting(S=6, certain=3)
    assert s.reveal is not None
    losses = [
        worst_case_loss(least_squares("mpss"), replace(s, reveal=np.maximum(s.reveal, share))).most
        for share in (0.2, 0.5, 0.8, 1.0)
    ]
    assert all(more > less for more, less in pairwise(losses))
    assert losses[-1] == worst_case_loss(least_squares("mp"), s).most
    assert MOST_COINS >= 6
