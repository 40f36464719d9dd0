import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.protocol.positions import adjust_population
from midpoint.user import (
    PURPOSES,
    Adjustment,
    Obfuscated,
    Parameters,
    check_numbers,
    obfuscate,
)
from midpoint.user.core.coins import MIX, REVEAL, SPLIT, VALUE
from midpoint.user.core.discrete import split
from midpoint.wire import (
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    RatingScale,
    RefusedError,
    ValueMap,
    to_fixed,
)
from tests.support.people.made_up import AGE, GENDER, STARS, disclosure
from tests.support.people.unadjusted import obfuscate_unadjusted

N = 6000


def run(
    shown: Disclosure, category: int, alpha: float = 1.0, seed: int = 3
) -> tuple[NDArray[np.intp], NDArray[np.int64], Obfuscated]:
    rng = np.random.default_rng(seed)
    item = rng.integers(0, len(shown.items), N)
    value = np.asarray(STARS)[rng.integers(0, 5, N)]
    uniform = rng.random((N, len(PURPOSES)))
    p = Parameters.of(shown)
    adjustment = adjusted(item, value, category, p)
    return item, value, obfuscate(item, value, category, p, uniform, adjustment, alpha)


def adjusted(
    item: NDArray[np.intp], value: NDArray[np.int64], category: int, parameters: Parameters
) -> Adjustment:
    """Let each forty ratings be one person's, for schemes with counterparts."""
    starts = np.append(np.arange(0, len(item), 40), len(item))
    return adjust_population(parameters, starts, item, value, [category] * (len(starts) - 1))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_is_its_two_parts(scheme: str) -> None:
    shown = disclosure(scheme, (AGE,))
    item, value, done = run(shown, 1)
    assert done.keep.all() != SCHEMES[scheme].sub_samples
    if SCHEMES[scheme].value_map is ValueMap.AS_IS:
        assert np.array_equal(done.value, value)
    if shown.offset is not None and not SCHEMES[scheme].needs_levels:
        assert np.array_equal(done.value, value - np.array(shown.offset)[item, 1])
    if SCHEMES[scheme].needs_levels:
        assert set(done.value.tolist()) <= set(STARS)
    if shown.average is not None:
        average = np.array(shown.average)[item]
        assert (done.value[:, None] == average).any(axis=1).all()


@pytest.mark.parametrize("sub_sampled", ["ss", "mpss", "mpssr", "ssia", "ssfa", "dmpss"])
def test_revealing_has_the_disclosed_probability(sub_sampled: str) -> None:
    shown = disclosure(sub_sampled, (AGE,), n_items=3)
    for category in range(3):
        item, _, done = run(shown, category)
        for j in range(3):
            expected = np.array(shown.reveal)[j, category] / ONE
            n = (item == j).sum()
            error = 4 * np.sqrt(expected * (1 - expected) / n) + 1e-9
            assert abs(done.keep[item == j].mean() - expected) < error


def test_feature_average_takes_every_category_alike_and_ignores_ones_own() -> None:
    shown = disclosure("fa", (AGE,), n_items=1)
    _, _, first = run(shown, 0)
    _, _, second = run(shown, 2)
    assert np.array_equal(first.value, second.value)
    _, counts = np.unique(first.value, return_counts=True)
    assert np.abs(counts / N - 1 / 3).max() < 4 * np.sqrt(2 / 9 / N)


@pytest.mark.parametrize("scheme", ["mp", "mpss", "dmpss", "ssfa"])
def test_alpha_mixes_the_scheme_with_plain_release(scheme: str) -> None:
    shown = disclosure(scheme)
    rng = np.random.default_rng(3)
    item = rng.integers(0, 12, N)
    value = np.asarray(STARS)[rng.integers(0, 5, N)]
    uniform = rng.random((N, len(PURPOSES)))
    arguments = (item, value, 1, Parameters.of(shown), uniform)
    plain, full, half = (obfuscate_unadjusted(*arguments, alpha) for alpha in (0.0, 1.0, 0.5))
    assert plain.keep.all()
    assert np.array_equal(plain.value, value)
    chosen = uniform[:, MIX] < 0.5
    assert np.array_equal(half.value, np.where(chosen, full.value, value))
    assert np.array_equal(half.keep, np.where(chosen, full.keep, True))


@given(st.integers(ONE, 5 * ONE), st.sampled_from([STARS, (ONE, 3 * ONE, 4 * ONE, 5 * ONE)]))
def test_rounding_is_unbiased(total: int, levels: tuple[int, ...]) -> None:
    u = (np.arange(4096) + 0.5) / 4096
    rounded = split(np.full(4096, total), np.asarray(levels), u)
    gap = max(np.diff(levels))
    assert abs(rounded.mean() - total) <= gap / 4096
    assert set(np.unique(rounded)) <= set(levels)
    assert np.abs(rounded - total).max() < gap


