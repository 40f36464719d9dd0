import numpy as np
import pytest

from midpoint.analyst.score.top_n import shortlist
from midpoint.user import Parameters, PrivateCategory, correct, corrections, value_shift
from midpoint.wire import (
    GRAIN,
    ONE,
    Disclosure,
    RatingScale,
    Refusal,
    RefusedError,
    Scores,
    correction,
    to_fixed,
)
from midpoint.wire.limits import most_spread
from tests.support.people.made_up import AGE, STARS, disclosure
from tests.support.people.made_up_positions import counterparts_disclosure
from tests.support.people.nature import Nature, People, disclose

OLD = PrivateCategory({"age": "old"})
MOST = most_spread(4 * ONE)


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
    found = correct(scores(shown, [5 * ONE, 6 * ONE, 4 * ONE]), shown, OLD, (), ())
    assert [(one.item, one.score // ONE, one.shown // ONE) for one in found] == [
        ("item-02", 6, 5),
        ("item-00", 5, 5),
        ("item-01", 5, 5),
    ]
    others = correct(
        scores(shown, [5 * ONE, 6 * ONE, 4 * ONE]), shown, PrivateCategory({"age": "young"}), (), ()
    )
    assert [one.item for one in others] == ["item-01", "item-00", "item-02"]


def test_rated_items_are_left_out() -> None:
    shown = disclosure("mpr", (AGE,))
    found = correct(scores(shown, [3 * ONE] * 12), shown, OLD, {"item-03", "item-07"}, ())
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
        correct(scores(other, [ONE]), shown, OLD, (), ())
    assert caught.value.code == Refusal.WRONG_DIGEST
    strange = Scores(disclosure=shown.digest, items=("x",), score=(ONE,), deviation=(0,))
    with pytest.raises(RefusedError) as caught:
        correct(strange, shown, OLD, (), ())
    assert caught.value.code == Refusal.UNKNOWN_ITEM


def losses(shown: Disclosure, move: tuple[int, ...], rng: np.random.Generator) -> tuple[int, int]:
    """Return what the fourth rank loses, at most, by a list made without her move; and the bound.

    Of 60 items, she took out 6; the list holds every category's 4 + 6 best without a move.
    """
    everything = Scores(
        disclosure=shown.digest,
        items=shown.items,
        score=tuple((3 * ONE + rng.integers(-ONE, ONE, 60)).tolist()),
        deviation=(0,) * 60,
    )
    listed = shortlist(everything.score, correction(shown), top=4, margin=6)
    some = everything.model_copy(
        update={
            "items": tuple(shown.items[j] for j in listed),
            "score": tuple(everything.score[j] for j in listed),
            "deviation": (0,) * len(listed),
        }
    )
    woman = PrivateCategory({"gender": "F"})
    rated = {one.item for one in correct(everything, shown, woman, (), ())[:6]}
    hers, sent = (correct(one, shown, woman, rated, move)[:4] for one in (everything, some))
    shift = value_shift(Parameters.of(shown), np.array(move), np.arange(60))
    lost = max(a.score - b.score for a, b in zip(hers, sent, strict=True))
    return lost, int(shift.max() - shift.min())


@pytest.mark.slow
def test_a_list_made_without_her_move_costs_at_most_the_range_of_what_it_moved() -> None:
    """At every rank of the list; the control: it does cost something, and nothing unmoved."""
    rng, lost = np.random.default_rng(0), []
    for seed in range(30):
        shown = counterparts_disclosure(n_items=60, seed=seed)
        assert losses(shown, (0, 0, 0), rng) == (0, 0)
        found, most = losses(shown, tuple(rng.integers(-GRAIN, GRAIN, 3).tolist()), rng)
        assert 0 <= found <= most
        lost.append(found / most)
    assert max(lost) > 0.3


def test_the_move_is_taken_off_what_is_recommended() -> None:
    """Scores made from moved values are off by the move; the control leaves it there."""
    rng = np.random.default_rng(11)
    nature = Nature.draw(rng, (60, 2, 2, 3))
    shown = disclose(nature, "cmpss", STARS)
    p, people = Parameters.of(shown), People.draw(nature, 100, rng, STARS)
    own = people.adjustment(p)
    errors: dict[bool, list[float]] = {True: [], False: []}
    for i in range(100):
        cell = int(people.category[i])
        hers = nature.base[:, cell] + nature.taste @ people.position[i, 2:]
        moved = to_fixed(hers + nature.taste @ own.move[i] / GRAIN)
        scores = Scores(
            disclosure=shown.digest,
            items=shown.items,
            score=tuple(moved.tolist()),
            deviation=(0,) * 60,
        )
        for taken_off in (True, False):
            category = PrivateCategory({"group": f"g{cell}"})
            move = own.move[i].tolist() if taken_off else ()
            found = {one.item: one.score for one in correct(scores, shown, category, (), move)}
            sent = np.array([found[item] for item in shown.items]) / ONE
            errors[taken_off].append(float(np.abs(sent - hers).max()))
    assert max(errors[True]) < 0.001
    assert np.mean(errors[False]) > 0.5


def test_a_move_of_nothing_changes_no_recommendation() -> None:
    shown = disclosure("cmpss")
    scores = Scores(
        disclosure=shown.digest, items=shown.items[:1], score=(3 * ONE,), deviation=(0,)
    )
    woman = PrivateCategory({"gender": "F"})
    still = correct(scores, shown, woman, (), ())
    assert correct(scores, shown, woman, (), (0, 0)) == still
    assert correct(scores, shown, woman, (), (64, 0)) != still
    most = correct(scores, shown, woman, (), (2**30, 0))[0].score
    assert MOST // 2 <= abs(most - still[0].score) <= MOST


@pytest.mark.parametrize("scheme", ["cmpss", "cmp", "dmpss"])
def test_a_move_that_is_forgotten_is_an_error(scheme: str) -> None:
    shown, woman = disclosure(scheme), PrivateCategory({"gender": "F"})
    one = scores(shown, [3 * ONE])
    with pytest.raises(TypeError, match="move"):
        correct(one, shown, woman, ())  # type: ignore[call-arg]
    assert len(correct(one, shown, woman, (), ())) == 1


@pytest.mark.parametrize("scheme", ["mpss", "dmpss", "cmpss"])
def test_many_people_are_corrected_as_each_of_them_is(scheme: str) -> None:
    """One row for each score, of whomever; the control: another's row is another correction."""
    shown, rng = disclosure(scheme, n_items=30), np.random.default_rng(3)
    r = 0 if shown.taste is None else len(shown.taste[0])
    cell, move = np.array([0, 1, 1]), rng.integers(-GRAIN, GRAIN, (3, r))
    person, item = np.repeat(np.arange(3), 30), np.tile(np.arange(30), 3)
    found = corrections(shown, item, cell[person], move[person]).reshape(3, 30)
    zero = scores(shown, [0] * 30)
    for i, gender in enumerate("FMM"):
        category = PrivateCategory({"gender": gender})
        ranked = {one.item: one.score for one in correct(zero, shown, category, (), move[i])}
        assert [ranked[name] for name in shown.items] == found[i].tolist()
    assert not np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], found[2]) == (r == 0)
