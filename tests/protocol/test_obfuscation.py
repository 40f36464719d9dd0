from itertools import pairwise

import numpy as np
import pytest

from midpoint.errors import MidpointError
from midpoint.protocol import obfuscate_population, obfuscation
from midpoint.user import Parameters, adjust, obfuscate
from midpoint.wire import SCHEMES
from tests.support.people.made_up import STARS, disclosure

STARTS = np.array([0, 5, 5, 17, 30])
CATEGORY = np.array([0, 1, 1, 0])


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_everyone_is_obfuscated_as_by_her_own_device(scheme: str, alpha: float) -> None:
    shown, rng = disclosure(scheme, n_items=20), np.random.default_rng(1)
    p, coins = Parameters.of(shown), rng.random((30, 4))
    parts = [slice(*ends) for ends in pairwise(STARTS)]
    item = np.concatenate([rng.permutation(20)[: part.stop - part.start] for part in parts])
    value = rng.choice(np.array(STARS), 30)
    together = obfuscate_population(STARTS, item, value, CATEGORY, p, coins, alpha)
    for part, cell in zip(parts, CATEGORY.tolist(), strict=True):
        rated = item[part], value[part]
        hers = adjust(p, cell, np.arange(20), *rated)
        alone = obfuscate(*rated, cell, p, coins[part], hers, alpha)
        assert np.array_equal(together.keep[part], alone.keep)
        assert np.array_equal(together.value[part], alone.value)


@pytest.mark.parametrize("scheme", ["no", "mp", "dmpss", "ia"])
def test_how_many_are_handled_at_a_time_changes_nothing(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, rng = Parameters.of(disclosure(scheme, n_items=20)), np.random.default_rng(2)
    people = STARTS, rng.integers(0, 20, 30), rng.choice(np.array(STARS), 30), CATEGORY
    coins = rng.random((30, 4))
    whole = obfuscate_population(*people, p, coins, 0.7)
    monkeypatch.setattr(obfuscation, "BLOCK", 7)
    parts = obfuscate_population(*people, p, coins, 0.7)
    assert np.array_equal(whole.keep, parts.keep)
    assert np.array_equal(whole.value, parts.value)
    with pytest.raises(MidpointError, match="alpha is a probability"):
        obfuscate_population(STARTS * 0, people[1][:0], people[2][:0], CATEGORY, p, coins[:0], 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_people_of_unknown_category_are_refused_where_it_matters(scheme: str) -> None:
    """Unless they rated nothing, or the scheme does not ask who they are."""
    p = Parameters.of(disclosure(scheme))
    item, value, coins = np.arange(3), np.full(3, STARS[1]), np.full((3, 4), 0.5)
    for unknown in (-1, 2):
        silent = np.array([0, unknown])
        obfuscate_population(np.array([0, 3, 3]), item, value, silent, p, coins)
        speaking = np.array([unknown, 0])
        if scheme in {"no", "ia", "fa"}:
            obfuscate_population(np.array([0, 3, 3]), item, value, speaking, p, coins)
            continue
        with pytest.raises(MidpointError, match="3 ratings are of people whose category"):
            obfuscate_population(np.array([0, 3, 3]), item, value, speaking, p, coins)