def test_the_rounding_printed_in_the_paper_is_biased() -> None:
    total, u = int(2.25 * ONE), (np.arange(4096) + 0.5) / 4096
    printed = split(np.full(4096, total), np.asarray(STARS), 1 - u)
    assert printed.mean() == pytest.approx(total, abs=ONE / 1000)
    swapped = np.where(printed == 2 * ONE, 3 * ONE, 2 * ONE)  # k with probability r - k
    assert swapped.mean() == pytest.approx((2 * 2 + 1 - 2.25) * ONE, abs=ONE / 1000)


def test_rounding_truncates_at_the_ends_of_the_scale() -> None:
    shown = disclosure("mpr", n_items=1, offset=((3 * ONE, -3 * ONE),))
    item, value = np.zeros(2, dtype=np.intp), np.array([ONE, 5 * ONE])
    done = obfuscate_unadjusted(
        item, value, np.array([0, 1]), Parameters.of(shown), np.zeros((2, 4))
    )
    assert done.value.tolist() == [ONE, 5 * ONE]


def test_a_category_per_rating_is_the_same_as_one_at_a_time() -> None:
    shown = disclosure("dmpss", (GENDER, AGE))
    rng = np.random.default_rng(0)
    item = rng.integers(0, 12, 200)
    value = np.asarray(STARS)[rng.integers(0, 5, 200)]
    category = rng.integers(0, 6, 200)
    uniform = rng.random((200, 4))
    p = Parameters.of(shown)
    together = obfuscate_unadjusted(item, value, category, p, uniform)
    for n in range(200):
        one = slice(n, n + 1)
        alone = obfuscate_unadjusted(item[one], value[one], int(category[n]), p, uniform[one])
        assert alone.keep[0] == together.keep[n]
        assert alone.value[0] == together.value[n]


@pytest.mark.parametrize("scheme", ["dmpss", "mpssr", "mpss", "ssfa"])
def test_the_order_of_several_features_does_not_matter(scheme: str) -> None:
    one = disclosure(scheme, (GENDER, AGE))
    swap = np.arange(6).reshape(2, 3).T.reshape(-1)
    changed = {
        name: tuple(tuple(row[k] for k in swap) for row in getattr(one, name))
        for name in SCHEMES[scheme].columns - {"average"}
    }
    other = one.model_copy(update={"features": (AGE, GENDER), **changed})
    for gender in range(2):
        for age in range(3):
            _, _, first = run(one, gender * 3 + age)
            _, _, second = run(other, age * 2 + gender)
            assert np.array_equal(first.keep, second.keep)
            assert np.array_equal(first.value, second.value)
    _, _, wrong = run(other, 1)
    _, _, right = run(one, 1)
    assert scheme == "ssfa" or not np.array_equal(right.value, wrong.value)


def test_categorical_with_two_categories_is_the_binary_algorithm() -> None:
    """Algorithm 2 as printed, with x0 = -1, +1, v_j0 and rho_j = p-/p+."""
    rng = np.random.default_rng(5)
    v0 = rng.integers(-ONE, ONE, 12)
    p = rng.integers(1, 900, (12, 2))
    rho = p[:, 0] / p[:, 1]
    least = np.minimum(1, np.stack([rho**-1.0, rho], axis=1))
    shown = disclosure(
        "mpss",
        offset=tuple((-int(v), int(v)) for v in v0),
        reveal=tuple((int(a), int(b)) for a, b in np.rint(least * ONE)),
    )
    for cell, x0 in enumerate((-1, 1)):
        item, value, done = run(shown, cell)
        coins = np.random.default_rng(3)
        coins.integers(0, 12, N), coins.integers(0, 5, N)
        tossed = coins.random((N, 4))[:, REVEAL] < np.minimum(1, rho[item] ** x0)
        assert np.array_equal(done.value, value - x0 * v0[item])
        assert (done.keep != tossed).mean() < 1e-3  # a reveal probability is rounded to 2^-16


def test_theorem_1_midpoint_reports_do_not_depend_on_the_category() -> None:
    """r = <v, x> + x0 v0 + noise: same noise, same report; without obfuscation they differ."""
    rng = np.random.default_rng(8)
    taste = to_fixed(rng.normal(3, 1, 12))
    item, coins = np.arange(12), rng.random((12, 4))
    scale = RatingScale(low=-100 * ONE, high=100 * ONE)
    for scheme, private in (("mp", True), ("no", False), ("ss", False)):
        shown = disclosure(scheme, (AGE,), scale=scale)
        offset = np.array(disclosure("mp", (AGE,)).offset)
        sent = [
            obfuscate_unadjusted(item, taste + offset[:, k], k, Parameters.of(shown), coins).value
            for k in range(3)
        ]
        assert np.array_equal(sent[0], sent[1]) == private
        assert np.array_equal(sent[0], sent[2]) == private


