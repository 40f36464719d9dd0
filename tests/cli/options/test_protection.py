"""How people are to be protected, as `midpoint train` is asked."""

import pytest
import typer
from typer.testing import CliRunner

from midpoint.analyst.fit.choice import ALLOWED
from midpoint.analyst.training import LEAST_PEOPLE
from midpoint.cli.app import app
from midpoint.cli.options.protection import Counterparts, ProtectionOptions, within
from midpoint.data import Scale
from midpoint.errors import MidpointError


@pytest.mark.parametrize(
    ("wanted", "on_stars", "on_a_line"),
    [
        ("auto", None, None),
        ("none", "dmpss", "mpss"),
        ("sets", "cmpss", "cmpss"),
        ("values", "cmp", "cmp"),
    ],
)
def test_counterparts_name_a_scheme_or_leave_it_to_the_library(
    wanted: str, on_stars: str | None, on_a_line: str | None
) -> None:
    options = ProtectionOptions(counterparts=Counterparts(wanted))
    assert options.scheme(Scale.stars(1, 5)) == on_stars
    assert options.scheme(Scale.continuous(0, 1)) == on_a_line


def test_the_spread_goes_with_counterparts_that_are_named() -> None:
    stars = Scale.stars(1, 5)
    for wanted, name in (("sets", "cmpss:spread=on"), ("values", "cmp:spread=on")):
        asked = ProtectionOptions(counterparts=Counterparts(wanted), spread=True)
        assert asked.scheme(stars) == name
    for wanted in ("auto", "none"):
        with pytest.raises(MidpointError, match="--counterparts sets or values"):
            ProtectionOptions(counterparts=Counterparts(wanted), spread=True).scheme(stars)


def test_the_command_protects_as_the_library_does_unless_asked_otherwise() -> None:
    unasked = ProtectionOptions()
    assert unasked.allowance() == ALLOWED
    assert unasked.least_people == LEAST_PEOPLE
    assert (unasked.leak, unasked.asked, unasked.spread) == (None, None, False)


@pytest.mark.parametrize(
    ("command", "option", "value", "words"),
    [
        ("audit", "--share", "2", "2 is out of range; give a share from 0.01 to 1"),
        ("audit", "--cost", "nan", "nan is out of range; give per cent of the error"),
        ("train", "--share", "2", "2 is out of range; give a share from 0.01 to 1, such as 0.25"),
        ("train", "--share", "nan", "nan is out of range; give a share from 0.01 to 1"),
        ("train", "--cost", "-1", "-1 is out of range; give per cent of the error, 0 or more"),
        ("train", "--leak", "0.2", "0.2 is out of range; give an AUC from 0.501 to 1, such as 0.6"),
        ("train", "--leak", "2", "2 is out of range; give an AUC from 0.501 to 1"),
    ],
)
def test_a_number_out_of_range_is_answered_by_what_to_give_instead(
    command: str, option: str, value: str, words: str
) -> None:
    line = [command, "simulated-tiny", "--feature", "gender", "--out", "out", option, value]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    assert f"Invalid value for '{option}': {words}" in said


def test_numbers_within_range_and_none_are_kept() -> None:
    check = within(0.5, 1, "a number from 0.5 to 1")
    assert [check(value) for value in (0.5, 1.0, None)] == [0.5, 1.0, None]
    with pytest.raises(typer.BadParameter, match=r"give a number from 0\.5 to 1"):
        check(1.01)
