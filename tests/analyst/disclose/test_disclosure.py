from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import (
    CategoryEstimates,
    Factorizer,
    ItemProfiles,
    Training,
    disclose,
    prepare,
)
from midpoint.analyst.categories.estimates import Estimation
from midpoint.data import Ratings, Scale, Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.user import check_numbers
from midpoint.wire import GRAIN, ONE, SCHEMES, Disclosure, to_fixed
from midpoint.wire.disclosure import COLUMNS

ESTIMATIONS: tuple[Estimation, ...] = ("plain", "shrunken")
COUNTERPARTS = [name for name, scheme in SCHEMES.items() if scheme.counterparts]
AT_ANY_PRECISION = [name for name in SCHEMES if name not in COUNTERPARTS]
Ready = Callable[[str], ItemProfiles]
ON_ANY_SCALE = [name for name, scheme in SCHEMES.items() if not scheme.needs_levels]


def column(disclosure: Disclosure, name: str) -> NDArray[np.int64]:
    return np.array(getattr(disclosure, name))


@pytest.fixture(scope="module")
def crossed() -> Ready:
    """Few ratings, six joint cells, some of them empty; identifiers not in code-point order."""
    two = (
        SimulatedFeature("a", ("x", "y"), bias_sd=0.6),
        SimulatedFeature("b", ("p", "q", "r"), (0.7, 0.25, 0.05), bias_sd=0.6),
    )
    config = SimulationConfig(
        users=60, items=30, ratings=500, features=two, scale=Scale.stars(0.5, 5, 0.5)
    )
    ratings = simulate(config, seed=1).ratings
    profiles = Factorizer(dimension=2).fit(ratings, ["a", "b"])
    ready = {name: prepare(profiles, ratings, SCHEMES[name]) for name in COUNTERPARTS}
    return lambda scheme: ready.get(scheme, profiles)


@pytest.mark.parametrize(
    ("scheme", "bits"),
    [(name, None) for name in SCHEMES]
    + [(name, bits) for name in AT_ANY_PRECISION for bits in (1, 2, 3, 5, 8, 12, 16)],
)
@pytest.mark.parametrize("estimation", ESTIMATIONS)
def test_every_disclosure_is_one_that_devices_accept(
    scheme: str, bits: int | None, estimation: Estimation, ready_stars: Ready, crossed: Ready
) -> None:
    for ready in (ready_stars, crossed):
        found = disclose(ready(scheme), scheme, estimation=estimation, bits=bits)
        check_numbers(found)
        assert Disclosure.parse(found.raw).digest == found.digest
        there = {name for name in COLUMNS if getattr(found, name) is not None}
        assert there == SCHEMES[scheme].columns
        assert (found.prior is not None) == SCHEMES[scheme].counterparts


@pytest.mark.parametrize("scheme", ON_ANY_SCALE)
@pytest.mark.parametrize("bits", [None, 1, 4, 16])
def test_so_it_is_on_a_continuous_scale(scheme: str, bits: int | None, trained: Training) -> None:
    for estimation in ESTIMATIONS:
        check_numbers(disclose(trained.items, scheme, estimation=estimation, bits=bits))


def test_numbers_are_the_estimates_to_the_last_bit(trained_stars: Training) -> None:
    profiles = trained_stars.items
    assert profiles.statistics is not None
    guess = profiles.estimates()
    assert guess.levels is not None
    shifted, discrete = disclose(profiles, "mpss"), disclose(profiles, "dmpss")
    assert np.abs(column(shifted, "offset") / ONE - guess.offset).max() <= 0.5 / ONE
    assert guess.offset is profiles.offset  # estimated once, in the fit
    again = CategoryEstimates(profiles.statistics, along=guess.along).offset
    assert np.array_equal(again, profiles.offset)
    least = guess.probability.min(axis=1, keepdims=True)
    assert np.abs(column(shifted, "reveal") / ONE - least / guess.probability).max() <= 0.5 / ONE
    assert (column(shifted, "reveal").max(axis=1) == ONE).all()
    assert np.abs(column(discrete, "levels") / ONE - guess.levels).max() <= 1 / ONE
    assert (column(discrete, "levels").sum(axis=2) == ONE).all()
    means = guess.centre[:, None] + guess.offset
    averages = column(disclose(profiles, "fa"), "average")
    assert np.abs(averages / ONE - np.clip(means, 1, 5)).max() <= 0.5 / ONE
    total = profiles.statistics.total.sum(axis=1) / profiles.statistics.count.sum(axis=1)
    item_averages = column(disclose(profiles, "ia"), "average")
    assert np.abs(item_averages[:, 0] / ONE - total).max() <= 0.5 / ONE


