"""The discrete midpoint in whole protocols, and the fraction attack that it withstands."""

import numpy as np
import pytest

from midpoint.analyst.categories.estimates import Estimation
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import ONE
from tests.support.models.output_distribution import output_distribution
from tests.support.people.invented import STARS, Float, World, auc, raters, two_sided, world

PEOPLE = 3000


def features(K: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("feature", tuple(f"c{k}" for k in range(K))),)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("estimation", ["plain", "shrunken"])
def test_an_analysts_disclosure_sends_all_categories_to_one_distribution(
    K: int, estimation: Estimation
) -> None:
    made = world(features=features(K), seed=K)
    disclosure = LearningProtocol("dmp", estimation=estimation).disclose(made.profiles)
    points = np.arange(1, 6) * ONE
    for row in np.array(disclosure.levels):
        masses, whole = output_distribution(row, points)
        assert (masses == masses[0]).all()
        assert np.abs(masses / whole - masses[0] / whole).max() <= 1e-12
        assert (row != row[0]).any()


def histograms(sent: Reports, people: Population, K: int, M: int) -> Float:
    """Return the share of each level in what each category reports of each item. (M, K, 5)."""
    who = np.repeat(np.arange(people.n_users), np.diff(sent.user_offsets))
    level = np.clip(np.rint(sent.value), 1, 5).astype(np.int64) - 1
    flat = (sent.item.astype(np.int64) * K + people.category[who]) * 5 + level
    count = np.bincount(flat, minlength=M * K * 5).reshape(M, K, 5)
    return np.asarray(count / count.sum(axis=2, keepdims=True))


@pytest.mark.parametrize("K", [2, 3, 5])
def test_over_many_people_reports_have_one_distribution_of_legal_levels(K: int) -> None:
    made = world(M=6, features=features(K), seed=K)
    people = raters(made, 20_000, seed=1)
    spread = {}
    for name in ("no", "mpr", "dmp", "dmpss"):
        scheme = LearningProtocol(name, estimation="plain")
        disclosure = scheme.disclose(made.profiles)
        sent = scheme.report(disclosure, made.profiles, people, np.random.default_rng(2))
        assert set(np.unique(sent.value)) <= set(STARS.levels or ())
        shares = histograms(sent, people, K, 6)
        spread[name] = float(np.ptp(shares, axis=1).max())
    assert spread["dmp"] < 0.04
    assert spread["dmpss"] < 0.04
    assert min(spread["no"], spread["mpr"]) > 0.1


def fraction_attack(made: World, name: str) -> float:
    """Add each category's offset to what was sent, and see for whom it gives whole stars."""
    people = raters(made, PEOPLE, seed=12)
    scheme = LearningProtocol(name)
    sent = scheme.report(
        scheme.disclose(made.profiles), made.profiles, people, np.random.default_rng(13)
    )
    who = np.repeat(np.arange(people.n_users), np.diff(sent.user_offsets))
    restored = sent.value[:, None] + made.profiles.offset[sent.item]
    off_level = np.abs(restored - np.rint(restored))
    score = np.bincount(who, off_level[:, 0] - off_level[:, 1], people.n_users)
    return two_sided(auc(score, people.category == 1))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("mp", True),
        ("mpss", True),
        ("mpr", False),
        ("mpssr", False),
        ("dmp", False),
        ("dmpss", False),
    ],
)
def test_the_fraction_attack_reads_unrounded_midpoints_entirely(name: str, read: bool) -> None:
    area = fraction_attack(world(M=20, seed=11), name)
    assert area == 1.0 if read else area < 0.54


@pytest.mark.parametrize(("items", "read"), [(3, True), (30, False)])
def test_full_disclosure_hides_no_fractions_where_the_estimate_can_be_solved(
    items: int, read: bool
) -> None:
    """From as many items as dimensions the analyst gets back what MP would have sent."""
    made = world(M=items, seed=11)
    people = raters(made, 500, seed=14, all_rated=True)
    full = LearningProtocol("full", estimator="least-squares")
    disclosure = full.disclose(made.profiles)
    sent = full.report(disclosure, made.profiles, people, np.random.default_rng(15))
    y = made.profiles.centre + full.estimate(made.profiles, sent) @ made.profiles.vectors.T
    off_level = [np.abs(z - np.rint(z)).sum(axis=1) for z in map(y.__add__, made.profiles.offset.T)]
    area = two_sided(auc(off_level[0] - off_level[1], people.category == 1))
    assert area > 0.99 if read else area < 0.6
