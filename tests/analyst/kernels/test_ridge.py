"""Ridge regression row by row, beside numpy's in float64."""

import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.analyst.kernels import ridge as module
from midpoint.analyst.kernels.normal_equations import solve_block
from midpoint.analyst.kernels.ridge import Posterior, posterior_rows, solve_rows
from midpoint.analyst.kernels.simd import WIDTH

HERE, LENGTHS = str(Path(__file__).parent), (0, 1, 2, 700, 0, 5, 40, 3, 64, 1500, 20, 1, 90)


class Case(NamedTuple):
    offsets: NDArray[np.int64]
    vector_of: NDArray[np.int32]
    target: NDArray[np.float32]
    vectors: NDArray[np.float32]


def make_case(d: int, lengths: tuple[int, ...] = LENGTHS, seed: int = 0, count: int = 200) -> Case:
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    return Case(
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        rng.integers(0, count, n).astype(np.int32),
        rng.normal(size=n).astype(np.float32),
        rng.normal(size=(count, d)).astype(np.float32),
    )


def covariance(d: int) -> NDArray[np.float64]:
    factor = np.random.default_rng(d).normal(size=(d, d))
    return factor @ factor.T / d + np.eye(d)


def reference(
    case: Case, ridge: float | NDArray[np.float64] = 0.0, per_rating: float = 0.0
) -> NDArray[np.float64]:
    d = case.vectors.shape[1]
    penalty = ridge * np.eye(d) if isinstance(ridge, float) else ridge
    rows = []
    for start, stop in zip(case.offsets[:-1], case.offsets[1:], strict=True):
        V = case.vectors[case.vector_of[start:stop]].astype(np.float64)
        A = V.T @ V + penalty + per_rating * (stop - start) * np.eye(d)
        rows.append(np.linalg.solve(A, V.T @ case.target[start:stop]) if stop > start else A[0] * 0)
    return np.array(rows)


def relative_error(found: NDArray[np.float32], expected: NDArray[np.float64]) -> float:
    size = np.abs(expected).max(axis=1, keepdims=True)  # of each row, and a little of the largest
    return float((np.abs(found - expected) / (size + 1e-3 * size.max() + 1e-9)).max())


@pytest.mark.parametrize("d", [*range(1, 34), 47, 50, 63, 64, 65])
def test_agrees_with_float64_in_every_dimension(d: int) -> None:
    case = make_case(d, seed=d)
    for ridge, per_rating in ((0.5, 0.0), (covariance(d), 0.0), (0.0, 0.07), (covariance(d), 0.07)):
        found = solve_rows(*case, ridge=ridge, ridge_per_rating=per_rating)
        assert relative_error(found, reference(case, ridge, per_rating)) < 1e-4
        assert relative_error(found, reference(case, ridge, per_rating + 0.05)) > 1e-3


@settings(max_examples=min(50, settings().max_examples))
@given(
    d=st.integers(1, 64),
    lengths=st.lists(st.integers(0, 60), min_size=1, max_size=40).map(tuple),
    seed=st.integers(0, 2**32),
)
def test_agrees_with_float64_for_rows_of_any_length(
    d: int, lengths: tuple[int, ...], seed: int
) -> None:
    case = make_case(d, lengths, seed)
    found = solve_rows(*case, ridge=1.0, ridge_per_rating=0.05)
    assert relative_error(found, reference(case, 1.0, 0.05)) < 1e-4


