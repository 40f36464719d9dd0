import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.audit.attackers.auc import Area, area, auc, chance_deviation
from midpoint.audit.measure.statistics import (
    coverage_interval,
    mean_interval,
    null_band,
    paired_cost,
    paired_loss,
    permuted_areas,
    root_mean,
)
from midpoint.errors import MidpointError


def people(n: int, shift: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = (np.arange(n) % 3 == 0).astype(np.int64)
    folds = rng.permutation(np.arange(n) % 4)
    return rng.normal(size=n) + shift * labels, labels, folds


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=40).filter(
        lambda rows: len({label for _, label in rows}) == 2
    )
)
def test_auc_is_the_share_of_pairs_in_order(rows: list[tuple[int, int]]) -> None:
    scores, labels = np.array(rows, dtype=float).T
    ones, zeros = scores[labels == 1], scores[labels == 0]
    won = (ones[:, None] > zeros).mean() + (ones[:, None] == zeros).mean() / 2
    assert auc(scores, labels) == pytest.approx(won)
    assert area(scores, labels).value == pytest.approx(won)
    assert auc(-scores, labels) == pytest.approx(1 - won)


def test_a_missing_class_says_nothing() -> None:
    assert auc(np.arange(3.0), np.ones(3)) == 0.5
    alone = area(np.arange(3.0), np.ones(3))
    assert (alone.value, alone.deviation) == (0.5, 0.0)


def test_scores_are_compared_within_folds_only() -> None:
    scores, labels, folds = people(400, 1.0, 0)
    per_fold = np.array([1000.0, -50.0, 3.0, 0.0])
    moved = area(scores + per_fold[folds], labels, folds)
    assert moved.value == pytest.approx(area(scores, labels, folds).value)
    assert abs(area(scores + per_fold[folds], labels).value - moved.value) > 0.05


@pytest.mark.slow
def test_the_interval_agrees_with_the_bootstrap() -> None:
    scores, labels, folds = people(600, 0.8, 1)
    found = area(scores, labels, folds)
    rng = np.random.default_rng(2)
    cells = [np.flatnonzero((folds == f) & (labels == y)) for f in range(4) for y in (0, 1)]
    again = []
    for _ in range(300):
        drawn = np.concatenate([rng.choice(cell, len(cell)) for cell in cells])
        again.append(area(scores[drawn], labels[drawn], folds[drawn]).value)
    assert np.std(again) == pytest.approx(found.deviation, rel=0.15)
    low, high = found.interval()
    assert (low, high) == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.015)
    assert found.interval(0.5)[0] > low


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    truth = 0.7602  # P(N(1, 2) > 0)
    inside = 0
    for seed in range(200):
        low, high = area(*people(240, 1.0, seed)).interval()
        inside += low < truth < high
    assert 180 <= inside <= 198


def one_sided(truth: float, draws: int) -> np.ndarray:
    """Score 40 ones above all 60 zeros with this probability, else below: the worst case."""
    rng, labels = np.random.default_rng(3), np.arange(100) < 40
    folds = np.arange(100) % 2
    side = np.where(rng.random((draws, 100)) < truth, 1.0, -1.0)
    found = [area(np.where(labels, row, 0.0), labels, folds) for row in side]
    return np.array([(one.value, *one.interval(), one.deviation) for one in found])


@pytest.mark.slow
def test_the_interval_at_certainty_covers_and_the_normal_one_would_not() -> None:
    bound = 0.025 ** (1 / 40)
    rare = one_sided(bound - 1e-3, 3000)
    assert 0.01 < (rare[:, 0] == 1).mean() < 0.032  # this often the bound misses
    found = one_sided(0.95, 1000)
    certain = found[found[:, 0] == 1]
    assert len(certain) > 80
    assert certain[:, 1] == pytest.approx(bound)
    assert (certain[:, 2] == 1).all()
    assert (certain[:, 3] == 0).all()  # no width, so that 0.95 is never inside


