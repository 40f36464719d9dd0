"""Conjugate gradients row by row, beside numpy's solutions in float64."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst.kernels.conjugate_gradients import improve_rows

LENGTHS = (0, 1, 2, 300, 0, 5, 40, 3, 64, 7, 20, 1, 90)
PER_ENTRY = 0.07
Float = NDArray[np.float64]


class Case(NamedTuple):
    offsets: NDArray[np.int64]
    vector_of: NDArray[np.int32]
    weight: NDArray[np.float32]
    vectors: NDArray[np.float32]
    start: NDArray[np.float32]


def make_case(d: int) -> Case:
    rng = np.random.default_rng(d)
    n = sum(LENGTHS)
    return Case(
        np.concatenate([[0], np.cumsum(LENGTHS, dtype=np.int64)]),
        rng.integers(0, 200, n).astype(np.int32),
        rng.uniform(0.5, 3, n).astype(np.float32),
        rng.normal(0, d**-0.5, (200, d)).astype(np.float32),
        rng.normal(0, 0.1, (len(LENGTHS), d)).astype(np.float32),
    )


def gram(case: Case) -> Float:
    """Return what all vectors say together, as sets have it for a ridge."""
    V = case.vectors.astype(np.float64)
    return np.asarray(V.T @ V + np.eye(V.shape[1]))


def systems(case: Case) -> list[tuple[Float, Float]]:
    """Return the normal equations of each row."""
    made = []
    for first, last in zip(case.offsets[:-1], case.offsets[1:], strict=True):
        V = case.vectors[case.vector_of[first:last]].astype(np.float64)
        w = case.weight[first:last].astype(np.float64)
        shared = gram(case) + PER_ENTRY * (last - first) * np.eye(V.shape[1])
        made.append((shared + V.T @ (w[:, None] * V), V.T @ w))
    return made


def improve(case: Case, **changed: object) -> NDArray[np.float32]:
    usual = {"ridge": gram(case), "ridge_per_entry": PER_ENTRY}
    return improve_rows(*case, **{**usual, **changed})  # type: ignore[arg-type]


def energies(case: Case, x: NDArray[np.float32]) -> Float:
    """Return what each row's regression minimizes, but for what does not depend on x."""
    pairs = zip(systems(case), x.astype(np.float64), strict=True)
    return np.array([own @ A @ own - 2 * b @ own for (A, b), own in pairs])


@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 31, 33, 48, 80])
def test_many_steps_agree_with_float64_in_every_dimension(d: int) -> None:
    case = make_case(d)
    exact = np.array([np.linalg.solve(A, b) for A, b in systems(case)])
    assert improve(case, steps=40) == pytest.approx(exact, abs=1e-4)
    assert improve(case, steps=40, ridge_per_entry=2.0) != pytest.approx(exact, abs=1e-3)


def test_every_step_comes_closer_and_three_come_close() -> None:
    case = make_case(48)
    least = energies(case, improve(case, steps=100))
    above = [energies(case, improve(case, steps=n)) - least for n in range(5)]
    for before, after in pairwise(above):
        assert (after <= before + 1e-4).all()
    assert (above[3] <= 0.01 * above[0] + 1e-4).all()
    assert (above[1] > 0.01 * above[0]).any()  # the control: one step is not enough


def test_no_step_leaves_rows_as_they_are() -> None:
    case = make_case(20)
    assert improve(case, steps=0) == pytest.approx(case.start, abs=1e-5)


def test_threads_change_nothing() -> None:
    case = make_case(40)
    many = case._replace(
        offsets=np.concatenate([[0], np.cumsum(np.tile(LENGTHS, 200))]),
        vector_of=np.tile(case.vector_of, 200),
        weight=np.tile(case.weight, 200),
        start=np.tile(case.start, (200, 1)),
    )
    single, several = (improve(many, threads=threads) for threads in (1, 3))
    assert np.array_equal(single, several)
    assert single[: len(LENGTHS)] == pytest.approx(improve(case), abs=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"start": np.zeros((2, 5), np.float32)}, "do not fit"),
        ({"vectors": np.zeros((200, 4), np.float32)}, "do not fit"),
        ({"vector_of": np.full(sum(LENGTHS), 200, np.int32)}, "outside the 200 vectors"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, object], message: str) -> None:
    case = make_case(5)
    with pytest.raises(ValueError, match=message):
        improve(case._replace(**changed), ridge=gram(case))  # type: ignore[arg-type]


def test_directions_without_a_ridge_are_finite_and_fit() -> None:
    case = make_case(5)
    found = improve(case, ridge=np.diag([1.0, 1, 1, 1, 0]), ridge_per_entry=0.0, steps=10)
    assert np.isfinite(found).all()
    open_end = improve(case, ridge=np.diag([1.0, 1, 1, 1, 1e-3]), ridge_per_entry=0.0, steps=10)
    assert found[3] == pytest.approx(open_end[3], abs=1e-3)
    assert found[3] != pytest.approx(improve(case, steps=10)[3], abs=1e-3)
