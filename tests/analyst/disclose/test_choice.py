"""One rule chooses the scheme, for library and command line alike."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import choose_scheme, itemwise_scheme
from midpoint.analyst.disclose import choice
from midpoint.analyst.disclose.choice import explain_choice
from midpoint.data import Ratings, Scale, Simulation, simulate
from midpoint.wire import SCHEMES, ValueMap


def grid(scale: Scale, *, given: int = 30) -> Ratings:
    """Return the first ratings of six people of two kinds, who rate five items each."""
    rows = [(f"u{u}", f"i{i}", 1 + (u + i) % 5) for u in range(6) for i in range(5)][:given]
    users, items, values = zip(*rows, strict=True)
    kinds: dict[str, str | None] = {f"u{u}": "ab"[u % 2] for u in range(6)}
    return Ratings.from_columns(users, items, values, scale=scale, features={"kind": kinds})


def test_counterparts_are_chosen_where_positions_can_be_learned(
    stars: Simulation, simulated: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_scheme(simulated.ratings, "gender") == "mpss"
    assert choose_scheme(stars.ratings, "gender") == "cmpss"
    assert choose_scheme(stars.ratings) == "dmpss"  # nothing to hide
    fewest = int(stars.ratings.feature("gender").counts.min())
    monkeypatch.setattr(choice, "LEAST_PEOPLE", fewest + 1)
    assert choose_scheme(stars.ratings, "gender") == "dmpss"
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 3)
    dense = replace(stars.config, users=20, ratings=None)
    assert choose_scheme(simulate(dense, seed=1).ratings, "gender") == "cmp"


def test_it_goes_by_the_share_of_ratings_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 3)
    full = grid(Scale.stars(1, 5))
    assert choose_scheme(full, "kind") == "cmp"
    assert choose_scheme(full.select_ratings(np.arange(30) > 0), "kind") == "cmp"
    assert choose_scheme(full.select_ratings(np.arange(30) % 4 > 0), "kind") == "dmpss"
    assert choose_scheme(full.select_ratings(np.arange(30) % 4 == 0), "kind") == "cmpss"


def test_neither_fine_scales_nor_many_categories_have_counterparts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 3)
    fine = grid(Scale.stars(1, 11))
    assert choose_scheme(fine, "kind") == "dmpss"
    assert choose_scheme(grid(Scale.stars(1, 10)), "kind") == "cmp"
    monkeypatch.setattr(choice, "MOST_NUMBERS", 11**2)  # two categories would need 12
    assert choose_scheme(grid(Scale.stars(1, 10)), "kind") == "dmpss"


def test_the_simple_scheme_protects_on_either_scale() -> None:
    for scale in (Scale.stars(1, 5), Scale(1, 5)):
        scheme = SCHEMES[itemwise_scheme(scale)]
        assert scheme.sub_samples
        assert scheme.protects(discrete=scale.is_discrete)
    assert SCHEMES[itemwise_scheme(Scale.stars(1, 5))].value_map is ValueMap.DISCRETE


def test_a_choice_says_what_decided(stars: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain_choice(stars.ratings).reason == "no private feature is named"
    assert "need ratings in levels" in explain_choice(grid(Scale(1, 5)), "kind").reason
    assert "11 levels are too many" in explain_choice(grid(Scale.stars(1, 11)), "kind").reason
    few = explain_choice(grid(Scale.stars(1, 5)), "kind")
    assert few == ("dmpss", "kind a has 3 of the 200 people that counterparts need")
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 3)
    full = grid(Scale.stars(1, 5))
    reasons = {
        explain_choice(full.select_ratings(np.arange(30) % 4 >= least), "kind")
        for least in (0, 1, 3)
    }
    assert reasons == {
        ("cmp", "people rate what they are asked: 100% of all possible ratings are there"),
        ("dmpss", "73% of all possible ratings are there: neither chosen by people nor complete"),
        ("cmpss", "people choose what they rate: 23% of all possible ratings are there"),
    }
    monkeypatch.setattr(choice, "MOST_NUMBERS", 11**2)
    assert "2 categories are too many" in explain_choice(full, "kind").reason