def test_the_interval_at_zero_mirrors_that_at_one_and_others_stay_normal() -> None:
    labels = (np.arange(30) < 10).astype(np.int64)
    low, high = area(1.0 - labels, labels).interval()
    assert (low, high) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert area(1.0 * labels, labels).interval() == pytest.approx((0.025**0.1, 1.0))
    both = Area.mean([area(1.0 * labels, labels), area(1.0 * labels[:30], labels)])
    assert both.interval()[0] == pytest.approx(0.025**0.1)
    near = area(np.where(np.arange(30) == 0, -1.0, labels), labels)
    assert near.interval()[0] == pytest.approx(max(near.value - 1.959964 * near.deviation, 0))


def test_a_macro_area_is_the_mean_distance_and_surer_than_its_parts() -> None:
    scores, labels, folds = people(500, 0.5, 3)
    one = area(scores, labels, folds)
    other = area(np.random.default_rng(4).normal(size=500), labels, folds)
    both = Area.macro([one, other])
    assert both.value == pytest.approx(0.5 + (one.distance + other.distance) / 2)
    assert both.deviation < max(one.deviation, other.deviation)
    assert Area.macro([one, one]).deviation == pytest.approx(one.deviation)


def test_leaks_on_either_side_do_not_cancel_out() -> None:
    scores, labels, folds = people(500, 0.8, 3)
    above, below = area(scores, labels, folds), area(-scores, labels, folds)
    assert above.value + below.value == pytest.approx(1)
    assert Area.macro([above, below]).value == pytest.approx(above.value)
    assert Area.macro([above, below], [1.0, 1.0]).value == pytest.approx(0.5)
    assert Area.macro([below]) is below


def test_permuted_areas_are_those_of_permuted_labels() -> None:
    scores, labels, _ = people(60, 1.0, 5)
    folds = np.zeros(60, dtype=np.int64)
    found = permuted_areas(np.stack([scores, -scores]), labels, folds, 50)
    assert found.sum(axis=1) == pytest.approx(np.ones(50), abs=1e-5)
    assert found.std() == pytest.approx(chance_deviation(labels), rel=0.25)
    assert chance_deviation(labels) == pytest.approx(np.sqrt(61 / (12 * 20 * 40)))
    grid = found[:, 0] * 20 * 40
    assert np.allclose(grid, np.rint(grid), atol=1e-2)


def test_the_band_holds_noise_and_not_a_leak() -> None:
    rng = np.random.default_rng(6)
    labels, folds = (np.arange(2000) % 3 == 0).astype(np.int64), np.arange(2000) // 200
    noise = rng.normal(size=(15, 2000))
    band = null_band(noise, labels, folds)
    strongest = max(area(row, labels, folds).distance for row in noise)
    assert strongest < band.half_width
    assert 0.03 < band.half_width < 0.055  # 15 attackers; one alone would have 0.026
    assert null_band(noise[:1], labels, folds).half_width == pytest.approx(0.0265, abs=0.003)
    leak = area(noise[0] + 0.3 * labels, labels, folds)
    assert leak.value > band.high
    assert band.p_value(leak.value) < 0.01 < band.p_value(0.5 + strongest)


def test_the_band_of_copies_is_that_of_one() -> None:
    scores, labels, folds = people(300, 0.0, 7)
    one = null_band(scores[None], labels, folds)
    copies = null_band(np.stack([scores, 2 * scores, -scores]), labels, folds)
    assert copies.half_width == pytest.approx(one.half_width, abs=1e-6)


@pytest.mark.slow
def test_the_bands_of_three_categories_are_those_of_the_greatest_and_of_the_mean() -> None:
    rng = np.random.default_rng(8)
    category, folds = rng.integers(0, 3, 900), np.arange(900) % 3
    scores = rng.normal(size=(4, 900, 3))
    singles = [
        np.abs(permuted_areas(scores[:, :, k], category, folds, 1000, k) - 0.5) for k in range(3)
    ]
    greatest, mean = np.max(singles, axis=(0, 2)), np.mean(singles, axis=0).max(axis=1)
    judged, macro = (
        null_band(scores, category, folds),
        null_band(scores, category, folds, macro=True),
    )
    assert judged.half_width == pytest.approx(np.quantile(greatest, 0.95))
    assert macro.half_width == pytest.approx(np.quantile(mean, 0.95))
    alone = null_band(scores[:, :, 1], (category == 1).astype(np.int64), folds)
    assert macro.half_width < alone.half_width < judged.half_width


