"""Each public object of the analyst says what it is in a few lines."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from midpoint import analyst
from midpoint.analyst import (
    Allowance,
    CollectedReports,
    Evidence,
    Factorizer,
    GivenFactors,
    ItemProfiles,
    Progress,
    Scorer,
    Training,
    Tuning,
    disclose,
    posterior,
)
from midpoint.analyst.fit.tuning import Trial
from midpoint.analyst.solicit.selection import select
from midpoint.data import Simulation


@pytest.fixture(scope="module")
def objects(
    trained_stars: Training, ready_stars: Callable[[str], ItemProfiles]
) -> dict[str, object]:
    """Return one of each public class, and what else people print."""
    profiles = ready_stars("cmpss")
    evidence = Evidence.of(profiles, np.array([1, 2]), np.array([5.0, 1.0]))
    trial = Trial(10, "learned", 0.9, 0.01)
    return {
        "CategoryEstimates": profiles.estimates(),
        "CategoryStatistics": profiles.statistics,
        "CollectedReports": CollectedReports.of([], []),
        "Allowance": Allowance(),
        "Estimate": posterior(evidence, profiles),
        "Evidence": evidence,
        "Factorizer": Factorizer(),
        "GivenFactors": GivenFactors.of(profiles.vectors, profiles.item_ids),
        "ItemProfiles": profiles,
        "PositionModel": profiles.positions,
        "Progress": Progress(1, 2, 0.9),
        "Provenance": profiles.provenance,
        "Scorer": Scorer(profiles, disclose(profiles)),
        "Training": trained_stars,
        "Tuning": Tuning((trial,) * 12, trial, Factorizer()),
        "Selection": select(profiles.vectors, 6),
    }


def test_every_object_says_what_it_is_in_a_few_lines(objects: dict[str, object]) -> None:
    classes = {name for name in analyst.__all__ if isinstance(getattr(analyst, name), type)}
    assert classes <= objects.keys()
    for name, thing in objects.items():
        lines = repr(thing).splitlines()
        assert 1 <= len(lines) <= 5, name
        assert max(map(len, lines)) <= 240, name
        assert name in lines[0]
        assert "array(" not in repr(thing), name


def test_profiles_show_the_items_that_each_category_moves_most(trained_stars: Training) -> None:
    profiles = trained_stars.items
    text, table = repr(profiles), profiles._repr_html_()
    assert "80 items, dimension 4" in text
    assert "disclosed by dmpss" in text
    for k, category in enumerate(profiles.categories):
        most, least = (int(pick(profiles.offset[:, k])) for pick in (np.argmax, np.argmin))
        assert f"gender {category} adds most to {profiles.item_names[most]}" in text
        assert f"<th>{category}</th><td>{profiles.item_names[most]}" in table
        assert f"<td>{profiles.item_names[least]} (" in table


def test_titles_cannot_write_into_the_page(trained_stars: Training) -> None:
    profiles = trained_stars.items
    names = np.full(profiles.n_items, "<script>alert(1)</script>")
    assert "<script>" not in replace(profiles, item_names=names)._repr_html_()


def test_long_titles_are_cut(trained_stars: Training) -> None:
    profiles = trained_stars.items
    names = np.full(profiles.n_items, "word " * 100)
    assert max(map(len, repr(replace(profiles, item_names=names)).splitlines())) < 240


def test_many_categories_and_none_fit_as_well(tiny: Simulation) -> None:
    plain = Factorizer(dimension=2, iterations=1).fit(tiny.ratings)
    assert "no private feature" in repr(plain)
    assert "<table>" not in plain._repr_html_()
    bare = Factorizer(dimension=2, iterations=1).fit(tiny.ratings, "gender")
    assert "no scheme chosen" in repr(bare)
    wide = replace(
        bare,
        features=(("band", tuple(f"band {k}" for k in range(40))),),
        offset=np.zeros((bare.n_items, 40)),
        statistics=None,
    )
    assert len(repr(wide).splitlines()) <= 5
    assert "and 38 more categories" in repr(wide)
    assert wide._repr_html_().count("<tr>") == 13
