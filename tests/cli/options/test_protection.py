"""How people are to be protected, as `midpoint train` is asked."""

import pytest

from midpoint.analyst.fit.choice import ALLOWED
from midpoint.analyst.training import LEAST_PEOPLE
from midpoint.cli.options.protection import Counterparts, ProtectionOptions
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
