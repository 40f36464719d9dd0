"""Ranks of held-out items, against the definitions written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.analyst.kernels.ranking import FIRST, FURTHER, Sets, rank_people
from midpoint.data import Scale

Float = NDArray[np.float64]


def sets(*items: list[int]) -> Sets:
    offsets = np.cumsum([0, *map(len, items)], dtype=np.int64)
    return Sets(offsets, np.array([j for row in items for j in row], dtype=np.int32))


def plainly(scores: Float, given: set[int], hidden: set[int]) -> tuple[float, float, float]:
    """Return NDCG@10, Recall@20 and MRR by sorting."""
    order = [j for j in np.lexsort((np.arange(len(scores)), -scores)) if j not in given]
    ranks = sorted(order.index(j) + 1 for j in hidden)
    gain = sum(1 / np.log2(r + 1) for r in ranks if r <= FIRST)
    ideal = sum(1 / np.log2(r + 1) for r in range(1, min(FIRST, len(hidden)) + 1))
    found = sum(r <= FURTHER for r in ranks)
    return gain / ideal, found / min(FURTHER, len(hidden)), 1 / ranks[0]


@given(st.integers(0, 10_000), st.integers(2, 60), st.booleans())
def test_the_kernel_is_the_definition(seed: int, n_items: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (3, n_items)).astype(float) if ties else rng.random((3, n_items))
    parts = [np.split(rng.permutation(n_items), [n_items // 3, 2 * n_items // 3]) for _ in range(3)]
    rated = [sorted(part[0].tolist()) for part in parts]
    liked = [sorted(part[1].tolist()) or sorted(part[2].tolist()) for part in parts]
    ranked = rank_people(lambda some: scores[some].copy(), sets(*rated), sets(*liked), n_items)
    for i in range(3):
        expected = plainly(scores[i], set(rated[i]), set(liked[i]))
        assert (ranked.ndcg[i], ranked.recall[i], ranked.mrr[i]) == pytest.approx(expected)
        shown = [j for j in ranked.first[i].tolist() if j >= 0]
        assert len(shown) == min(FIRST, n_items - len(rated[i]))
        assert not set(shown) & set(rated[i])


def test_a_perfect_list_has_all_and_a_reversed_one_nothing() -> None:
    scores = np.arange(100.0)[None]
    nothing, best, worst = sets([]), sets([97, 98, 99]), sets([0, 1, 2])
    top = rank_people(lambda _: scores.copy(), nothing, best, 100)
    assert (top.ndcg[0], top.recall[0], top.mrr[0]) == (1.0, 1.0, 1.0)
    bottom = rank_people(lambda _: scores.copy(), nothing, worst, 100)
    assert (bottom.ndcg[0], bottom.recall[0]) == (0.0, 0.0)
    assert bottom.mrr[0] == pytest.approx(1 / 98)


def test_of_whom_nothing_is_held_out_nothing_is_said() -> None:
    ranked = rank_people(lambda _: np.ones((2, 5)), sets([0], [1]), sets([], [0]), 5)
    assert np.isnan(ranked.ndcg[0])
    assert ranked.mrr[1] == 1.0  # all tie, and item 0 comes first
    assert ranked.first[0].tolist() == [1, 2, 3, 4, *[-1] * 6]


def test_chunks_do_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((40, 30))
    rated, liked = sets(*[[i % 30] for i in range(40)]), sets(*[[(i + 3) % 30] for i in range(40)])
    whole = rank_people(lambda some: scores[some].copy(), rated, liked, 30)
    monkeypatch.setattr("midpoint.analyst.kernels.ranking.CHUNK", 60)
    parts = rank_people(lambda some: scores[some].copy(), rated, liked, 30)
    assert np.array_equal(whole.ndcg, parts.ndcg)
    assert np.array_equal(whole.first, parts.first)


def test_liked_is_three_quarters_up_the_scale() -> None:
    stars = Scale.stars(1, 5)
    assert stars.liked == 4
    assert Scale.stars(0.5, 5, 0.5).liked == 3.875
