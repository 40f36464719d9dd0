"""What is printed of data stays short, and a notebook shows a table."""

from dataclasses import replace

import pytest

from midpoint.data import PRESETS, Feature, Ratings, Scale, Simulation, simulate


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(PRESETS["simulated-tiny"], seed=1)


def test_reprs_are_a_few_short_lines(simulation: Simulation) -> None:
    many = Feature.from_labels("village", [f"village {k}" for k in range(500)])
    scale = Scale.stars(0, 100)
    ratings = replace(simulation.ratings, scale=scale)
    for shown in (
        *(simulation, simulation.items, simulation.users, simulation.ratings, ratings),
        *(simulation.ratings.by_item, simulation.ratings.feature("gender"), many, scale),
    ):
        assert len(repr(shown)) <= 240, shown
        assert repr(shown).count("\n") < 5


def test_a_repr_names_sizes_scale_and_categories(simulation: Simulation) -> None:
    ratings = simulation.ratings
    gender = ratings.feature("gender")
    assert repr(ratings) == (
        f"<Ratings simulated-tiny: {ratings.n_users} users x {ratings.n_items} items,"
        f" {len(ratings)} ratings on {ratings.scale}; features gender>"
    )
    assert repr(simulation) == f"<Simulation of {ratings!r}>"
    f, m = gender.counts
    assert repr(gender) == f"<Feature gender: F {f}, M {m}, not known 0>"
    assert repr(Scale.stars(1, 3)) == "<Scale 1 2 3>"


def test_a_notebook_shows_a_table_of_counts() -> None:
    ratings = Ratings.from_columns(
        ["a", "a", "b", "c"],
        [1, 2, 1, 2],
        [1, 2, 3, 4],
        features={"<gender>": {"a": "F", "b": "M", "c": None}},
        name="a & b",
    )
    shown = ratings._repr_html_()
    for name, text in (
        *(("people", "3"), ("items", "2"), ("ratings", "4"), ("scale", "1 2 3 4")),
        ("&lt;gender&gt;", "F 1, M 1, not known 1"),
    ):
        assert f"<tr><th>{name}</th><td>{text}</td></tr>" in shown
    assert "<caption>a &amp; b</caption>" in shown


def test_the_digest_does_not_follow_what_is_printed() -> None:
    ratings = Ratings.from_columns([1, 2], [1, 2], [1, 2], scale=Scale.stars(1, 2))
    assert ratings.scale.digested == "Scale(low=1.0, high=2.0, levels=(1.0, 2.0))"
    one, other = Scale.discrete([*range(7), 9]), Scale.discrete([*range(6), 7, 9])
    assert repr(one) == repr(other) == "<Scale 0 to 9 in 8 levels>"
    assert replace(ratings, scale=one).digest != replace(ratings, scale=other).digest
