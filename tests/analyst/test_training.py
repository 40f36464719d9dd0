"""The library trains, chooses and protects exactly as `midpoint train` does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import (
    Factorizer,
    ItemProfiles,
    Progress,
    disclose,
    prepare,
    train,
)
from midpoint.analyst.analyst import Analyst
from midpoint.analyst.counterparts.fit import with_spreads
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.engines import train_on
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.fit.choice import Choice, Tried
from midpoint.audit import audit
from midpoint.data import MISSING, PRESETS, Ratings, Simulation, simulate
from midpoint.errors import MidpointError
from midpoint.wire import SCHEMES
from tests.support.models.small_model import run

QUICK = Factorizer(dimension=3, iterations=3)


def choosing(scheme: str, monkeypatch: pytest.MonkeyPatch) -> Choice:
    """Have a scheme chosen whatever would be measured."""
    choice = Choice(scheme, "it leaks least", (Tried(scheme, 0.52, "sets", "F", 0.0, 0.0, 0.01),))
    monkeypatch.setattr("midpoint.audit.choose.choose", lambda *_, **__: choice)
    return choice


def test_the_scheme_is_chosen_and_all_it_needs_is_learned(
    tiny: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = choosing("cmpss", monkeypatch)
    seen: list[Progress] = []
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, progress=seen.append)
    assert (profiles.scheme, profiles.choice) == ("cmpss", choice)
    by_hand = prepare(QUICK.fit(tiny.ratings, "gender"), tiny.ratings, SCHEMES["cmpss"])
    assert disclose(profiles) == disclose(by_hand, "cmpss")
    assert [step.stage for step in seen][:: len(seen) - 1] == ["Training", "Fitting positions"]


def test_a_chosen_budget_is_kept_unless_another_is_named(
    tiny: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = choosing("dmpss:leak=0.6", monkeypatch)
    chosen, named, same = (
        train(tiny.ratings, "gender", factorizer=QUICK, leak=leak) for leak in (None, 0.7, 0.6)
    )
    assert (chosen.scheme, chosen.leak, chosen.choice) == ("dmpss", 0.6, choice)
    assert (same.leak, same.choice) == (0.6, choice)
    assert (named.scheme, named.leak) == ("dmpss", 0.7)
    assert named.choice is not None
    assert named.choice.scheme == "dmpss:leak=0.7"
    assert named.choice.reason == "this leak budget was asked for; measured was one of 0.6"


@pytest.mark.parametrize("scheme", ["cmpss", "cmp"])
def test_log_spreads_are_learned_where_the_scheme_discloses_them(
    tiny: Simulation, scheme: str
) -> None:
    plain, wide = (
        train(tiny.ratings, "gender", factorizer=QUICK, scheme=name)
        for name in (scheme, f"{scheme}:spread=on")
    )
    assert plain.positions is not None
    assert plain.positions.spread is None
    both = with_spreads(plain, tiny.ratings)
    assert with_spreads(both, tiny.ratings) is both
    assert disclose(both, f"{scheme}:spread=on") == disclose(wide)
    assert disclose(wide, scheme) == disclose(plain)
    with pytest.raises(MidpointError, match="train it again with --spread"):
        disclose(plain, f"{scheme}:spread=on")


def test_a_handful_of_people_leave_the_simple_scheme(tiny: Simulation) -> None:
    few = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) < 12)
    profiles = train(few, ["gender"], factorizer=QUICK, least_people=5)
    assert profiles.scheme == "dmpss"
    assert profiles.choice is not None
    assert "are needed to measure" in profiles.choice.reason
    assert profiles.positions is None
    assert disclose(profiles) == disclose(QUICK.fit(few, "gender"), "dmpss")


def test_a_category_of_few_people_is_refused_unless_it_is_allowed(tiny: Simulation) -> None:
    gender = tiny.ratings.features["gender"]
    women, men = (np.flatnonzero(gender.codes == k) for k in (0, 1))
    few = tiny.ratings.select_users(np.sort([*women[:2], men[0]]))
    with pytest.raises(MidpointError, match=r"'M' of gender has 1 person only .*--least-people N"):
        train(few, "gender", factorizer=QUICK, scheme="dmpss")
    with pytest.raises(MidpointError, match="least_people=N"):
        Analyst.train(few, "gender", factorizer=QUICK, scheme="dmpss")
    tables = LocalRatings(few, ("gender",))
    with pytest.raises(MidpointError, match="'M' of gender has 1 person only"):
        train_on(tables, QUICK, scheme="dmpss")
    allowed = train(few, "gender", factorizer=QUICK, scheme="dmpss", least_people=1)
    assert allowed.statistics is not None
    assert allowed.statistics.users.tolist() == [2, 1]


def test_sets_that_do_not_differ_are_refused_before_anything_is_learned() -> None:
    people, items = np.divmod(np.arange(100), 5)
    gender = {str(n): "FM"[n % 2] for n in range(20)}
    columns = people.astype(str), items.astype(str), np.ones(100)
    everything = Ratings.from_columns(*columns, features={"gender": gender})
    with pytest.raises(MidpointError, match="everybody has every item"):
        train(everything, "gender", factorizer=QUICK, scheme="dmpss")
    with pytest.raises(MidpointError, match="everybody has every item"):
        audit(everything, "gender")


def test_a_scheme_that_changes_values_is_refused_for_sets_before_anything_is_learned() -> None:
    sets = simulate(replace(PRESETS["simulated-plays"], users=40, items=12, ratings=200), seed=0)
    refused = r"'cmp' changes values.*choose no, ss, dmpss"
    with pytest.raises(MidpointError, match=refused):
        train(sets.ratings, "gender", factorizer=QUICK, scheme="cmp")
    with pytest.raises(MidpointError, match=refused):
        train_on(LocalRatings(sets.ratings, ("gender",)), QUICK, scheme="cmp")


def test_people_without_a_category_are_spoken_of(
    tiny: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    gender = tiny.ratings.features["gender"]
    train(tiny.ratings, "gender", factorizer=QUICK, scheme="dmpss")
    assert not caplog.text
    codes = gender.codes.copy()
    codes[:7] = MISSING
    partly = tiny.ratings.with_feature(replace(gender, codes=codes))
    train(partly, "gender", factorizer=QUICK, scheme="dmpss")
    assert f"the gender of 7 of {partly.n_users} people is not known" in caplog.text


def test_a_scheme_may_be_named(tiny: Simulation) -> None:
    named = train(tiny.ratings, "gender", factorizer=replace(QUICK, threads=1), scheme="cmp")
    assert named.scheme == "cmp"
    assert named.positions is not None
    assert named.positions.selection_factors == 0
    with pytest.raises(MidpointError, match="no scheme 'best'"):
        train(tiny.ratings, "gender", scheme="best")


def test_without_a_feature_there_is_nothing_to_protect(tiny: Simulation) -> None:
    profiles = train(tiny.ratings, None, factorizer=QUICK)
    assert profiles.scheme is None
    assert train(tiny.ratings, None, factorizer=QUICK, scheme="dmpss").scheme is None
    with pytest.raises(MidpointError, match="trained without a private feature"):
        disclose(profiles)
    with pytest.raises(MidpointError, match="need a private feature"):
        train(tiny.ratings, None, factorizer=QUICK, scheme="cmpss")


def test_the_choice_is_kept_on_disk(tiny: Simulation, tmp_path: Path) -> None:
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme="mpr")
    profiles.save(tmp_path / "model")
    again = ItemProfiles.load(tmp_path / "model")
    assert (again.scheme, again.choice) == ("mpr", None)
    assert disclose(again) == disclose(profiles)
    tried = Tried("no", 0.8, "sets", "F", 0.3, 0.02, 0.0, "raw ratings")
    choice = Choice("mpr", "it leaks least", (tried,), (("cmp", "no levels"),), 3, 4, 0.1, 0.6, "!")
    replace(profiles, choice=choice).save(tmp_path / "chosen")
    assert ItemProfiles.load(tmp_path / "chosen").choice == choice
    replace(profiles, scheme=None).save(tmp_path / "bare")
    assert ItemProfiles.load(tmp_path / "bare").scheme is None


@pytest.mark.slow
def test_the_command_line_trains_the_same(tiny: Simulation, tmp_path: Path) -> None:
    run(
        "train", "simulated-tiny", "--seed", 1, "--feature", "gender", "--dimension", 3,
        "--iterations", 3, "--out", tmp_path / "model",
    )  # fmt: skip
    by_command = ItemProfiles.load(tmp_path / "model")
    by_library = train(tiny.ratings, "gender", factorizer=replace(QUICK, seed=1))
    assert by_command.choice == by_library.choice
    assert by_command.choice is not None
    assert {row.scheme for row in by_command.choice.tried} >= {"no", "dmp", "dmpss", "cmp", "cmpss"}
    assert by_command.scheme == by_library.scheme == by_command.choice.scheme
    assert np.array_equal(by_command.vectors, by_library.vectors)
    assert disclose(by_command) == disclose(by_library)
    assert SchemeSpec.read(str(by_command.scheme)).scheme.sub_samples  # what is rated tells, here
