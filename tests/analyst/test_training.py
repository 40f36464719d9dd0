"""The library trains, chooses and protects exactly as `midpoint train` does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import (
    Factorizer,
    ItemProfiles,
    Progress,
    choose_scheme,
    disclose,
    prepare,
    train,
)
from midpoint.analyst.disclose import choice
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from midpoint.wire import SCHEMES
from tests.support.small_model import run

QUICK = Factorizer(dimension=3, iterations=3)


def test_the_scheme_is_chosen_and_all_it_needs_is_learned(
    tiny: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 50)
    scheme = choose_scheme(tiny.ratings, "gender")
    assert SCHEMES[scheme].counterparts
    seen: list[Progress] = []
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, progress=seen.append)
    assert profiles.scheme == scheme
    by_hand = prepare(QUICK.fit(tiny.ratings, "gender"), tiny.ratings, SCHEMES[scheme])
    assert disclose(profiles) == disclose(by_hand, scheme)
    assert [step.stage for step in seen][:: len(seen) - 1] == ["Training", "Fitting positions"]


def test_too_few_people_leave_the_simple_scheme(tiny: Simulation) -> None:
    profiles = train(tiny.ratings, ["gender"], factorizer=QUICK)
    assert profiles.scheme == choose_scheme(tiny.ratings, "gender") == "dmpss"
    assert profiles.positions is None
    assert disclose(profiles) == disclose(QUICK.fit(tiny.ratings, "gender"), "dmpss")


def test_a_scheme_may_be_named(tiny: Simulation) -> None:
    named = train(tiny.ratings, "gender", factorizer=QUICK, scheme="cmp", threads=1)
    assert named.scheme == "cmp"
    assert named.positions is not None
    assert named.positions.selection_factors == 0
    with pytest.raises(MidpointError, match="no scheme 'best'"):
        train(tiny.ratings, "gender", scheme="best")


def test_without_a_feature_there_is_nothing_to_protect(tiny: Simulation) -> None:
    profiles = train(tiny.ratings, None, factorizer=QUICK)
    assert profiles.scheme is None
    with pytest.raises(MidpointError, match="trained without a private feature"):
        disclose(profiles)
    with pytest.raises(MidpointError, match="need a private feature"):
        train(tiny.ratings, None, factorizer=QUICK, scheme="cmpss")


def test_the_choice_is_kept_on_disk(tiny: Simulation, tmp_path: Path) -> None:
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme="mpr")
    profiles.save(tmp_path / "model")
    again = ItemProfiles.load(tmp_path / "model")
    assert again.scheme == "mpr"
    assert disclose(again) == disclose(profiles)
    replace(profiles, scheme=None).save(tmp_path / "bare")
    assert ItemProfiles.load(tmp_path / "bare").scheme is None


@pytest.mark.parametrize("people", [50, 1000])
def test_the_command_line_trains_the_same(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, people: int
) -> None:
    monkeypatch.setattr(choice, "LEAST_PEOPLE", people)
    run(
        "train", "simulated-tiny", "--seed", 1, "--feature", "gender", "--dimension", 3,
        "--iterations", 3, "--out", tmp_path / "model",
    )  # fmt: skip
    by_command = ItemProfiles.load(tmp_path / "model")
    by_library = train(tiny.ratings, "gender", factorizer=replace(QUICK, seed=1))
    assert by_command.scheme == by_library.scheme
    assert np.array_equal(by_command.vectors, by_library.vectors)
    assert disclose(by_command) == disclose(by_library)
    assert by_command.scheme == ("cmpss" if people == 50 else "dmpss")
