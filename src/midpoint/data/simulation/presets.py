"""Simulations of the size and skew of known data sets.

Sizes and class ratios are those of the paper's Table 1; but for age, where MovieLens-1M itself
has 1.4 young people to an adult, the table the other way round. Spreads are about what
MovieLens-1M shows: standard deviations over items and users of means, log-odds and biases.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from midpoint.data.scale import Scale
from midpoint.data.simulation.model import SimulatedFeature, SimulationConfig

_ONE_TO_FIVE = Scale.stars(1, 5)

_TINY = SimulationConfig(
    name="simulated-tiny",
    users=200,
    items=60,
    ratings=4_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.4, selection_sd=0.5),),
    dimension=3,
    scale=_ONE_TO_FIVE,
    popularity_sd=0.7,
    activity_sd=0.5,
    selection_taste_sd=0.3,
)

_PLAYS = replace(
    _TINY,
    name="simulated-plays",
    users=1_500,
    items=300,
    ratings=45_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.0, selection_sd=0.35),),
    dimension=4,
    scale=Scale.unary(),
    popularity_sd=1.2,
    activity_sd=0.6,
    selection_taste_sd=0.9,
    item_word="Song",
)

_PTV = SimulationConfig(
    name="simulated-ptv",
    users=365,
    items=50,
    ratings=18_000,
    features=(
        SimulatedFeature("gender", ("F", "M"), (2.7 / 3.7, 1 / 3.7), bias_sd=0.2),
        SimulatedFeature("politics", ("D", "R"), (1.4 / 2.4, 1 / 2.4), bias_sd=0.25),
    ),
    dimension=5,
    scale=_ONE_TO_FIVE,
    mean=2.9,
    item_mean_sd=0.5,
    user_mean_sd=0.4,
    taste_sd=0.7,
    noise_sd=1.1,
    item_word="Show",
)

_MOVIELENS_1M = SimulationConfig(
    name="simulated-movielens-1m",
    users=6_040,
    items=3_706,
    ratings=1_000_209,
    features=(
        SimulatedFeature(
            "gender", ("F", "M"), (1 / 3.5, 2.5 / 3.5), 0.09, 0.22, activity=(-0.1, 0.1)
        ),
        SimulatedFeature("age", ("adult", "young"), (1 / 2.4, 1.4 / 2.4), 0.09, 0.22, missing=0.1),
    ),
    dimension=10,
    scale=_ONE_TO_FIVE,
    mean=3.5,
    item_mean_sd=0.6,
    user_mean_sd=0.37,
    taste_sd=0.4,
    noise_sd=0.8,
    popularity_sd=1.75,
    activity_sd=1.35,
    selection_taste_sd=0.6,
)

_FLIXSTER = replace(
    _MOVIELENS_1M,
    name="simulated-flixster",
    users=26_000,
    items=9_921,
    ratings=5_600_000,
    features=(
        SimulatedFeature(
            "gender", ("F", "M"), (1.7 / 2.7, 1 / 2.7), 0.09, 0.22, activity=(-0.06, 0.06)
        ),
    ),
    scale=Scale.stars(0.5, 5, 0.5),
)

PRESETS: Mapping[str, SimulationConfig] = MappingProxyType(
    {
        config.name: config
        for config in (
            _TINY,
            _PLAYS,
            _PTV,
            _MOVIELENS_1M,
            _FLIXSTER,
            replace(_FLIXSTER, name="simulated-flixster-tenth", users=2_600, ratings=560_000),
            replace(
                _MOVIELENS_1M,
                name="simulated-10m",
                users=70_000,
                items=10_700,
                ratings=10_000_000,
            ),
            replace(
                _MOVIELENS_1M,
                name="simulated-50m",
                users=250_000,
                items=20_000,
                ratings=50_000_000,
            ),
        )
    }
)
"""Simulations by name, from a moment's worth to more than MovieLens ever published."""
