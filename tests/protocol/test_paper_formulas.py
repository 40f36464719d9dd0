"""The paper's formulas, in numbers worked out by hand: see `tests/support/models/paper_model.py`.

`tests/test_mutants.py` changes the formulas, and these tests have to see it.
"""

import numpy as np
import pytest

from midpoint.protocol import LearningProtocol, Population
from midpoint.user import PURPOSES
from midpoint.user.core.coins import MIX, REVEAL, SPLIT, VALUE
from tests.support.models.paper_model import MAN, WOMAN, by_hand, model

PROFILES = model(by_hand())
TITLE = int(PROFILES.index_of(np.array(["a"]))[0])


def sent(
    name: str, category: int, rating: float, alpha: float = 1.0, **coins: float
) -> list[float]:
    """Return what a person's device sends of title `a`: one value, or none."""
    protocol = LearningProtocol(name, estimation="plain", alpha=alpha)
    uniform = np.full((1, len(PURPOSES)), 0.25)
    columns = {"mix": MIX, "reveal": REVEAL, "split": SPLIT, "value": VALUE}
    for purpose, coin in coins.items():
        uniform[0, columns[purpose]] = coin
    item, value = np.array([TITLE], dtype=np.int32), np.array([rating])
    one = Population(np.array([0]), item, value, np.array([category]))
    sent: list[float] = protocol.report(
        protocol.disclose(PROFILES), PROFILES, one, uniform
    ).value.tolist()
    return sent


def test_biases_are_half_the_difference_of_class_means() -> None:
    """Sec. 7.1: v_j0 is half the distance of the class means."""
    assert PROFILES.offset[TITLE].tolist() == [-0.25, 0.25]
    assert PROFILES.centre[TITLE] == 3.25


def test_mp_subtracts_what_her_category_adds() -> None:
    """Algorithm 1: y_j = r_j - x0 v_j0."""
    assert sent("mp", WOMAN, 4) == [4.25]
    assert sent("mp", MAN, 4) == [3.75]


def test_mpss_reveals_by_the_ratio_and_then_does_mp() -> None:
    """Algorithm 2: a rating is revealed with probability min(1, rho^x0), rho = p- / p+."""
    assert sent("mpss", WOMAN, 4, reveal=0.499) == [4.25]
    assert sent("mpss", WOMAN, 4, reveal=0.501) == []
    assert sent("mpss", MAN, 4, reveal=0.999) == [3.75]
    assert sent("ss", WOMAN, 4, reveal=0.499) == [4]
    assert sent("ss", WOMAN, 4, reveal=0.501) == []


@pytest.mark.parametrize("name", ["mpr", "mpssr"])
def test_rounding_keeps_the_mean(name: str) -> None:
    """Sec. 7.1, put right: k + 1 with probability r - k."""
    grid = (np.arange(100) + 0.5) / 100
    drawn = [sent(name, WOMAN, 4, split=coin, reveal=0)[0] for coin in grid]
    assert set(drawn) == {4.0, 5.0}
    assert np.mean(drawn) == pytest.approx(4.25)
    assert np.mean([sent(name, MAN, 4, split=coin, reveal=0) for coin in grid]) == pytest.approx(
        3.75
    )
    assert sent(name, WOMAN, 5, split=0) == sent(name, WOMAN, 5, split=0.999) == [5]  # truncated


@pytest.mark.parametrize("name", ["ia", "ssia"])
def test_the_item_average_is_that_of_all_ratings(name: str) -> None:
    """Sec. 7.1: a rating is replaced by the average rating of the item."""
    for category in (WOMAN, MAN):
        for coin in (0.0, 0.75):
            assert sent(name, category, 5, value=coin, reveal=0) == pytest.approx(
                [19 / 6], abs=1e-4
            )


@pytest.mark.parametrize("name", ["fa", "ssfa"])
def test_the_feature_average_is_either_classs_by_a_fair_coin(name: str) -> None:
    """Sec. 7.1: by the average of either class, each with probability 0.5."""
    for category in (WOMAN, MAN):
        assert sent(name, category, 5, value=0.499, reveal=0) == [3.0]
        assert sent(name, category, 5, value=0.501, reveal=0) == [3.5]


def test_alpha_is_the_share_that_is_obfuscated() -> None:
    """Sec. 7.2: with probability 1 - alpha the rating itself is released."""
    assert sent("mpss", WOMAN, 4, alpha=0.3, mix=0.29, reveal=0) == [4.25]
    assert sent("mpss", WOMAN, 4, alpha=0.3, mix=0.31, reveal=0.999) == [4]
