from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, fit_positions
from midpoint.analyst.counterparts import dimensions, fit, strata
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior, fit_prior
from midpoint.analyst.counterparts.rates import Counted
from midpoint.audit.attackers.auc import area
from midpoint.data import Ratings
from midpoint.protocol import LearningProtocol, Population
from tests.support.people.position_world import QUICK, Float, World, draw_people, make_truth


def test_the_prior_keeps_up_with_the_rates(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control is the prior that was learned beside the rates: it lags behind them."""
    priors: list[Prior] = []

    def watched(people: People, model: Model, prior: Prior, *how: Any) -> Prior:
        found = fit_prior(people, model, prior, *how)
        priors[:] = prior, found, fit_prior(people, model, found, *how)
        return found

    monkeypatch.setattr(strata, "fit_prior", watched)
    monkeypatch.setattr(dimensions, "STRATA", 1)
    fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    beside, final, further = (prior.mean for prior in priors)
    assert np.abs(further - final).max() < 0.04
    assert np.abs(further - beside).max() > 0.05


def test_rates_know_all_ratings_of_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions are learned from thinned ratings, and the panel's reports show the others, too.

    The attacker learns what sets the panel's categories apart under their own disclosure. The
    control are rates from thinned ratings alone.
    """
    people, others = (draw_people(*_sparse_world(), np.arange(n) % 2, n) for n in (600, 2000))
    base = QUICK.fit(people, "kind")
    known = _learned_from_the_panel(base, people, others)
    monkeypatch.setattr(fit, "counted_of_everyone", _thinned_alone)
    assert _learned_from_the_panel(base, people, others) > known + 0.03


def _sparse_world() -> tuple[Model, Prior]:
    """Make 500 items that few people rate, with rates that differ by category."""
    (model, prior), draws = make_truth(500), np.random.default_rng(5)
    rate = draws.normal(-2.6, 0.9, (500, 1)) + 0.5 * draws.normal(size=(500, 2))
    return model._replace(rate=rate, selection=model.selection * [1.0, 0.6]), prior


def _thinned_alone(_: ItemProfiles, people: People, thin: People) -> Counted:
    return Counted(thin.counts(500), np.ones(len(people.sizes)))


def _learned_from_the_panel(base: ItemProfiles, people: Ratings, others: Ratings) -> float:
    """Return the AUC of items weighed by how much oftener one category of the panel reveals them.

    Each weight is over the variance of an item.
    """
    learned = fit_positions(base, people, selection_factors=2, taste_factors=2, spread=False)
    how = LearningProtocol("cmpss")
    disclosure = how.disclose(learned)

    def revealed(ratings: Ratings) -> tuple[Float, NDArray[np.intp]]:
        category = ratings.feature("kind").codes.astype(np.intp)
        given = Population(ratings.user, ratings.item, ratings.value, category)
        sent = how.report(disclosure, learned, given, np.random.default_rng(0))
        table = np.zeros((len(category), ratings.n_items))
        table[np.repeat(np.arange(len(table)), np.diff(sent.user_offsets)), sent.item] = 1
        return table, category

    (seen, theirs), (attacked, category) = revealed(people), revealed(others)
    share = seen.mean(axis=0)
    apart = seen[theirs == 1].mean(axis=0) - seen[theirs == 0].mean(axis=0)
    scores = attacked @ (apart / np.maximum(share * (1 - share), 0.02))
    return area(scores, category == 1).value
