"""The best titles for everyone: by mean where levels are disclosed, few ratings pulled in."""

from types import MappingProxyType

import numpy as np

from midpoint.user.agent.everyone import DAMPING, best_for_everyone
from midpoint.user.agent.standing import Standing
from midpoint.wire import ONE, as_rows
from tests.support.people.made_up import accepted, disclosure

GOOD, FAIR, BAD = [0, 0, 0, 0, ONE], [0, 0, 0, ONE, 0], [ONE, 0, 0, 0, 0]


def standing(*items: tuple[list[int], list[int], int], scheme: str = "dmpss") -> Standing:
    """Show items by the levels of women, of men, and how many rated them."""
    levels = as_rows(np.array([[women, men] for women, men, _ in items]))
    made = disclosure(scheme, n_items=len(items), levels=levels)
    rated = {item: n for item, (_, _, n) in zip(made.items, items, strict=True)}
    titles = MappingProxyType({item: item for item in made.items})
    return Standing(accepted(made), None, titles, MappingProxyType(rated))


def test_means_over_categories_decide_and_few_ratings_count_little() -> None:
    shown = standing((BAD, BAD, 900), (FAIR, GOOD, 400), (GOOD, GOOD, 1), (GOOD, GOOD, 900))
    assert best_for_everyone(shown) == ["item-03", "item-01", "item-02", "item-00"]


def test_the_score_is_the_damped_mean() -> None:
    shown = standing((GOOD, GOOD, 3), (FAIR, FAIR, 40))
    high, middle = (3 * 5 + DAMPING * 4.5) / (3 + DAMPING), (40 * 4 + DAMPING * 4.5) / 65
    assert high > middle
    assert best_for_everyone(shown) == ["item-00", "item-01"]


def test_categories_count_alike_so_the_list_is_the_same_for_everyone() -> None:
    """Control: by the women's levels alone it would be the other way round."""
    shown = standing((GOOD, FAIR, 100), (FAIR, GOOD, 200))
    assert best_for_everyone(shown) == ["item-01", "item-00"]  # a tie, so the more rated


def test_without_levels_the_most_rated_come_first() -> None:
    made = disclosure("mpssr", n_items=3)
    titles = MappingProxyType({item: item for item in made.items})
    rated = MappingProxyType(dict(zip(made.items, (5, 9, 5), strict=True)))
    shown = Standing(accepted(made), None, titles, rated)
    assert best_for_everyone(shown) == ["item-01", "item-00", "item-02"]
