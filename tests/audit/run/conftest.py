"""One fold of an audit of a few simulated people, and what was learned for it."""

import pytest

from midpoint.audit.run.folds import FoldData, FoldProfiles, learn
from midpoint.data import Simulation
from tests.support.audits.small_audit import PLAN


@pytest.fixture(scope="module")
def fold(tiny: Simulation) -> FoldData:
    return FoldData.of(tiny.ratings, PLAN, 0)


@pytest.fixture(scope="module")
def profiles(fold: FoldData) -> FoldProfiles:
    return learn(fold)
