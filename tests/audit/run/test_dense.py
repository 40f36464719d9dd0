"""What an audit of dense ratings must show, on people who rate everything."""

from dataclasses import replace

import pytest

from midpoint.analyst import Factorizer
from midpoint.audit import AuditResults, audit
from midpoint.data import PRESETS, simulate

pytestmark = pytest.mark.slow

PTV = PRESETS["simulated-ptv"]
GENDER = replace(PTV.features[0], shares=(0.5, 0.5), bias_sd=0.5)
DENSE = replace(PTV, users=500, items=30, ratings=None, features=(GENDER,), dimension=3)
ITEM_WISE = ("lr", "adaptive-lr-levels")
JOINT = ("adaptive-quadratic-levels", "adaptive-lr-profile")


@pytest.fixture(scope="module")
def results() -> AuditResults:
    how = Factorizer(dimension=3, iterations=4)
    ratings = simulate(DENSE, seed=1).ratings
    schemes, attacks = ["no", "mpr", "dmp"], [*ITEM_WISE, *JOINT]
    return audit(ratings, "gender", schemes, attacks, folds=2, factorizer=how)


def excess(results: AuditResults, scheme: str, attacks: tuple[str, ...]) -> float:
    rows = [row for row in results.areas(scheme) if row.attack in attacks]
    return max(abs(row.value - 0.5) for row in rows)


def test_item_by_item_the_discrete_midpoint_leaves_nothing(results: AuditResults) -> None:
    for attack in ITEM_WISE:
        row = results.get("dmp", "auc", attack)
        assert row is not None
        assert results.is_chance(row)


def test_the_same_attackers_read_raw_and_rounded_ratings(results: AuditResults) -> None:
    """The control: what is at chance on dmp can read."""
    for scheme in ("no", "mpr"):
        row = results.get(scheme, "auc", "adaptive-lr-levels")
        assert row is not None
        assert not results.is_chance(row)
    assert all(control.reads for control in results.controls.values())


def test_jointly_it_leaves_at_most_half_of_what_rounding_does(results: AuditResults) -> None:
    assert excess(results, "dmp", JOINT) <= excess(results, "mpr", JOINT) / 2
    assert excess(results, "mpr", JOINT) > 0.1
