"""What an analyst publishes is what devices take, whatever a few ratings seem to say."""

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, disclose
from midpoint.data import Ratings, Scale
from midpoint.user import check_numbers
from midpoint.wire import ONE, Disclosure
from midpoint.wire.limits import LEAST_REVEAL, most_spread, spread, spread_of_means

MOST = most_spread(4 * ONE)
STARS = ONE * np.arange(1, 6)


@pytest.fixture(scope="module")
def extreme() -> ItemProfiles:
    """Of `ends` women say 1 and men 5; `once` was rated by men alone, but for one of 100 women."""
    rows = []
    for person in range(200):
        woman = person % 2 == 0
        rows.append((person, "ends", 1 if woman else 5))
        rows += [(person, f"plain {n}", 1 + (3 * person + 5 * n) % 5) for n in range(4)]
        if not woman or person == 0:
            rows.append((person, "once", 3))
    users, items, values = zip(*rows, strict=True)
    gender: dict[str, str | None] = {str(n): "F" if n % 2 == 0 else "M" for n in range(200)}
    ratings = Ratings.from_columns(
        users, items, values, scale=Scale.stars(1, 5), features={"gender": gender}
    )
    return Factorizer(dimension=2, iterations=2).fit(ratings, "gender")


def row(shown: Disclosure, column: str, item: str) -> NDArray[np.int64]:
    return np.array([getattr(shown, column)[shown.items.index(item)]])


@pytest.mark.parametrize("bits", [None, 1, 2, 3, 8])
def test_what_is_too_telling_is_brought_to_the_limit(
    extreme: ItemProfiles, bits: int | None
) -> None:
    guess = extreme.estimates("plain")
    assert np.ptp(guess.offset, axis=1).max() == 4  # control: it would be too telling
    assert guess.probability.min() == 0.01
    rounded = disclose(extreme, "mpssr", estimation="plain", bits=bits)
    discrete = disclose(extreme, "dmpss", estimation="plain", bits=bits)
    check_numbers(rounded)
    check_numbers(discrete)
    assert row(discrete, "reveal", "once").min() >= LEAST_REVEAL
    assert spread(row(rounded, "offset", "ends"))[0] <= MOST
    assert spread_of_means(row(discrete, "levels", "ends"), STARS)[0] <= MOST * ONE
    if bits is None:
        assert row(discrete, "reveal", "once").min() == LEAST_REVEAL
        assert spread(row(rounded, "offset", "ends"))[0] == MOST
        assert spread_of_means(row(discrete, "levels", "ends"), STARS)[0] > 0.98 * MOST * ONE
        assert row(rounded, "offset", "ends").sum() == 0


def test_all_else_stays_as_it_was_estimated(extreme: ItemProfiles) -> None:
    guess = extreme.estimates("plain")
    shown = disclose(extreme, "mpssr", estimation="plain")
    near = [item for item in shown.items if item != "ends"]
    assert len(near) == 5
    ids = extreme.item_ids.tolist()
    for item in near:
        exact = guess.offset[ids.index(item)] * ONE
        assert np.abs(row(shown, "offset", item)[0] - exact).max() <= 0.5