def test_a_leak_of_one_category_of_three_is_no_chance() -> None:
    rng = np.random.default_rng(9)
    category, folds = rng.integers(0, 3, 1500), np.arange(1500) % 3
    noise = rng.normal(size=(1, 1500, 3))
    band = null_band(noise, category, folds)
    leak = area(noise[0, :, 2] - 0.4 * (category == 2), category == 2, folds)
    assert not band.low <= leak.value <= band.high
    quiet = area(noise[0, :, 2], category == 2, folds)
    assert band.low <= quiet.value <= band.high


def test_a_cost_is_a_ratio_of_errors_and_pairing_makes_it_surer() -> None:
    rng = np.random.default_rng(10)
    raw = rng.gamma(2.0, size=800)  # people differ much in how well they are predicted
    here = raw * (1.02 + 0.01 * rng.normal(size=800))
    value, low, high = paired_cost(here, raw)
    assert value == pytest.approx(np.sqrt(here.sum() / raw.sum()) - 1)
    assert 0.009 < low < value < high < 0.011
    _, apart_low, apart_high = paired_cost(rng.permutation(here), raw)
    assert apart_high - apart_low > 20 * (high - low)
    assert paired_cost(raw, raw) == (0.0, 0.0, 0.0)


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(MidpointError, match="no number"):
        area(np.array([0.0, np.nan]), np.array([0, 1]))


def test_the_error_and_its_interval_follow_their_formula() -> None:
    rng = np.random.default_rng(0)
    count = rng.integers(1, 20, 400)
    errors = [rng.normal(0, rng.uniform(0.5, 1.5), n) for n in count]
    squares = np.array([np.square(one).sum() for one in errors])
    value, low, high = root_mean(squares, count)
    assert value == pytest.approx(np.sqrt(np.square(np.concatenate(errors)).mean()))
    drawn = rng.integers(0, 400, (2000, 400))
    spread = np.sqrt(squares[drawn].sum(axis=1) / count[drawn].sum(axis=1)).std()
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.1)


def test_what_is_lost_of_a_mean_is_paired_and_leaves_out_the_unknown() -> None:
    rng = np.random.default_rng(0)
    raw = rng.random(400)
    raw[::10] = np.nan
    value, low, high = paired_loss(0.9 * raw, raw)
    assert (value, low, high) == pytest.approx((0.1, 0.1, 0.1))  # the same share of everyone's
    value, low, high = paired_loss(raw[rng.permutation(400)], raw)
    assert low < value < high
    assert high - low > 0.05  # not paired: much less sure
    assert paired_loss(np.full(3, np.nan), np.full(3, np.nan)) == (0.0, 0.0, 0.0)


def test_coverage_is_as_sure_as_the_jackknife_says() -> None:
    rng = np.random.default_rng(1)
    shares, widths = [], []
    for _ in range(200):
        shown = rng.zipf(1.6, (60, 10)) % 300
        often = np.bincount(np.concatenate([np.unique(row) for row in shown]), minlength=300)
        alone = np.array([(often[np.unique(row)] == 1).sum() for row in shown])
        value, low, high = coverage_interval(np.array([(often > 0).mean()]), [alone], 300)
        shares.append(value)
        widths.append(high - low)
    assert 0.6 < np.mean(widths) / (2 * 1.96 * np.std(shares)) < 1.6


def test_the_interval_of_a_mean_stays_between_zero_and_one() -> None:
    assert mean_interval(np.array([0.0, 0.0, 1.0, np.nan]))[1] == 0.0
    assert mean_interval(np.array([0.5])) == (0.5, 0.5, 0.5)
