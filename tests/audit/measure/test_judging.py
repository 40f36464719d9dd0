"""Judges from what attackers stored: what they find, and how sure two looks are."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from midpoint.audit.measure.findings import AUC, NAMED
from midpoint.audit.measure.judging import ONLY, Judging, read
from midpoint.audit.run.store import Arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

N, FOLDS = 400, 2
CATEGORY = (np.random.default_rng(0).random(N) < 0.4).astype(np.int64)
IN_FOLD = np.repeat(np.arange(FOLDS), N // FOLDS)


def stored(shift: float, seed: int, *, nested: bool = True) -> list[Arrays]:
    """Invent what an attacker stores of two folds of 200, each learned from the other."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(2, N)) + shift * CATEGORY
    folds = []
    for fold in range(FOLDS):
        inside, others = fold == IN_FOLD, np.flatnonzero(fold != IN_FOLD)
        one: Arrays = {"scores": scores[0, inside][:, None]}
        if nested:
            one |= {
                "nested_people": np.arange(len(others)),
                "nested_group": np.zeros((len(others), 1), np.intp),
                "nested_category": CATEGORY[others],
                "nested_scores": scores[1, others][:, None],
            }
        folds.append(one)
    return folds


def judging(*attackers: list[Arrays]) -> Judging:
    tried = {"panel": {f"a{k}": one for k, one in enumerate(attackers)}}
    return Judging(CATEGORY, IN_FOLD, [1], lambda name, _: name, lambda _: tried)


def test_a_judge_reads_more_than_its_attackers() -> None:
    found = judging(stored(1.0, 1), stored(1.0, 2), stored(0.0, 3))
    (adversary, one), = found.judges("s").items()  # fmt: skip
    rows = {(metric, attack): measured for metric, attack, measured in found.rows("s")}
    area = rows[AUC, "judge:panel"]
    assert (adversary, one.attack) == ("panel", "judge:panel")
    assert 0.78 < area.low < area.value < area.high
    assert one.band.attackers == 3
    assert not one.band.holds(area.value)
    assert one.weights["a2"] < 0.15
    assert sum(one.weights.values()) == pytest.approx(1.0)
    assert one.right is not None
    assert one.right > 0.8
    assert 0 < rows[NAMED, "judge:panel"].value < 0.5
    assert found.level("s") > ONLY


def test_weights_are_fixed_before_anybody_who_is_attacked_is_seen() -> None:
    """Nothing that is known of those who are attacked changes what weighs the attackers."""
    attackers = {"a": stored(1.0, 1), "b": stored(0.5, 2)}
    first = read(attackers, [1])
    assert first is not None
    rng = np.random.default_rng(5)
    others = {
        name: [one | {"scores": rng.permutation(one["scores"]) + 3} for one in folds]
        for name, folds in attackers.items()
    }
    second = read(others, [1])
    assert second is not None
    assert np.array_equal(first.weights, second.weights)
    assert not np.array_equal(first.log_odds, second.log_odds)
    # The control: training people who say something else change them.
    taught = {"a": stored(1.0, 1), "b": stored(1.5, 2)}
    third = read(taught, [1])
    assert third is not None
    assert not np.allclose(first.weights, third.weights)


def test_on_noise_a_judge_is_inside_its_band() -> None:
    """By the narrow band, 2.5 % are outside; attackers here share nobody between folds."""
    outside = 0
    for seed in range(16):
        found = judging(stored(0.0, 3 * seed), stored(0.0, 3 * seed + 1))
        one = found.judges("s")["panel"]
        area = next(m for metric, _, m in found.rows("s") if metric == AUC)
        outside += not one.band.holds_closely(area.value)
    assert outside <= 2


def test_bands_of_all_looks_together_hold_95_percent() -> None:
    """Of each adversary that knows the scheme there is a look; clean attackers' judge is none."""
    attackers = {"a": stored(1.0, 1), "b": stored(0.5, 2)}

    def levels(*adversaries: str) -> tuple[float, set[float]]:
        tried = dict.fromkeys(adversaries, attackers)
        found = Judging(CATEGORY, IN_FOLD, [1], lambda name, _: name, lambda _: tried)
        return found.level("s"), {one.band.level for one in found.judges("s").values()}

    for adversaries, looks in (
        (("panel",), 2),
        (("clean",), 2),
        (("clean", "panel"), 2),
        (("panel", "outsider"), 3),
        (("clean", "panel", "published", "outsider"), 4),
    ):
        level, own = levels(*adversaries)
        assert looks * (1 - level) == pytest.approx(0.05)
        assert own == {level}


def test_without_anything_said_of_training_people_there_is_no_judge() -> None:
    found = judging(stored(1.0, 1, nested=False))
    assert found.judges("s") == {}
    assert list(found.rows("s")) == []
    assert found.level("s") == ONLY
    assert read({"a": stored(1.0, 1, nested=False)}, [1]) is None


def test_what_is_read_again_is_what_was_found() -> None:
    attackers: dict[str, list[Arrays]] = {"a0": stored(1.0, 1), "a1": stored(1.0, 2)}
    first, again = judging(*attackers.values()).judgements("s")["panel"], read(attackers, [1])
    assert again is not None
    same: NDArray[np.bool_] = first.log_odds == again.log_odds
    assert same.all()
