from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from midpoint.audit.attackers import features
from midpoint.audit.attackers.view import View
from midpoint.data import Scale
from midpoint.protocol import LearningProtocol, Population
from tests.support.audits.seen import LEAKY, Seen, codes, silenced, some


@cache
def shown() -> View:
    made = Seen()
    return made.view(made.tried, "mpssr")


def test_rows_hold_what_people_reported() -> None:
    view = shown()
    table = features.values(view).toarray()
    for person in (0, 17, view.n_users - 1):
        inside = slice(*view.reports.user_offsets[person : person + 2])
        items, sent = view.reports.item[inside], view.reports.value[inside]
        assert table[person, items] == pytest.approx(sent / 5)
        assert np.count_nonzero(table[person]) == len(items)
        assert np.array_equal(features.mask(view).toarray()[person], table[person] > 0)


def test_an_item_rated_zero_is_not_an_item_unrated() -> None:
    view = replace(shown(), scale=Scale.stars(0, 4))
    zero = replace(view.reports, value=view.reports.value - 1)
    raised = features.raised_values(replace(view, reports=zero))
    assert (raised.toarray() > 0).sum() == len(view.reports.item)
    assert (features.values(replace(view, reports=zero)).toarray() > 0).sum() < len(
        view.reports.item
    )


def test_levels_have_a_column_each() -> None:
    view = shown()
    table = features.level_columns(view).toarray().reshape(view.n_users, -1, 5)
    assert np.array_equal(table.sum(axis=2), features.mask(view).toarray())
    rated = table @ np.arange(1, 6)
    assert rated == pytest.approx(5 * features.values(view).toarray())


def test_what_categories_do_is_taken_from_what_was_learned_without_the_person() -> None:
    """Rates that contain a person's own label would tell it in training and nowhere else."""
    view = shown()
    profiles = view.profiles
    other = replace(profiles, offset=profiles.offset[:, ::-1].copy())
    part = replace(view, profiles=other)
    pooled = features.profile_features(View.pooled([part], profiles, view.disclosure))
    own, whole = features.profile_features(part), features.profile_features(view)
    slopes = slice(-profiles.offset.shape[1], None)
    assert pooled[:, slopes] == pytest.approx(own[:, slopes])
    assert not np.allclose(pooled[:, slopes], whole[:, slopes])
    assert np.array_equal(pooled[:, : profiles.dimension], whole[:, : profiles.dimension])


@pytest.mark.parametrize(
    ("scale", "value", "expected"),
    [
        (Scale.stars(1, 5), [0.2, 1.4, 1.6, 4.9, 7.0], [0, 0, 1, 4, 4]),
        (Scale.continuous(0, 100), [-5.0, 5.0, 10.0, 99.0, 120.0], [0, 0, 1, 9, 9]),
        (Scale.stars(0, 100), [0.0, 9.0, 10.0, 50.0, 100.0], [0, 0, 1, 5, 9]),
        (Scale.stars(0, 1), [-0.3, 0.0, 0.6, 1.0, 1.2], [0, 0, 1, 1, 1]),
    ],
)
def test_values_fall_into_bins(scale: Scale, value: list[float], expected: list[int]) -> None:
    reports = replace(shown().reports, value=np.array(value))
    assert features.bins(replace(shown(), reports=reports, scale=scale)).tolist() == expected


def test_profile_features_by_hand() -> None:
    view = shown()
    table, D = features.profile_features(view), view.profiles.dimension
    inside = slice(*view.reports.user_offsets[8:10])
    item, value = view.reports.item[inside], view.reports.value[inside]
    assert table[8, :D] == pytest.approx(view.profile[8])
    assert table[8, D : 2 * D] == pytest.approx(view.profiles.vectors[item].mean(axis=0), rel=1e-4)
    assert table[8, 2 * D] == pytest.approx(np.log1p(len(item)))
    shares = np.bincount(value.astype(np.int64), minlength=6)[1:] / len(item)
    assert table[8, 2 * D + 1 : 2 * D + 6] == pytest.approx(shares)
    assert table[8, 2 * D + 6 : 2 * D + 8] == pytest.approx([value.mean(), value.std()])
    left = value - view.profiles.centre[item] - view.profiles.vectors[item] @ view.profile[8]
    assert table[8, 2 * D + 8 : 2 * D + 10] == pytest.approx([left.mean(), left.std()], rel=1e-3)
    assert table.shape == (view.n_users, 2 * D + 5 + 2 * 2 + 6)


def test_on_fine_scales_it_shows_how_round_the_values_are() -> None:
    """On short ones every level is read anyway."""
    view = shown()
    sent = np.full(len(view.reports.item), 37.0)
    first = slice(*view.reports.user_offsets[:2])
    n = first.stop
    sent[first] = np.resize([50.0, 70.0, 85.0, 31.0], n)
    fine = replace(view, reports=replace(view.reports, value=sent), scale=Scale.stars(0, 100))
    tens, fives = np.isin(sent[first], [50, 70]).mean(), np.isin(sent[first], [50, 70, 85]).mean()
    assert n > 4
    assert features.roundness(fine)[0] == pytest.approx([tens, fives, 4 / n])
    assert features.roundness(fine)[1] == pytest.approx([0, 0, 1 / fine.counts[1]])
    short = features.profile_features(view).shape[1]
    assert features.profile_features(fine).shape[1] == short + 3 + features.MOST_BINS - 5


def test_silent_people_have_finite_features() -> None:
    quiet = silenced(shown(), np.arange(shown().n_users))
    assert np.isfinite(features.profile_features(quiet)).all()
    assert not features.roundness(replace(quiet, scale=Scale.stars(0, 100))).any()
    assert features.values(quiet).nnz == 0
    assert quiet.profile == pytest.approx(np.tile(quiet.profiles.profile_mean, (quiet.n_users, 1)))


def test_a_profile_that_devices_sent_is_taken_as_it_is() -> None:
    made = Seen(replace(LEAKY, users=60, ratings=1_000))
    full = LearningProtocol("full")
    disclosure, rated = full.disclose(made.profiles), made.tried
    people = Population(rated.user, rated.item, rated.value, codes(rated))
    sent = full.report(disclosure, made.profiles, people, np.random.default_rng(0))
    view = View(sent, made.profiles, disclosure, rated.scale)
    assert view.profile is sent.profile
    assert View.pooled([view, view], made.profiles, disclosure).profile.shape == (
        2 * view.n_users,
        3,
    )


def test_pooling_puts_people_one_part_after_the_other() -> None:
    view = shown()
    half = view.n_users // 2
    parts = [some(view, np.arange(half)), some(view, np.arange(half, view.n_users))]
    again = View.pooled(parts, view.profiles, view.disclosure)
    for name in ("user_offsets", "item", "value"):
        assert np.array_equal(getattr(again.reports, name), getattr(view.reports, name))
    assert again.parts == tuple(parts)
