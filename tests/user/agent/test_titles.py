"""Ratings by title or item, in stars; mistakes are named and lose nothing."""

import pytest

from midpoint.errors import MidpointError
from midpoint.user.agent.device import Device
from tests.support.sites.devices import TITLED, published, signed_again

pytestmark = pytest.mark.usefixtures("same_coins")


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ({"fargo": 5}, r"no title or item 'fargo'.*did you mean 'Fargo \(1996\)'"),
        ({"zzzz": 5}, "no title or item 'zzzz' in the catalogue$"),
        ({"Heat (1995)": 5}, "2 items have the title.*'item-01', 'item-02'"),
        ({"item-01": 5}, "identifier of 'Heat.*title of item 'item-03'"),
        ({"Fargo (1996)": 6}, "'Fargo.*is 6; give one of 1, 2, 3, 4, 5"),
        ({"Fargo (1996)": 4.5}, "give one of"),
        ({"Fargo (1996)": float("nan")}, "is nan, which is no number"),
        ({"Fargo (1996)": True}, "is True, which is no number"),
        ({"Fargo (1996)": "5"}, "is '5', which is no number"),
        ({"Fargo (1996)": 5, "item-00": 4}, "rated twice"),
        ({7: 4}, "write it as text, '7'"),
    ],
)
def test_a_mistake_is_named_and_loses_nothing(ratings: dict[str, float], message: str) -> None:
    device = Device(signed_again(published(), TITLED), gender="F")
    with pytest.raises(MidpointError, match=message):
        device.protect({"item-07": 3} | ratings)
    assert device.protect({"Fargo (1996)": 5, "item-02": 3.0}).round == 0
    assert [line.title for line in device.preview({"item-02": 3})] == ["Heat (1995)"]