def test_plain_and_shrunken_differ(trained_stars: Training) -> None:
    profiles = trained_stars.items
    assert profiles.statistics is not None
    plain = column(disclose(profiles, "mp", estimation="plain"), "offset")
    assert (
        np.abs(plain / ONE - CategoryEstimates(profiles.statistics, "plain").offset).max()
        <= 0.5 / ONE
    )
    assert np.abs(plain - column(disclose(profiles, "mp"), "offset")).max() > 0.05 * ONE


@pytest.mark.parametrize("bits", [1, 3, 7, 16])
def test_quantized_numbers_are_on_their_grid(trained_stars: Training, bits: int) -> None:
    profiles = trained_stars.items
    full, coarse = (
        {
            name: column(disclose(profiles, scheme, bits=b), name)
            for name, scheme in (
                ("offset", "mp"), ("reveal", "ss"), ("levels", "dmp"), ("average", "fa")
            )
        }
        for b in (None, bits)
    )  # fmt: skip
    steps = {
        "offset": (4 * ONE) >> bits,
        "average": (4 * ONE) >> bits,
        "reveal": ONE >> bits,
        "levels": ONE >> bits,
    }
    for name, step in steps.items():
        base = ONE if name == "average" else 0  # grids start at the least rating
        assert ((coarse[name] - base) % step == 0).all()
        furthest = step if name in ("levels", "reveal") else step / 2
        assert np.abs(coarse[name] - full[name]).max() <= furthest
    if bits == 16:
        assert np.array_equal(coarse["reveal"], full["reveal"])
        assert np.array_equal(coarse["levels"], full["levels"])
    else:
        assert len(np.unique(coarse["offset"])) < len(np.unique(full["offset"]))
    assert (coarse["reveal"] >= steps["reveal"]).all()


def test_items_ascend_by_code_point_with_their_numbers() -> None:
    users = [f"u{k}" for k in range(40)]
    names = [2, 1, 30, 100, 10, 9]  # read as numbers: their order is not that of their names
    rng = np.random.default_rng(0)
    ratings = Ratings.from_columns(
        np.repeat(users, 6),
        names * 40,
        rng.integers(1, 6, 240),
        features={"g": {user: "FM"[k % 2] for k, user in enumerate(users)}},
    )
    profiles = Factorizer(dimension=2, biases="plain").fit(ratings, "g")
    found = disclose(profiles, "mp", estimation="plain")
    assert list(found.items) == sorted(map(str, names))
    assert list(profiles.item_ids) != sorted(map(str, names))
    gender = ratings.feature("g").codes[ratings.user]
    for item, offset in zip(found.items, column(found, "offset"), strict=True):
        rated = ratings.item_ids[ratings.item] == item
        means = [ratings.value[rated & (gender == k)].mean() for k in (0, 1)]
        assert offset[1] / ONE == pytest.approx((means[1] - means[0]) / 2, abs=1e-5)


def test_an_item_nobody_rated_is_disclosed_all_the_same(stars: Simulation) -> None:
    ratings = stars.ratings.select_ratings(stars.ratings.item != 4)
    profiles = Factorizer(dimension=2).fit(ratings, "gender")
    for name, kind in SCHEMES.items():
        check_numbers(disclose(prepare(profiles, ratings, kind), name))
    for scheme in ("ia", "fa"):
        average = column(disclose(profiles, scheme), "average")[4] / ONE
        assert (np.abs(average - ratings.value.mean()) < 0.5).all()


