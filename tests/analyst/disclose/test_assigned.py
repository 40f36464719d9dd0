"""Assigned sets are declared, by a table of what people were asked or by `all`; or proved."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import Factorizer, choose_scheme, disclose, itemwise_scheme, train
from midpoint.analyst.disclose.assigned import require_assigned
from midpoint.data import Ratings, Scale, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.wire import SCHEMES

QUICK = Factorizer(dimension=2, iterations=2)
WORLD = SimulationConfig(users=60, items=12, scale=Scale.stars(1, 5), dimension=2)
EVERYTHING = simulate(WORLD, seed=1).ratings
SOME = simulate(replace(WORLD, ratings=240), seed=1).ratings


def table(path: Path, ratings: Ratings, rows: int | None = None) -> Path:
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    pairs = [f"{user},{item}" for user, item in zip(users, items, strict=True)][:rows]
    path.write_text("\n".join(["user,item", *pairs]) + "\n")
    return path


def test_who_rated_all_that_she_was_asked_did_not_choose(tmp_path: Path) -> None:
    require_assigned(EVERYTHING, "all")
    require_assigned(SOME, table(tmp_path / "asked.csv", SOME))


def test_who_rated_some_of_it_or_something_else_did_choose(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="chose what to answer"):
        require_assigned(SOME, "all")
    with pytest.raises(MidpointError, match="chose what to answer"):
        require_assigned(SOME, table(tmp_path / "more.csv", EVERYTHING))
    with pytest.raises(MidpointError, match="does not say that it was asked"):
        require_assigned(SOME, table(tmp_path / "fewer.csv", SOME, rows=100))
    (tmp_path / "other.csv").write_text("user,film\n1,2\n")
    with pytest.raises(MidpointError, match="no column 'item'"):
        require_assigned(SOME, tmp_path / "other.csv")


def test_the_model_and_its_disclosure_say_so() -> None:
    profiles = train(EVERYTHING, "gender", factorizer=QUICK, scheme="dmp", asked="all")
    assert profiles.scheme == "dmp:sets=assigned"
    assert disclose(profiles).sets == "assigned"
    plain = train(EVERYTHING, "gender", factorizer=QUICK, scheme="dmp")
    assert disclose(plain).sets is None
    with pytest.raises(MidpointError, match="assigned ones need none withheld"):
        train(EVERYTHING, "gender", factorizer=QUICK, scheme="dmpss", asked="all")


@pytest.mark.slow
def test_nothing_that_withholds_is_tried() -> None:
    chosen = choose_scheme(EVERYTHING, "gender", factorizer=QUICK, assigned=True)
    tried = [row.scheme for row in chosen.tried[1:]]
    assert {"dmp", "cmp"} <= {*tried, *dict(chosen.failed)}
    assert not any(SCHEMES[scheme.split(":")[0]].sub_samples for scheme in tried)
    few = EVERYTHING.select_users(np.arange(60) < 8)
    assert choose_scheme(few, "gender", factorizer=QUICK, assigned=True).scheme == "dmp"
    assert itemwise_scheme(Scale.continuous(0, 1), assigned=True) == "mp"


def crowd(selection_sd: float, users: int = 3000) -> Ratings:
    """Simulate people who rate eight of twenty items, chosen by their category or by chance."""
    feature = SimulatedFeature("gender", ("F", "M"), bias_sd=0.6, selection_sd=selection_sd)
    world = SimulationConfig(
        users=users,
        items=20,
        ratings=8 * users,
        features=(feature,),
        scale=Scale.stars(1, 5),
        dimension=2,
    )
    return simulate(world, seed=1).ratings


@pytest.mark.slow
def test_what_people_rated_proves_that_they_did_not_choose() -> None:
    """By an attack on sets alone; where they do choose, it finds them, and few prove nothing."""
    bound = require_assigned(crowd(0.0), "prove", ["gender"])
    assert bound is not None
    assert 0.5 < bound <= 0.53
    for chosen in (crowd(0.3), crowd(0.0, users=300), crowd(3.0, users=300)):
        with pytest.raises(MidpointError, match=r"not choose it: .* AUC of (?:0\.\d\d|1\.00)"):
            require_assigned(chosen, "prove", ["gender"])
    with pytest.raises(MidpointError, match="needs a private feature"):
        require_assigned(SOME, "prove")


@pytest.mark.slow
def test_what_was_proved_is_kept_and_nothing_is_withheld() -> None:
    panel = crowd(0.0)
    profiles = train(panel, "gender", factorizer=QUICK, asked="prove")
    assert profiles.choice is not None
    assert profiles.choice.sets_leak == require_assigned(panel, "prove", ["gender"])
    shown = disclose(profiles)
    assert shown.sets == "assigned"
    assert not SCHEMES[shown.scheme].sub_samples
