"""The liar's optimiser measures what it says: nothing from honest numbers, much from false ones."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return import_module("liar")


@pytest.mark.parametrize("setting", ["values", "fifth", "all"])
def test_honest_numbers_leak_nothing_and_false_ones_do(liar: Any, setting: str) -> None:
    honest = np.array([*np.tile(liar.TRUE ** (1 / 4), 2), 1.0])
    chances = liar.seen(liar.outcomes(liar.lie("dmpss", honest)), setting)
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.allclose(chances[0], chances[1], atol=0.01)
    assert liar.closeness("dmpss", setting, honest) > 0.999
    assert liar.auc(chances, 20) == pytest.approx(0.5, abs=0.03)
    false = liar.seen(liar.outcomes(liar.lie("mpssr", np.array([0.85, 0.5]))), setting)
    assert liar.auc(false, 20) > 0.9


def test_what_devices_refuse_is_no_lie_that_counts(liar: Any) -> None:
    assert liar.closeness("mpssr", "values", np.array([1.0, 1.0])) == 1.0


def test_false_strata_are_read_from_chance_to_certainty(liar: Any) -> None:
    assert liar.false_strata(1) == pytest.approx(0.5)
    assert liar.false_strata(2) < 0.66
    assert liar.false_strata(1e6) == pytest.approx(1, abs=1e-6)
