import pytest

from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.wire import ONE, RatingScale
from tests.support.people.made_up import STARS, disclosure
from tests.support.people.made_up_positions import counterparts_disclosure


@pytest.mark.parametrize(
    "text",
    ["cmpss", "no", "dmp:levels=5", "cmpss:spread=on", "cmp:levels=5:spread=on", "cmpss:leak=0.6"],
)
def test_a_spec_is_read_as_it_is_written(text: str) -> None:
    assert str(SchemeSpec.read(text)) == text


def test_what_is_off_is_not_written() -> None:
    assert SchemeSpec.read("cmp:spread=off") == SchemeSpec("cmp")
    assert str(SchemeSpec.read("cmp:spread=on:levels=3")) == "cmp:levels=3:spread=on"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cmq", "there is no scheme"),
        ("cmp:spread=yes", "write them as in cmp:levels=5:spread=on"),
        ("cmp:levels=few", "is no setting"),
        ("cmp:alpha=0.5", "is no setting of a disclosure"),
        ("mpr:levels=3", "reports on all levels"),
        ("dmpss:spread=on", "has no counterparts"),
        ("cmp:leak=0.6", "cannot keep to a leak of 0.6"),
        ("cmpss:leak=0.5", "an AUC above 0.5"),
        ("cmpss:leak=little", "is no setting"),
    ],
)
def test_what_no_disclosure_can_do_is_refused(text: str, says: str) -> None:
    with pytest.raises(MidpointError, match=says):
        SchemeSpec.read(text)


def test_the_spec_of_a_disclosure() -> None:
    fewer = RatingScale(low=ONE, high=5 * ONE, levels=STARS, reported=STARS[::2])
    assert str(SchemeSpec.of(disclosure("dmp"))) == "dmp"
    assert str(SchemeSpec.of(disclosure("dmp", scale=fewer))) == "dmp:levels=3"
    shown = counterparts_disclosure("cmpss", spread=True, scale=fewer)
    assert str(SchemeSpec.of(shown)) == "cmpss:levels=3:spread=on"


def test_reported_levels_are_levels_as_even_as_can_be() -> None:
    fine, halves = Scale.stars(0, 100), Scale.stars(0.5, 5, 0.5)
    assert reported_levels(fine, 5) == (0, 25, 50, 75, 100)
    assert reported_levels(fine, 7) == (0, 17, 33, 50, 67, 83, 100)
    assert reported_levels(halves, 4) == (0.5, 2.0, 3.5, 5.0)
    assert reported_levels(halves, 2) == (0.5, 5.0)
    assert reported_levels(halves, None) is None
    assert reported_levels(halves, 10) is None  # all of them
    for count in range(2, 101):
        levels = reported_levels(fine, count)
        assert levels is not None
        assert len(set(levels)) == count
        assert set(levels) <= set(fine.levels or ())
        assert (levels[0], levels[-1]) == (0, 100)


@pytest.mark.parametrize("count", [-1, 0, 1, 6])
def test_as_many_levels_as_there_are_not(count: int) -> None:
    with pytest.raises(MidpointError, match="ask for 2 to 4"):
        reported_levels(Scale.stars(1, 5), count)


def test_a_continuous_scale_has_no_levels_to_report() -> None:
    with pytest.raises(MidpointError, match="come in levels"):
        reported_levels(Scale.continuous(0, 1), 5)