def test_without_a_feature_only_ratings_as_they_are(tiny: Simulation) -> None:
    profiles = Factorizer(dimension=2).fit(tiny.ratings)
    assert disclose(profiles, "no").features == ()
    with pytest.raises(MidpointError, match="trained without a private feature"):
        disclose(profiles)


def test_what_cannot_be_is_refused(trained: Training) -> None:
    with pytest.raises(MidpointError, match="no scheme 'best'; choose one of no, mp"):
        disclose(trained.items, "best")
    for bits in (0, 17):
        with pytest.raises(MidpointError, match="bits must be from 1 to 16"):
            disclose(trained.items, "mp", bits=bits)
    with pytest.raises(MidpointError, match="need a discrete scale"):
        disclose(trained.items, "dmp")


@pytest.mark.parametrize("scheme", COUNTERPARTS)
def test_what_is_disclosed_of_positions_is_what_was_learned(
    scheme: str, ready_stars: Ready
) -> None:
    profiles = ready_stars(scheme)
    positions, shown = profiles.positions, disclose(profiles, scheme)
    assert positions is not None
    assert shown.prior is not None
    for name in SCHEMES[scheme].columns - {"levels"}:  # on the grid already, so to the last bit
        assert np.array_equal(column(shown, name), getattr(positions, name)[profiles.order] * GRAIN)
    assert np.array_equal(shown.prior.least, positions.least * GRAIN)
    assert np.array_equal(shown.prior.mean, to_fixed(positions.mean))
    assert np.array_equal(shown.prior.map, to_fixed(positions.maps()))
    exact = np.array(shown.prior.precision) / ONE @ positions.covariance
    assert exact == pytest.approx(np.broadcast_to(np.eye(exact.shape[-1]), exact.shape), abs=1e-3)
    assert shown.prior.noise == to_fixed(positions.noise_variance)


def test_levels_are_those_of_the_discrete_midpoint(ready_stars: Ready) -> None:
    profiles = ready_stars("cmpss")
    alone = disclose(replace(profiles, positions=None), "dmpss")
    assert disclose(profiles, "cmpss").levels == disclose(profiles, "dmpss").levels == alone.levels
    assert disclose(profiles, "dmpss") == alone  # what else is disclosed has nothing of positions


@pytest.mark.parametrize("scheme", COUNTERPARTS)
def test_counterparts_need_positions_of_their_own_kind_at_full_precision(
    scheme: str, ready_stars: Ready
) -> None:
    other = next(name for name in COUNTERPARTS if name != scheme)
    what = "sets" if SCHEMES[scheme].sub_samples else "values"
    for profiles in (ready_stars("dmpss"), ready_stars(other)):
        with pytest.raises(MidpointError, match=f"--counterparts {what}"):
            disclose(profiles, scheme)
    with pytest.raises(MidpointError, match="one precision"):
        disclose(ready_stars(scheme), scheme, bits=8)


def test_profiles_are_disclosed_by_the_scheme_that_was_chosen(
    ready_stars: Ready, trained_stars: Training
) -> None:
    for scheme in (*COUNTERPARTS, "dmpss", "mpr"):
        assert disclose(ready_stars(scheme)).scheme == scheme
    assert disclose(ready_stars("cmpss"), "dmpss").scheme == "dmpss"  # by name, any other
    # There is no silent default: it could protect less than what training would have chosen.
    bare = replace(trained_stars.items, scheme=None)
    with pytest.raises(MidpointError, match=r"midpoint\.Analyst\.train.*or name a scheme"):
        disclose(bare)
    assert disclose(bare, "dmpss") == disclose(trained_stars.items)


def test_a_name_that_devices_refuse_is_explained(trained_stars: Training) -> None:
    profiles = trained_stars.items
    names = profiles.item_ids.astype("U40").copy()
    names[0] = " outer space "
    disclose(profiles, "dmpss")
    with pytest.raises(MidpointError, match=r"outer spaces.*correct the data"):
        disclose(replace(profiles, item_ids=names), "dmpss")
