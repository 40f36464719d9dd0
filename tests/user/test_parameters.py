import gc
import weakref

import numpy as np
import pytest

from midpoint.user import Parameters
from midpoint.user.parameters import made_once
from midpoint.wire import SCHEMES, Disclosure, RatingScale
from tests.support.people import made_up
from tests.support.people.made_up import AGE, GENDER, disclosure
from tests.support.people.made_up_positions import counterparts_disclosure


@pytest.mark.parametrize("scheme", SCHEMES)
def test_columns_become_arrays_that_cannot_be_changed(scheme: str) -> None:
    shown = disclosure(scheme, (GENDER, AGE))
    p = Parameters.of(shown)
    assert (p.n_items, p.n_cells, p.scheme.name) == (len(shown.items), 6, scheme)
    for name in ("offset", "reveal", "levels", "average"):
        column, array = getattr(shown, name), getattr(p, name)
        assert (column is None) == (array is None)
        if array is not None:
            assert np.array_equal(array, np.array(column))
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    assert (p.positions is not None) == SCHEMES[scheme].counterparts


def test_a_continuous_scale_says_what_all_categories_can_reach() -> None:
    scale = RatingScale(low=0, high=1000)
    shown = disclosure("mp", n_items=2, scale=scale, offset=((-10, 10), (5, -5)))
    p = Parameters.of(shown)
    assert p.least is not None
    assert p.most is not None
    assert p.least.tolist() == [10, 5]
    assert p.most.tolist() == [990, 995]


def test_taste_that_selects_stands_among_the_selection_factors() -> None:
    for choose in (False, True):
        shown = counterparts_disclosure(selection_factors=2, taste_factors=3, choose=choose)
        model = Parameters.of(shown).positions
        assert model is not None
        assert model.selection.shape == (12, 5 if choose else 2)
        assert model.mean.shape == (1, 2, 8 if choose else 5)
        assert np.array_equal(model.selection[:, 2:], model.taste if choose else model.taste[:, :0])


def test_a_disclosure_is_read_once_and_kept_no_longer_than_it_is_used() -> None:
    read: list[str] = []

    def make(one: Disclosure) -> set[str]:
        read.append(one.digest)
        return set(one.items)

    get = made_once(make)
    shown = made_up.disclosure("dmpss")
    assert get(shown) is get(shown)
    assert get(Disclosure.parse(shown.raw)) is get(shown)  # the same bytes are the same
    assert len(read) == 1
    first = weakref.ref(get(shown))
    del shown
    gc.collect()
    assert first() is None
    get(made_up.disclosure("mpss"))
    assert len(set(read)) == 2


def test_what_is_made_of_a_disclosure_needs_no_bytes_of_it() -> None:
    get, shown = made_once(lambda one: set(one.items)), made_up.disclosure("dmpss")
    assert get(shown) is get(shown)
    assert not shown.has_bytes
    same = Disclosure.parse(shown.raw)
    assert same.has_bytes
    assert get(same) is get(Disclosure.parse(shown.raw))  # received copies share it
    assert get(same) == get(shown)
