"""The analyst knows how much noise coins add, and trusts each item's reports accordingly."""

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Evidence, estimate_profiles, posterior, report_weights
from midpoint.analyst.score.weights import coin_noise
from midpoint.protocol import LearningProtocol
from midpoint.wire import correction, from_fixed
from tests.support.people.invented import WIDE, raters, world

MADE = world(M=8, seed=4)


def test_the_coins_add_as_much_noise_as_is_said() -> None:
    people = raters(MADE, 20_000, seed=5, all_rated=True)
    scheme = LearningProtocol("dmp", estimation="plain")
    disclosure = scheme.disclose(MADE.profiles)
    sent = scheme.report(disclosure, MADE.profiles, people, np.random.default_rng(6))
    own = from_fixed(correction(disclosure))[MADE.profiles.message_index]
    wanted = people.value - own[people.item, people.category[people.user]]
    noise = np.square(sent.value - wanted)
    found = np.bincount(people.item, noise) / np.bincount(people.item)
    said = coin_noise(disclosure)[MADE.profiles.message_index]
    assert found == pytest.approx(said, rel=0.04)
    assert said.max() > 2 * said.min()  # so that the order of items matters
    assert np.abs(found - coin_noise(disclosure)).max() > 0.1  # and a wrong one shows


@pytest.mark.parametrize("name", ["no", "mp", "mpss", "mpr", "ia"])
def test_reports_of_other_schemes_are_trusted_alike(name: str) -> None:
    made = MADE if name != "mp" else world(M=8, scale=WIDE, seed=4)
    disclosure = LearningProtocol(name).disclose(made.profiles)
    assert (report_weights(made.profiles, disclosure) == 1).all()
    least = report_weights(MADE.profiles, LearningProtocol("dmp").disclose(MADE.profiles))
    assert (least < 1).all()


def test_what_is_not_obfuscated_is_trusted_fully() -> None:
    disclosure = LearningProtocol("dmp").disclose(MADE.profiles)
    assert (report_weights(MADE.profiles, disclosure, alpha=0.0) == 1).all()
    half, whole = (report_weights(MADE.profiles, disclosure, alpha=alpha) for alpha in (0.5, 1.0))
    assert (half > whole).all()


def error(weights: NDArray[np.float64] | None, seed: int) -> float:
    """Return the squared error of profiles under noise that differs from item to item."""
    made = world(M=40, D=4, seed=seed)
    p, rng = made.profiles, np.random.default_rng(seed)
    n, added = 4000, np.where(np.arange(p.n_items) % 2, 2.0, 0.0)
    item = np.tile(np.arange(p.n_items, dtype=np.int32), n)
    x = rng.normal(size=(n, p.dimension))
    deviation = np.sqrt(p.noise_variance + added)[item]
    value = (p.centre + x @ p.vectors.T).ravel() + deviation * rng.normal(size=len(item))
    offsets = np.arange(n + 1) * p.n_items
    found = estimate_profiles(p, offsets, item, value, weights=weights)
    return float(np.square(found - x).sum(axis=1).mean())


def test_right_weights_estimate_better_and_wrong_ones_worse() -> None:
    right = np.where(np.arange(40) % 2, 0.25 / 2.25, 1.0)
    alike, better, wrong = error(None, 1), error(right, 1), error(right[::-1].copy(), 1)
    assert better < 0.75 * alike
    assert wrong > 1.2 * alike


def test_one_person_alone_is_estimated_as_in_a_crowd() -> None:
    disclosure = LearningProtocol("dmp").disclose(MADE.profiles)
    weights = report_weights(MADE.profiles, disclosure)
    people = raters(MADE, 5, seed=7)
    sent = LearningProtocol("dmp").report(
        disclosure, MADE.profiles, people, np.random.default_rng(8)
    )
    crowd = LearningProtocol("dmp").estimate(MADE.profiles, sent, disclosure)
    for user in range(people.n_users):
        hers = slice(sent.user_offsets[user], sent.user_offsets[user + 1])
        evidence = Evidence.of(MADE.profiles, sent.item[hers], sent.value[hers], weights)
        alone = posterior(evidence, MADE.profiles).mean
        assert crowd[user] == pytest.approx(alone, abs=1e-4)
    assert np.abs(LearningProtocol("dmp").estimate(MADE.profiles, sent) - crowd).max() > 0.01
    paper = LearningProtocol("dmp", estimator="least-squares")
    least = paper.estimate(MADE.profiles, sent, disclosure)
    assert np.array_equal(least, paper.estimate(MADE.profiles, sent))