OUTSIDE = """
import numpy as np
from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled

@compiled
def write(array, at):
    simd.store(array, at, simd.spread(np.float32(1)))

write(np.zeros(20, np.float32), 12)
write(np.zeros(20, np.float32), 13)
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", ["kernel", "outside"])
def test_nothing_is_read_or_written_outside_of_arrays(program: str, tmp_path: Path) -> None:
    """Vectors are read and written unchecked, unless numba is asked to check them."""
    again = [
        *("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-p", "no:schemathesis", HERE),
        *("-W", "ignore::numba.NumbaWarning"),  # such code is not kept
        *("-k", "in_every_dimension or posteriors_agree or singular_rows"),
    ]
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *(again if program == "kernel" else ["-c", OUTSIDE])],
        env={**os.environ, **checks}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if program == "kernel":
        assert done.returncode == 0, done.stdout
    else:
        assert "IndexError: index is out of bounds" in done.stderr


def test_long_rows_do_not_lose_precision() -> None:
    case = make_case(20, (200_000, 3, 50_000))
    case = case._replace(target=case.vectors[case.vector_of] @ np.ones(20, np.float32))
    found = solve_rows(*case)
    assert relative_error(found[[0, 2]], np.ones((2, 20))) < 1e-5
    assert relative_error(found[[1]], np.ones((1, 20))) > 0.1  # three ratings leave it open


def test_least_squares_without_ridge() -> None:
    case = make_case(12, (40, 500, 30))
    assert relative_error(solve_rows(*case), reference(case)) < 1e-4


def test_equal_vectors_share_the_weight_under_a_ridge() -> None:
    case = make_case(20, (50, 50, 1))
    vectors = np.repeat(case.vectors[:, :1], 20, axis=1)
    found = solve_rows(*case._replace(vectors=vectors), ridge=0.5)
    assert relative_error(found, reference(case._replace(vectors=vectors), 0.5)) < 1e-3
    assert np.ptp(found, axis=1).max() < 1e-3


@pytest.mark.parametrize("d", [1, 5, 20, 33])
def test_singular_rows_without_ridge_are_finite_and_fit(d: int) -> None:
    case = make_case(d, (0, 1, 1, 0, max(1, d // 2), 1))
    found = solve_rows(*case)
    row_of = np.repeat(np.arange(6), np.diff(case.offsets))
    fitted = np.einsum("td,td->t", case.vectors[case.vector_of], found[row_of])
    assert np.isfinite(found).all()
    assert np.abs(fitted - case.target).max() < 1e-2
    assert not found[[0, 3]].any()
    assert np.count_nonzero(found[1]) == 1


def test_zero_vectors_give_a_zero_profile() -> None:
    case = make_case(20)
    assert not solve_rows(*case._replace(vectors=case.vectors * 0)).any()
    assert solve_rows(*case).any()


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_A_THREAD", 1)
    case = make_case(20, LENGTHS * 30)
    one, two, seven = (
        solve_rows(*case, ridge_per_rating=0.07, threads=threads) for threads in (1, 2, 7)
    )
    assert np.array_equal(one, two)
    assert np.array_equal(one, seven)


def test_threads_share_all_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_A_THREAD", 1)
    seen: list[tuple[int, int]] = []
    arrived: set[int] = set()
    both = threading.Barrier(2, timeout=10)

    def record(_problem: object, first: int, last: int, *_found: object) -> None:
        if threading.get_ident() not in arrived:
            arrived.add(threading.get_ident())
            both.wait()  # passes only when two threads are here at once
        seen.append((first, last))

    monkeypatch.setattr(module, "solve_block", record)
    case = make_case(20, LENGTHS * 30)
    solve_rows(*case, threads=2)
    edges = sorted(seen)
    assert edges[0][0] == 0
    assert edges[-1][1] == len(case.offsets) - 1
    assert all(a[1] == b[0] for a, b in pairwise(edges))
    assert all(first % WIDTH == 0 for first, _ in edges)


def test_an_error_in_a_thread_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_A_THREAD", 1)
    main = threading.current_thread()
    failed = threading.Event()

    def fail(_problem: object, *_rest: object) -> None:
        if threading.current_thread() is main:
            failed.wait(timeout=10)
            return
        failed.set()
        raise MemoryError("no room")

    monkeypatch.setattr(module, "solve_block", fail)
    with pytest.raises(MemoryError, match="no room"):
        solve_rows(*make_case(20, LENGTHS * 30), threads=2)


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    case = make_case(20)
    whole = solve_rows(*case, ridge=0.1)
    for row in (1, 3, 9, 12):
        start, stop = case.offsets[row : row + 2]
        alone = Case(
            np.array([0, stop - start]),
            case.vector_of[start:stop],
            case.target[start:stop],
            case.vectors,
        )
        assert np.array_equal(solve_rows(*alone, ridge=0.1)[0], whole[row])


def test_a_bad_rating_spoils_its_own_row_only() -> None:
    case = make_case(20)
    clean = solve_rows(*case, ridge=0.1)
    case.target[case.offsets[5]] = np.nan
    found = solve_rows(*case, ridge=0.1)
    others = np.arange(len(found)) != 5
    assert np.isnan(found[5]).all()
    assert np.array_equal(found[others], clean[others])


def test_any_kind_of_array_is_read_by_the_one_kernel() -> None:
    case = make_case(20)
    expected = solve_rows(*case, ridge=0.1)
    kernels = len(solve_block.signatures)  # type: ignore[attr-defined]
    frozen = case._replace(vector_of=case.vector_of.copy(), vectors=case.vectors.copy())
    frozen.vector_of.flags.writeable = False
    frozen.vectors.flags.writeable = False
    doubled = case._replace(vectors=np.asfortranarray(case.vectors, np.float64))
    strided = case._replace(target=np.repeat(case.target, 2)[::2])
    for other in (frozen, doubled, strided):
        assert np.array_equal(solve_rows(*other, ridge=0.1), expected)
    assert len(solve_block.signatures) == kernels  # type: ignore[attr-defined]


def test_no_rows_and_no_ratings() -> None:
    case = make_case(20, ())
    assert solve_rows(*case).shape == (0, 20)
    case = make_case(20, (0, 0, 0))
    assert not solve_rows(*case, ridge=1.0).any()
    assert solve_rows(*make_case(20, (1,))).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": np.array([0, 3, 2, 6])}, "offsets must rise"),
        ({"offsets": np.array([0, 3, 5])}, "offsets must rise"),
        ({"offsets": np.array([1, 3, 6])}, "offsets must rise"),
        ({"offsets": np.array([], np.int64)}, "offsets must rise"),
        ({"vector_of": np.array([0, 1, 2, 3, 4, 200], np.int32)}, "outside the 200 vectors"),
        ({"vector_of": np.array([0, 1, 2, 3, 4, -1], np.int32)}, "outside the 200 vectors"),
        ({"target": np.zeros(5, np.float32)}, "equally long"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    change: dict[str, NDArray[np.int64]], message: str
) -> None:
    case = make_case(20, (3, 3))
    solve_rows(*case)
    with pytest.raises(ValueError, match=message):
        solve_rows(*case._replace(**change))  # type: ignore[arg-type]


def test_a_ridge_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="ridge must be a number"):
        solve_rows(*make_case(20, (3, 3)), ridge=np.ones(20))


def posterior_reference(
    case: Case,
    level: NDArray[np.float32],
    uncertain: NDArray[np.float32],
    latent: tuple[int, int],
    prior: tuple[NDArray[np.float64], NDArray[np.float64]],
    noise: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and covariances of all rows in float64, straight from the docstring."""
    d = case.vectors.shape[1]
    where = np.zeros(d)
    where[slice(*latent)] = 1
    precision = np.linalg.inv(prior[1])
    means, covariances = [], []
    for start, stop in pairwise(case.offsets.tolist()):
        of = case.vector_of[start:stop]
        V = case.vectors[of].astype(np.float64)
        A = precision + (V.T @ V + uncertain[of].sum(dtype=np.float64) * np.diag(where)) / noise
        b = precision @ prior[0] + (case.target[start:stop] - level[of]) @ V / noise
        covariances.append(np.linalg.inv(A))
        means.append(covariances[-1] @ b)
    return np.array(means), np.array(covariances)


