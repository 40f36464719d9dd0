from dataclasses import replace

from midpoint.audit.report.tables.privacy import attacks, per_fold, rounds, single_categories
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import made_up_rounds


def test_an_attacker_that_fails_on_its_control_proves_nothing() -> None:
    results = made_up()
    (shown,) = attacks(results)
    assert "proves nothing" not in shown
    weak = replace(results.controls["lr"], value=0.51, reads=False)
    (shown,) = attacks(replace(results, controls={**results.controls, "lr": weak}))
    assert "no 0.510:<br>proves nothing" in shown
    assert "adaptive-lr-items*" in shown


def test_folds_are_those_of_the_headline() -> None:
    (shown,) = per_fold(made_up())
    assert "AUC in each fold, dmpss." in shown
    assert list(single_categories(made_up())) == []  # two categories are one question


def test_rounds_stand_by_kind_of_device() -> None:
    results = made_up_rounds()
    (held,) = results.rounds.values()
    (shown,) = rounds(results, held)
    assert all(kind in shown for kind in held.devices.values())
    assert "answers a person, by round" in shown
