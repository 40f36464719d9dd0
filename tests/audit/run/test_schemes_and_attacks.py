from typing import Any

import pytest

from midpoint.audit.rounds.attackers import ON_UNION, TRANSCRIPT_ATTACKERS
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.schemes_and_attacks import (
    choose_attacks,
    choose_schemes,
    held_over_rounds,
    of_one_report,
    of_rounds,
    of_transcripts,
)
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import SMALL, small_audit


def test_what_is_not_there_cannot_be_chosen(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="no attack 'magic'"):
        choose_attacks(["lr", "magic"])
    with pytest.raises(MidpointError, match="small_audit:Magic' cannot be made"):
        choose_attacks(["tests.support.audits.small_audit:Magic"])
    with pytest.raises(MidpointError, match=r"there is no file nowhere\.py; check the path"):
        choose_attacks(["nowhere.py:Magic"])
    with pytest.raises(MidpointError, match="no scheme 'magic'"):
        choose_schemes(["magic"], tiny.ratings.scale)
    with pytest.raises(MidpointError, match="jobs must be at least 1"):
        small_audit(tiny.ratings, jobs=0)
    with pytest.raises(MidpointError, match="'height'"):
        small_audit(tiny.ratings, feature="height")


def test_what_cannot_run_is_refused_before_anything_is_run(tiny: Simulation) -> None:
    interval = Scale.continuous(0, 1)
    with pytest.raises(MidpointError, match=r"'dmpss' needs ratings in levels.*; mpss does not"):
        choose_schemes(["dmpss"], interval)
    assert list(choose_schemes(["mpss"], interval)) == ["no", "mpss"]
    with pytest.raises(MidpointError, match="bits must be from 1 to 16: got 99"):
        choose_schemes(["mp:bits=99"], interval)
    wrong: Any = {"custom": "dmpss"}
    with pytest.raises(
        MidpointError, match="'custom' is 'dmpss', and has to be a LearningProtocol"
    ):
        choose_schemes(wrong, interval)
    instance: Any = {"custom": SMALL["items"]()}
    with pytest.raises(MidpointError, match=r"'custom' cannot be made .* give its class"):
        choose_attacks(instance)
    lacking: Any = {"custom": dict}
    with pytest.raises(MidpointError, match="'custom' has no adaptive, fit, score"):
        choose_attacks(lacking)
    with pytest.raises(MidpointError, match="2 folds"):
        small_audit(tiny.ratings, folds=0)


def test_one_name_alone_is_not_a_row_of_letters() -> None:
    assert list(choose_schemes("mpss", Scale.stars(1, 5))) == ["no", "mpss"]
    assert list(choose_attacks("lr")) == ["lr"]


def test_a_text_names_several_between_commas_as_in_the_command() -> None:
    assert list(choose_schemes("mpss, dmpss", Scale.stars(1, 5))) == ["no", "mpss", "dmpss"]
    assert list(choose_attacks("lr,nb,")) == ["lr", "nb"]
    with pytest.raises(MidpointError, match="no scheme is named"):
        choose_schemes(" , ", Scale.stars(1, 5))


def test_an_attacker_of_ones_own_is_found_by_its_module() -> None:
    name = "tests.support.audits.small_audit:ByItems"
    assert choose_attacks([name]) == {name: SMALL["items"]}


def test_names_stand_for_several() -> None:
    assert list(choose_attacks(["paper", "lr"])) == ["lse", "nb", "lr", "svm"]
    assert {"fraction", "lr"} < set(choose_attacks(None, quick=True)) < set(choose_attacks(None))
    stars, interval = Scale.stars(1, 5), Scale.continuous(0, 1)
    assert list(choose_schemes(None, stars, quick=True)) == ["no", "mp", "default"]
    assert "default" in choose_schemes(None, stars)
    with pytest.raises(MidpointError, match="without settings"):
        choose_schemes(["default:bits=4"], stars)
    assert {"cmp", "cmpss"} < set(choose_schemes(None, stars))
    for name in ("cmpss:bits=4", "cmp:bits=16"):
        with pytest.raises(MidpointError, match="one precision"):
            choose_schemes([name], stars)
    with pytest.raises(MidpointError, match="needs ratings in levels"):
        choose_schemes(["cmpss"], interval)
    assert list(choose_schemes(None, interval, quick=True)) == ["no", "mp", "default"]
    assert "dmp" in choose_schemes(None, stars)
    assert "dmp" not in choose_schemes(None, interval)


def test_none_is_not_all() -> None:
    with pytest.raises(MidpointError, match="no attack is named"):
        choose_attacks([])
    with pytest.raises(MidpointError, match="no scheme is named"):
        choose_schemes([], Scale.stars(1, 5))
    assert list(choose_schemes(["no"], Scale.stars(1, 5))) == ["no"]


def test_rounds_are_held_under_the_only_scheme_named_or_the_usual_one() -> None:
    def held(*names: str) -> list[str]:
        schemes = choose_schemes(names, Scale.stars(1, 5)) if names else {}
        return list(held_over_rounds(schemes, 2, "cmpss"))

    assert held("no", "dmp") == [
        "no:rounds=2",
        "dmp:rounds=2",
        "dmp:rounds=2:forgetful",
        "dmp:rounds=2:tossing",
    ]
    assert held("dmp", "mp")[1] == "cmpss:rounds=2"
    assert held()[1] == "cmpss:rounds=2"
    with pytest.raises(MidpointError, match="without alpha"):
        held("mpss:alpha=0.5")
    with pytest.raises(MidpointError, match="2 rounds"):
        held_over_rounds({}, 1, "dmpss")


def test_devices_of_several_rounds_have_the_settings_of_the_scheme() -> None:
    named = {"quantized": LearningProtocol("mpss", bits=4, estimation="plain")}
    found = held_over_rounds(named, 3, "cmpss")
    assert found["quantized:rounds=3:tossing"] == RoundsProtocol(
        "mpss", bits=4, estimation="plain", rounds=3, device=DeviceKind.TOSSING
    )
    assert found["no:rounds=3"] == RoundsProtocol("no", rounds=3)


def test_the_control_of_rounds_is_asked_as_often_about_as_many_items() -> None:
    own = {"dmpss:rounds=2:budget=5": RoundsProtocol("dmpss", rounds=2, budget=5)}
    assert of_rounds(own | {"mp": LearningProtocol("mp")}) == own | {
        "no:rounds=2:budget=5": RoundsProtocol("no", rounds=2, budget=5)
    }
    assert of_rounds({"mp": LearningProtocol("mp")}) == {}


def test_all_attackers_of_transcripts_try_unless_some_are_named() -> None:
    assert of_transcripts(choose_attacks(["lr", "adaptive-lr-mask"])) == TRANSCRIPT_ATTACKERS
    some = choose_attacks(["lr", "transcript-lr", "adaptive-lr-mask"])
    assert list(of_transcripts(some)) == ["transcript-lr", "adaptive-lr-mask"]
    assert list(of_one_report(some)) == ["lr", "adaptive-lr-mask"]
    assert set(of_one_report(TRANSCRIPT_ATTACKERS)) == set(ON_UNION)


def test_levels_that_the_scale_does_not_have_are_refused_at_once() -> None:
    assert (
        choose_schemes("dmp:levels=3,cmp:spread=on", Scale.stars(1, 5))["dmp:levels=3"].levels == 3
    )
    with pytest.raises(MidpointError, match="ask for 2 to 4"):
        choose_schemes("dmp:levels=7", Scale.stars(1, 5))
    with pytest.raises(MidpointError, match="has no counterparts"):
        choose_schemes("dmp:spread=on", Scale.stars(1, 5))
