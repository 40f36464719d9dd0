"""What a scheme with counterparts needs of the ratings, and how it is disclosed."""

from midpoint.analyst import Progress, Training, disclose, fit_positions, prepare
from midpoint.data import Simulation
from midpoint.wire import SCHEMES


def test_preparing_adds_what_a_scheme_needs_and_nothing_else(
    stars: Simulation, trained_stars: Training
) -> None:
    items = trained_stars.items
    assert prepare(items, stars.ratings, SCHEMES["dmpss"]) is items
    seen: list[Progress] = []
    values = prepare(items, stars.ratings, SCHEMES["cmp"], threads=1, progress=seen.append)
    alone = fit_positions(items, stars.ratings, selection_factors=0)
    assert disclose(values, "cmp") == disclose(alone, "cmp")
    assert {step.stage for step in seen} == {"Fitting positions"}
    assert [step.iteration for step in seen] == list(range(1, seen[-1].iterations + 1))