def test_the_ends_of_a_continuous_scale_do_not_show_the_category() -> None:
    """Taste alike, one star of offset each way, ratings cut to 0 .. 10 as an input cuts them."""
    scale = RatingScale(low=0, high=10 * ONE)
    shown = disclosure("mp", n_items=1, scale=scale, offset=((-ONE, ONE),))
    rng = np.random.default_rng(0)
    item, coins, taste = np.zeros(N, dtype=np.intp), np.zeros((N, 4)), rng.normal(7, 3, N)
    sent, plain = [], []
    for category, offset in enumerate((-1, 1)):
        rating = to_fixed(np.clip(taste + offset, 0, 10))
        sent.append(obfuscate_unadjusted(item, rating, category, Parameters.of(shown), coins).value)
        plain.append(rating - offset * ONE)
    assert np.array_equal(sent[0], sent[1])
    assert (sent[0].min(), sent[0].max()) == (ONE, 9 * ONE)
    beyond = (plain[0] > plain[1].max()).mean()  # the control: what only one of them can reach
    assert 0.2 < beyond < 0.3


@given(st.lists(st.integers(-8 * ONE, 8 * ONE), min_size=2, max_size=5), st.integers(0, 10 * ONE))
def test_what_is_reported_on_a_continuous_scale_is_in_every_categorys_reach(
    raw: list[int], rating: int
) -> None:
    features = (FeatureNames(name="x", categories=tuple("abcde"[: len(raw)])),)
    mean = sum(raw) // len(raw)
    offset = [value - mean for value in raw]
    scale = RatingScale(low=0, high=10 * ONE)
    shown = disclosure("mp", features, n_items=1, scale=scale, offset=(tuple(offset),))
    if max(offset) - min(offset) > 10 * ONE:
        with pytest.raises(RefusedError):
            check_numbers(shown)
        return
    for category, own in enumerate(offset):
        value, p = np.array([rating]), Parameters.of(shown)
        sent = int(
            obfuscate_unadjusted(np.array([0]), value, category, p, np.zeros((1, 4))).value[0]
        )
        assert all(0 <= sent + other <= 10 * ONE for other in offset)
        if all(0 <= rating - own + other <= 10 * ONE for other in offset):
            assert sent == rating - own


def test_the_fraction_attack_reads_plain_midpoint_and_not_the_rounded_or_discrete() -> None:
    reads = {}
    for scheme in ("mp", "mpr", "dmp"):
        shown = disclosure(scheme)
        offset = np.array(disclosure("mp").offset)
        reads[scheme] = 0.0
        for category in range(2):
            item, _, done = run(shown, category)
            guess = np.abs((done.value[:, None] + offset[item] + ONE // 2) % ONE - ONE // 2).argmin(
                axis=1
            )
            reads[scheme] += (guess == category).mean() / 2
    assert reads["mp"] == 1.0
    assert reads["mpr"] == pytest.approx(0.5, abs=0.02)
    assert reads["dmp"] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("coin", [VALUE, SPLIT, REVEAL])
def test_the_last_coin_below_one_is_handled(coin: int) -> None:
    for scheme in SCHEMES:
        uniform = np.zeros((60, 4))
        uniform[:, coin] = 1 - 2**-53
        shown = disclosure(scheme, (AGE,))
        item, value = np.repeat(np.arange(12), 5), np.tile(STARS, 12)
        p = Parameters.of(shown)
        done = obfuscate(item, value, 2, p, uniform, adjusted(item, value, 2, p))
        assert np.abs(done.value).max() <= 8 * ONE


def test_a_rating_off_the_scale_is_refused_by_the_discrete_midpoint() -> None:
    p = Parameters.of(disclosure("dmp"))
    with pytest.raises(MidpointError, match=r"2\.5 is not a level"):
        obfuscate_unadjusted(np.array([0]), to_fixed([2.5]), 0, p, np.zeros((1, 4)))


def test_wrong_arguments_are_refused() -> None:
    p = Parameters.of(disclosure("dmp"))
    item, value = np.array([0]), np.array([ONE])
    with pytest.raises(MidpointError, match="shape"):
        obfuscate_unadjusted(item, value, 0, p, np.zeros((1, 3)))
    with pytest.raises(MidpointError, match="alpha"):
        obfuscate_unadjusted(item, value, 0, p, np.zeros((1, 4)), 1.5)


def test_a_missing_column_never_means_release_as_it_is() -> None:
    p = Parameters.of(disclosure("mp"))
    object.__setattr__(p, "offset", None)
    with pytest.raises(MidpointError, match="lack the column"):
        obfuscate_unadjusted(np.array([0]), np.array([ONE]), 0, p, np.zeros((1, 4)))


def test_revealing_is_exact_at_the_disclosed_probability() -> None:
    """Of the 2^16 equally likely coins k / 2^16 exactly `reveal` reveal."""
    shown = disclosure("dmpss", n_items=1, reveal=((ONE, 777),))
    uniform = np.zeros((ONE, 4))
    uniform[:, REVEAL] = np.arange(ONE) / ONE
    item, value = np.zeros(ONE, dtype=np.intp), np.full(ONE, 3 * ONE)
    kept = [
        obfuscate_unadjusted(item, value, k, Parameters.of(shown), uniform).keep.sum()
        for k in range(2)
    ]
    assert kept == [ONE, 777]
