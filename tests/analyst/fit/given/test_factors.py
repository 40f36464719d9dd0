"""Another model's items are kept; what protects people is learned, and predictions are as good."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import midpoint
from midpoint.analyst import Factorizer, GivenFactors, ItemProfiles, estimate_profiles, predict
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.data import PRESETS, Ratings, simulate, split_at_random
from midpoint.errors import MidpointError

USUAL = Factorizer(dimension=3, iterations=6)


@cache
def people() -> tuple[Ratings, Ratings]:
    """Return a panel, and others to predict for."""
    config = replace(PRESETS["simulated-tiny"], users=500, ratings=15_000)
    ratings = simulate(config, seed=2).ratings
    held = np.arange(ratings.n_users) % 4 == 0
    return ratings.select_users(~held), ratings.select_users(held)


def error(profiles: ItemProfiles) -> float:
    """Return the error for new people, of whom 70 % of the ratings are given."""
    split = split_at_random(people()[1], 0.7, seed=1)
    given, hidden = split.given, split.hidden
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    category = hidden.feature("gender").codes[hidden.user]
    added = profiles.offset[hidden.item, category]
    predicted = predict(profiles, x, hidden.user, hidden.item, added)
    return float(np.sqrt(np.mean((predicted - hidden.value) ** 2)))


def test_a_good_model_s_items_predict_as_well_as_our_own_and_chance_s_do_not() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    kept = GivenFactors.of(ours.vectors[:, 1:], ours.item_ids).fit(panel, "gender")
    noise = np.random.default_rng(0).normal(size=(panel.n_items, 3))
    nonsense = GivenFactors.of(noise, panel.item_ids).fit(panel, "gender")
    assert error(kept) < 1.02 * error(ours)
    assert error(nonsense) > 1.05 * error(ours)


def test_no_prediction_depends_on_how_a_model_writes_its_factors() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    plain = GivenFactors.of(ours.vectors[:, 1:], ours.item_ids).fit(panel, "gender")
    turned = ours.vectors[:, 1:] @ np.array([[5.0, 1.0, 0.0], [0.0, 0.1, 2.0], [1.0, 0.0, 3.0]])
    constant_and_twice = np.hstack([turned, np.ones((len(turned), 1)), turned[:, :1]])
    shuffled = np.random.default_rng(3).permutation(len(turned))
    other = GivenFactors.of(constant_and_twice[shuffled], ours.item_ids[shuffled])
    assert other.dimension == 5
    written = other.fit(panel, "gender")
    assert written.dimension == plain.dimension == 4
    assert error(written) == pytest.approx(error(plain), rel=1e-4)
    assert written.centre == pytest.approx(plain.centre, abs=1e-3)


def test_biases_of_any_unit_help_where_few_of_the_panel_rated() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    few = panel.select_users(np.arange(panel.n_users) < 40)
    vectors = ours.vectors[:, 1:]
    without, stars, units, wrong = (
        error(GivenFactors.of(vectors, ours.item_ids, biases).fit(few, "gender"))
        for biases in (None, ours.typical, 7 - 100 * ours.typical, ours.typical[::-1])
    )
    assert stars < 0.99 * without
    assert units == pytest.approx(stars, rel=1e-4)
    assert wrong > stars  # the control: biases of other items do not help


def test_what_categories_do_is_learned_from_the_panel() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    kept = GivenFactors.of(ours.vectors[:, 1:], ours.item_ids, seed=4).fit(panel, "gender")
    assert kept.statistics is not None
    assert ours.statistics is not None
    assert np.array_equal(kept.statistics.count, ours.statistics.count)
    assert kept.offset == pytest.approx(ours.offset, abs=0.05)
    made = kept.provenance.configuration
    assert (made["method"], made["factors"], made["seed"]) == ("given", "arrays", 4)
    assert len(made["factors_digest"]) == 64
    assert "given" in repr(kept.provenance)


def test_items_that_only_one_side_knows_are_said_and_say_nothing() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    names = [*ours.item_ids[5:], "a new film"]
    rows = np.vstack([ours.vectors[5:, 1:], np.ones((1, 3))])
    given = GivenFactors.of(rows, names)
    coverage = given.coverage(panel)
    assert (coverage.both, coverage.without_factors, coverage.unrated) == (55, 5, 1)
    assert "5 rated items have none" in str(coverage)
    assert "1 items that nobody of the panel rated are left out" in str(coverage)
    profiles = given.fit(panel, "gender")
    assert not profiles.informative[:5].any()
    assert profiles.informative[5:].all()
    assert profiles.centre[:5] == pytest.approx(ours.typical[:5], abs=0.3)  # as people rate them


@pytest.mark.slow
def test_an_analyst_of_given_factors_protects_and_scores() -> None:
    panel, _ = people()
    ours = USUAL.fit(panel, "gender")
    factors = GivenFactors.of(ours.vectors[:, 1:], ours.item_ids)
    analyst = midpoint.Analyst.from_factors(
        factors, panel, "gender", scheme="cmpss", progress=False
    )
    assert analyst.scheme == "cmpss"
    assert analyst.profiles.positions is not None
    rated = {str(name): 4.0 for name in analyst.profiles.item_names[:20]}
    device = midpoint.Device(analyst.published, gender="F")
    report = device.protect(rated)
    assert len(device.rank(analyst.score(report))) > 0
    same = midpoint.Analyst.train(panel, "gender", scheme="cmpss", factorizer=factors)
    assert same.disclosure.digest == analyst.disclosure.digest


def test_revealed_ratings_say_nothing_item_by_item_and_raw_ones_do() -> None:
    panel, others = people()
    ours = USUAL.fit(panel, "gender")
    analyst = midpoint.Analyst.from_factors(
        ours.vectors[:, 1:], panel, "gender", item_ids=ours.item_ids, scheme="dmpss", progress=False
    )
    protected = midpoint.obfuscate(others, analyst, seed=5)

    def apart(ratings: Ratings) -> float:
        """Return how far the mean ratings of men and women are apart along the offsets."""
        own = analyst.profiles.offset[ratings.item, 0]
        code = ratings.feature("gender").codes[ratings.user]
        signed = [
            (ratings.value[code == k] * own[code == k]).sum() / (own[code == k] ** 2).sum()
            for k in (0, 1)
        ]
        return float(abs(signed[0] - signed[1]))

    assert apart(others) > 1
    assert apart(protected) < 0.5 * apart(others)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (lambda panel: np.arange(panel.n_items), "only 0% of the ratings.*give item_ids"),
        (lambda panel: [*panel.item_ids[:2], *range(58)], "of the ratings are of items with"),
    ],
)
def test_items_that_hardly_meet_are_refused(names: object, message: str) -> None:
    panel, _ = people()
    assert callable(names)
    given = GivenFactors.of(np.eye(panel.n_items), names(panel))
    with pytest.raises(MidpointError, match=message):
        given.fit(panel, "gender")


def test_what_cannot_be_is_refused() -> None:
    panel, _ = people()
    alike = GivenFactors.of(np.ones((panel.n_items, 4)), panel.item_ids)
    with pytest.raises(MidpointError, match="the same for every item"):
        alike.fit(panel, "gender")
    with pytest.raises(MidpointError, match="no ratings to learn from"):
        alike.fit(panel.select_ratings(np.zeros(len(panel), np.bool_)), "gender")
    noise = ReportNoise(np.zeros(1, np.int32), np.zeros(1), None)  # type: ignore[arg-type]
    with pytest.raises(MidpointError, match="cannot be learned from reports"):
        alike.train(panel, "gender", report_noise=noise)
    with pytest.raises(MidpointError, match="audit with a Factorizer"):
        midpoint.audit(panel, "gender", factorizer=alike)