class PosteriorCase(NamedTuple):
    case: Case
    level: NDArray[np.float32]
    uncertain: NDArray[np.float32]
    latent: tuple[int, int]
    prior: tuple[NDArray[np.float64], NDArray[np.float64]]
    noise: float = 0.7

    def solve(self, threads: int | None = None) -> Posterior:
        return posterior_rows(
            *self.case,
            level=self.level,
            vector_variance=self.uncertain,
            latent=self.latent,
            prior=self.prior,
            noise=self.noise,
            threads=threads,
        )


def posterior_case(d: int, latent: tuple[int, int], lengths: tuple[int, ...]) -> PosteriorCase:
    rng = np.random.default_rng(d)
    case = make_case(d, lengths, seed=d)
    return PosteriorCase(
        case,
        rng.normal(size=200).astype(np.float32),
        rng.uniform(0, 0.5, 200).astype(np.float32),
        latent,
        (rng.normal(size=d), covariance(d)),
    )


@pytest.mark.parametrize(
    ("d", "latent"),
    [
        (2, (1, 2)),
        (5, (1, 5)),
        (7, (1, 5)),
        (12, (1, 12)),
        (21, (1, 21)),
        (24, (1, 21)),
        (33, (1, 33)),
        (67, (1, 67)),
        (130, (1, 129)),
    ],
)
def test_posteriors_agree_with_float64(d: int, latent: tuple[int, int]) -> None:
    given = posterior_case(d, latent, LENGTHS)
    means, covariances = posterior_reference(*given)
    found = given.solve()
    assert relative_error(found.profile, means) < 1e-4
    spread = np.diagonal(covariances, axis1=1, axis2=2)
    expected = np.stack([spread[:, 0], spread[:, slice(*latent)].mean(axis=1)], axis=1)
    assert found.variance == pytest.approx(expected, rel=1e-3)
    rated = np.diff(given.case.offsets) > 0
    assert found.covariance == pytest.approx(covariances[rated].mean(axis=0), abs=1e-4)
    unrated = np.flatnonzero(~rated)
    assert found.profile[unrated] == pytest.approx(
        np.tile(given.prior[0], (len(unrated), 1)), abs=1e-4
    )
    # what is uncertain about the vectors counts, and only where it is said to be
    certain = given._replace(uncertain=0 * given.uncertain).solve()
    assert relative_error(certain.profile, means) > 1e-3
    everywhere = given._replace(latent=(0, d)).solve()
    assert relative_error(everywhere.profile, means) > 1e-3


