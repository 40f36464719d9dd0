"""The shortlist holds every category's local top-N, whatever the device takes out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.analyst.score.top_n import shortlist, shortlist_size
from midpoint.errors import MidpointError

Ints = NDArray[np.int64]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ints, Ints, int, int, set[int]]:
    """Small integers, as on the wire, so that equal values are common."""
    m, k = draw(st.integers(1, 20)), draw(st.integers(0, 3))
    numbers = st.integers(-6, 6)
    scores = draw(st.lists(numbers, min_size=m, max_size=m))
    offsets = draw(st.lists(st.lists(numbers, min_size=k, max_size=k), min_size=m, max_size=m))
    margin = draw(st.integers(0, 4))
    rated = draw(st.sets(st.integers(0, m - 1), max_size=margin))
    lift = draw(st.lists(st.sampled_from([0, 20]), min_size=k, max_size=k))
    offset = np.array(offsets, dtype=np.int64).reshape(m, k) + np.array(lift, dtype=np.int64)
    return np.array(scores), offset, draw(st.integers(1, 4)), margin, rated


def chosen(scores: Ints, offsets: Ints, top: int, margin: int) -> NDArray[np.intp]:
    return shortlist(scores, offsets, top=top, margin=margin)


def local_top(
    local: NDArray[np.int64], items: NDArray[np.intp], rated: set[int], top: int
) -> list[int]:
    """Rank as a device does: take out what was rated, best first, equal ones in list order."""
    left = [int(j) for j in items if j not in rated]
    return sorted(left, key=lambda j: (-local[j], j))[:top]


@given(cases())
def test_every_category_finds_its_exact_top_after_taking_out_what_it_rated(
    case: tuple[Ints, Ints, int, int, set[int]],
) -> None:
    scores, offsets, top, margin, rated = case
    found = chosen(scores, offsets, top, margin)
    everything = np.arange(len(scores))
    for offset in offsets.T if offsets.shape[1] else [np.zeros_like(scores)]:
        local = scores + offset
        expected = local_top(local, everything, rated, top)
        assert local_top(local, found, rated, top) == expected


@given(cases())
def test_size_and_order_say_nothing(case: tuple[Ints, Ints, int, int, set[int]]) -> None:
    scores, offsets, top, margin, _ = case
    found = chosen(scores, offsets, top, margin)
    assert len(found) == shortlist_size(top, margin, offsets.shape[1], len(scores))
    assert (np.diff(found) > 0).all()


def test_without_the_margin_or_beyond_it_the_top_is_lost() -> None:
    scores = np.arange(20)[::-1].copy()
    none = np.zeros((20, 1), dtype=np.int64)
    everything = np.arange(20)

    def found(margin: int, taken: int) -> bool:
        rated = set(range(taken))
        items = chosen(scores, none, 3, margin)
        return local_top(scores, items, rated, 3) == local_top(scores, everything, rated, 3)

    assert found(margin=4, taken=4)
    assert not found(margin=0, taken=4)
    assert not found(margin=4, taken=5)


def test_a_category_with_high_values_does_not_crowd_out_another_ones_margin() -> None:
    scores = np.zeros(20, dtype=np.int64)
    offsets = np.stack([100 - np.arange(20), np.arange(20)], axis=1)
    found = chosen(scores, offsets, 1, 2)
    assert found.tolist() == [0, 1, 2, 17, 18, 19]


def test_ranking_by_score_alone_would_lose_a_category() -> None:
    scores = np.array([5, 4, 3, 0, 0])
    offsets = np.array([[0, 0], [0, 0], [0, 0], [0, 9], [0, 8]])
    found = chosen(scores, offsets, 2, 0)
    assert found.tolist() == [0, 1, 3, 4]
    assert {3, 4}.isdisjoint(np.argsort(-scores, kind="stable")[:3].tolist())


def test_padding_takes_the_next_best_for_any_category() -> None:
    scores = np.array([9, 8, 7, 6, 0])
    same = np.zeros((5, 2), dtype=np.int64)
    assert chosen(scores, same, 1, 1).tolist() == [0, 1, 2, 3]
    lifted = same.copy()
    lifted[4] = [-9, 6]
    lifted[3] = [0, -7]
    lifted[2] = [-2, -2]  # best 5, against 6 for the others
    assert chosen(scores, lifted, 1, 1).tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("scores", "offsets", "top", "margin", "message"),
    [
        ([1.0, np.nan], np.zeros((2, 1)), 1, 0, "score of item 1"),
        ([1.0, 2.0], np.array([[np.inf], [0.0]]), 1, 0, "offset of item 0"),
        ([1.0, 2.0], np.zeros((3, 1)), 1, 0, "shaped"),
        ([], np.zeros((0, 1)), 1, 0, "at least one item"),
        ([1.0, 2.0], np.zeros((2, 1)), 0, 0, "top 0"),
        ([1.0, 2.0], np.zeros((2, 1)), 1, -1, "margin -1"),
    ],
)
def test_bad_input_is_refused(
    scores: list[float], offsets: NDArray[np.float64], top: int, margin: int, message: str
) -> None:
    with pytest.raises(MidpointError, match=message):
        shortlist(scores, offsets, top=top, margin=margin)
