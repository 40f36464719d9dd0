from typing import Any

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles, fit_positions
from midpoint.analyst.counterparts import dimensions, strata
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior, fit_prior
from tests.support.people.position_world import World


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
    assert np.abs(further - final).max() < 0.02
    assert np.abs(further - beside).max() > 0.04