def test_certain_vectors_and_a_centred_prior_are_plain_ridge() -> None:
    given = posterior_case(12, (1, 12), LENGTHS)
    prior = (np.zeros(12), given.prior[1])
    found = given._replace(prior=prior, uncertain=0 * given.uncertain).solve()
    ridge = np.asarray(given.noise * np.linalg.inv(prior[1]), np.float64)
    plain = solve_rows(*given.case, level=given.level, ridge=ridge)
    assert found.profile == pytest.approx(plain, abs=1e-5)
    assert relative_error(given.solve().profile, plain.astype(np.float64)) > 1e-2


def test_bits_of_posteriors_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_A_THREAD", 1)
    given = posterior_case(21, (1, 21), LENGTHS * 30)
    one, two, seven = (given.solve(threads) for threads in (1, 2, 7))
    for other in (two, seven):
        assert one.profile.tobytes() == other.profile.tobytes()
        assert one.variance.tobytes() == other.variance.tobytes()
        assert one.covariance.tobytes() == other.covariance.tobytes()


def test_each_row_may_have_a_prior_mean_of_its_own() -> None:
    case, draws = posterior_case(21, (1, 21), LENGTHS), np.random.default_rng(1)
    means = draws.normal(size=(len(LENGTHS), 21))
    found = case._replace(prior=(means, case.prior[1])).solve()
    for row, mean in enumerate(means):
        alone = case._replace(prior=(mean, case.prior[1])).solve().profile[row]
        assert found.profile[row] == pytest.approx(alone, abs=1e-5)
