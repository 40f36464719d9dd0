"""Candidates are tried on a panel: what is taken leaks no more than what is simpler."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Allowance, Factorizer
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.audit.choose import choose
from midpoint.audit.choose.candidates import BUDGETS
from midpoint.data import PRESETS, Feature, Scale, Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError

QUICK = Factorizer(dimension=3, iterations=4)
WORLD = SimulationConfig(
    name="world",
    users=300,
    items=40,
    ratings=3_500,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.35, selection_sd=0.6),),
    dimension=3,
    scale=Scale.stars(1, 5),
    popularity_sd=0.6,
    activity_sd=0.4,
)


def test_nothing_is_measured_on_a_handful_of_people(tiny: Simulation) -> None:
    few = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) < 12)
    choice = choose(few, ["gender"], factorizer=QUICK)
    assert choice.scheme == "dmpss"
    assert "12 of every category are needed" in choice.reason
    assert "What leaks is not known" in choice.warning
    assert not choice.tried
    with pytest.raises(MidpointError, match="a share of the error"):
        choose(tiny.ratings, ["gender"], allow=Allowance(-1))
    with pytest.raises(MidpointError, match="above 0 and up to 1"):
        Allowance(share=0)


@pytest.mark.slow
def test_sets_are_hidden_where_people_choose_and_tell_nothing_where_they_were_assigned() -> None:
    """The negative control is the same world, in which what is rated says nothing."""
    chosen = choose(simulate(WORLD, seed=1).ratings, ["gender"], factorizer=QUICK)
    assert SchemeSpec.read(chosen.scheme).scheme.sub_samples
    assert chosen.row("dmp") is not None
    assert chosen.tried[0].leak > 0.85
    assert chosen.tried[1].leak > 0.8
    alike = replace(WORLD.features[0], selection_sd=0.0)
    values_only = replace(WORLD, features=(alike,), popularity_sd=0.0)
    assigned = choose(simulate(values_only, seed=1).ratings, ["gender"], factorizer=QUICK)
    taken = assigned.row(assigned.scheme)
    assert taken is not None
    assert taken.leak <= assigned.luck  # whatever is withheld for nothing
    ratings = simulate(values_only, seed=1).ratings
    declared = choose(ratings, ["gender"], factorizer=QUICK, assigned=True)
    assert not SchemeSpec.read(declared.scheme).scheme.sub_samples
    assert assigned.tried[0].leak > 0.75


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "feature"),
    [
        (replace(WORLD, scale=Scale.stars(0.5, 5, 0.5)), "gender"),
        (replace(WORLD, scale=Scale.stars(0, 100, 4), mean=50, noise_sd=20, taste_sd=15), "gender"),
        (replace(WORLD, users=80, ratings=1_200), "gender"),
        (
            replace(
                WORLD,
                features=(SimulatedFeature("band", ("a", "b", "c"), (0.6, 0.35, 0.05), 0.3, 0.4),),
            ),
            "band",
        ),
    ],
    ids=["half points", "fine scale", "tiny panel", "rare category"],
)
def test_what_is_chosen_leaks_no_more_than_anything_simpler(
    world: SimulationConfig, feature: str
) -> None:
    choice = choose(
        simulate(world, seed=2).ratings, [feature], factorizer=QUICK, allow=Allowance(0.05)
    )
    rows = list(choice.tried)
    taken = next(row for row in rows if row.scheme == choice.scheme)
    simpler = rows[: rows.index(taken)]
    assert taken.note == ""
    assert taken.cost <= 0.05 or "costs least" in choice.warning
    for row in simpler:
        assert taken.leak <= row.leak + 3 * max(row.error, taken.error, 0.01)
    if world.users < 100:
        same = simulate(world, seed=2).ratings
        assert choose(same, [feature], factorizer=QUICK, allow=Allowance(0.05)) == choice


@pytest.mark.slow
def test_a_category_of_few_people_does_not_keep_the_others_from_being_measured() -> None:
    """The control: looked for among two categories, nothing can be measured."""
    ratings = simulate(WORLD, seed=4).ratings
    codes = ratings.feature("gender").codes.copy()
    codes[:10] = 2
    rare = replace(ratings, features={"g": Feature("g", ("F", "M", "X"), codes)})
    choice = choose(rare, ["g"], factorizer=QUICK)
    assert choice.tried[0].leak > 0.85
    assert {row.category for row in choice.tried} <= {"F", "M"}
    assert "somebody is X was not measured: fewer than 12" in choice.warning
    two = np.where(codes == 2, 1, 0).astype(np.int16)
    alone = replace(ratings, features={"g": Feature("g", ("F", "X"), two)})
    assert not choose(alone, ["g"], factorizer=QUICK).tried


@pytest.mark.slow
def test_a_continuous_scale_has_candidates_of_its_own() -> None:
    smooth = simulate(replace(WORLD, scale=None), seed=3).ratings
    choice = choose(smooth, ["gender"], factorizer=QUICK)
    assert [row.scheme for row in choice.tried][:3] == ["no", "mp", "mpss"]
    assert choice.scheme.startswith("mpss")
    assert "--levels rounds ratings" in choice.warning


@pytest.mark.slow
def test_sets_are_revealed_up_to_the_smallest_budget_that_the_cost_allows() -> None:
    """The control: where nothing of lists may be lost, no budget is taken."""
    plays = replace(
        PRESETS["simulated-plays"],
        users=300,
        items=60,
        ratings=6_000,
        features=(SimulatedFeature("gender", ("F", "M"), selection_sd=0.8),),
    )
    ratings = simulate(plays, seed=1).ratings
    chosen, strict = (
        choose(ratings, ["gender"], factorizer=QUICK, allow=Allowance(cost)) for cost in (0.1, 0)
    )
    assert chosen.tried[0].leak > 0.8
    assert chosen.scheme == f"cmpss:leak={BUDGETS[-1]}"
    assert chosen.reason.endswith("this is the smallest leak budget that the cost allows")
    taken = chosen.row(chosen.scheme)
    assert taken is not None
    assert taken.leak <= chosen.luck
    assert SchemeSpec.read(strict.scheme).leak is None
