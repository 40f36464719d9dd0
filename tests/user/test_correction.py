import numpy as np
import pytest
from made_up import AGE, STARS, disclosure

from midpoint.user import PrivateCategory, correct
from midpoint.wire import ONE, Disclosure, RatingScale, Refusal, RefusedError, Scores, correction

OLD = PrivateCategory({"age": "old"})


def scores(shown: Disclosure, values: list[int]) -> Scores:
    return Scores(
        disclosure=shown.digest,
        items=shown.items[: len(values)],
        score=tuple(values),
        deviation=(ONE // 4,) * len(values),
    )


def test_own_offset_is_added_before_ranking_and_clipped_after() -> None:
    rows = ((0, 0, 0), (ONE, 0, -ONE), (-ONE, -ONE, 2 * ONE), *((0, 0, 0),) * 9)
    shown = disclosure("mpr", (AGE,), offset=rows)
    found = correct(scores(shown, [5 * ONE, 6 * ONE, 4 * ONE]), shown, OLD, ())
    assert [(one.item, one.score // ONE, one.shown // ONE) for one in found] == [
        ("item-02", 6, 5),
        ("item-00", 5, 5),
        ("item-01", 5, 5),
    ]
    others = correct(
        scores(shown, [5 * ONE, 6 * ONE, 4 * ONE]), shown, PrivateCategory({"age": "young"}), ()
    )
    assert [one.item for one in others] == ["item-01", "item-00", "item-02"]


def test_rated_items_are_left_out() -> None:
    shown = disclosure("mpr", (AGE,))
    found = correct(scores(shown, [3 * ONE] * 12), shown, OLD, {"item-03", "item-07"})
    assert {one.item for one in found} == set(shown.items) - {"item-03", "item-07"}


def test_the_discrete_midpoint_is_corrected_by_its_distributions_means() -> None:
    shown = disclosure("dmp", (AGE,))
    means = np.array(shown.levels) @ np.array(STARS) / ONE
    exact = means - means.mean(axis=1, keepdims=True)
    assert np.abs(correction(shown) - exact).max() <= 0.5


def test_feature_averages_correct_and_item_averages_do_not() -> None:
    shown = disclosure("fa", (AGE,))
    average = np.array(shown.average)
    exact = average - average.mean(axis=1, keepdims=True)
    assert np.abs(correction(shown) - exact).max() <= 0.5
    assert not correction(disclosure("ssia", (AGE,))).any()
    shifted = disclosure("mp", (AGE,))
    assert np.array_equal(correction(shifted), np.array(shifted.offset))


def test_scores_of_other_disclosures_or_items_are_refused() -> None:
    shown = disclosure("mpr", (AGE,), scale=RatingScale(low=ONE, high=5 * ONE, levels=STARS))
    other = disclosure("mpr", (AGE,), seed=3)
    with pytest.raises(RefusedError) as caught:
        correct(scores(other, [ONE]), shown, OLD, ())
    assert caught.value.code == Refusal.WRONG_DIGEST
    strange = Scores(disclosure=shown.digest, items=("x",), score=(ONE,), deviation=(0,))
    with pytest.raises(RefusedError) as caught:
        correct(strange, shown, OLD, ())
    assert caught.value.code == Refusal.UNKNOWN_ITEM
