"""The liar's optimiser measures what it says: nothing from honest numbers, much from false ones."""

import numpy as np
import pytest

from benchmarks.privacy import liar


@pytest.mark.parametrize("setting", ["values", "fifth", "all"])
def test_honest_numbers_leak_nothing_and_false_ones_do(setting: str) -> None:
    honest = np.array([*np.tile(liar.TRUE ** (1 / 4), 2), 1.0])
    chances = liar.seen(liar.outcomes(liar.lie("dmpss", honest)), setting)
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.allclose(chances[0], chances[1], atol=0.01)
    assert liar.closeness("dmpss", setting, honest) > 0.999
    assert liar.auc(chances, 20) == pytest.approx(0.5, abs=0.03)
    false = liar.seen(liar.outcomes(liar.lie("mpssr", np.array([0.85, 0.5]))), setting)
    assert liar.auc(false, 20) > 0.9


def test_what_devices_refuse_is_no_lie_that_counts() -> None:
    assert liar.closeness("mpssr", "values", np.array([1.0, 1.0])) == 1.0


def test_false_strata_are_read_from_chance_to_certainty() -> None:
    assert liar.false_strata(1) == pytest.approx(0.5)
    assert liar.false_strata(2) < 0.66
    assert liar.false_strata(1e6) == pytest.approx(1, abs=1e-6)


def test_a_false_prior_is_read_by_the_number_of_answers_and_limits_hold_it() -> None:
    honest = np.append(np.full(6, 0.5), np.full(4, 5 / 8))
    assert liar.auc_of_number(20, honest) == pytest.approx(0.5, abs=0.04)
    false = honest.copy()
    false[[2, 4]], false[[3, 5]] = 0.75, 0.25  # means of categories, the same in both strata
    assert liar.auc_of_number(20, false, limited=False) > 0.9
    assert liar.auc_of_number(20, false) == 0.5  # devices refuse it


def test_false_rates_parted_strata_the_more_the_more_was_asked_and_do_not_any_more() -> None:
    before = [liar.parted(n, 2) for n in (10, 50)]
    assert before[0] < before[1]
    assert [liar.parted(n, 2, 2) for n in (10, 50)] == [2, 2]
