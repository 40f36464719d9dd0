"""The joint leak, and what counterparts leave of it, as a researcher would measure it.

Categories differ in how far tastes and selection factors spread, not in what they rate or how on
average: every item on its own is blind already, so that the discrete midpoint has nothing to do,
and a quadratic attacker still reads who is who.
"""

import numpy as np
import pytest

from midpoint.analyst import Factorizer
from midpoint.audit import AuditResults, audit
from midpoint.data import Ratings, Scale

M, D = 60, 2
ATTACKS = ("adaptive-quadratic-profile",)


def spreading(people: int, seed: int, *, apart: float = 1.8) -> Ratings:
    """Draw people whose positions spread by category: `apart` wider in one direction, as narrow in
    the other; 1 makes categories alike."""
    rng = np.random.default_rng(seed)
    category = np.arange(people) % 2
    spread = np.array([[1.0, 1.0], [apart, 1 / apart]])
    t, x = (rng.normal(size=(people, D)) * spread[c] for c in (category, 1 - category))
    activity = rng.normal(size=people) * np.array([0.3, 0.3 * apart**1.5])[category]
    selection, taste = rng.normal(size=(M, D)) * 0.7, rng.normal(size=(M, D)) * 0.5
    logit = rng.normal(-1.6, 0.6, M) + activity[:, None] + t @ selection.T
    user, item = np.nonzero(rng.random((people, M)) < 1 / (1 + np.exp(-logit)))
    exact = 3 + 0.3 * rng.normal(size=M)[item] + (x @ taste.T)[user, item]
    value = np.clip(np.rint(exact + rng.normal(size=len(user)) * 0.7), 1, 5)
    rated = np.unique(user)
    gender = {str(k): "FM"[category[k]] for k in rated.tolist()}
    return Ratings.from_columns(
        user, item, value, scale=Scale.stars(1, 5), features={"gender": gender}
    )


def audited(ratings: Ratings, *schemes: str) -> AuditResults:
    learner = Factorizer(dimension=4, iterations=6)
    return audit(ratings, "gender", schemes, ATTACKS, folds=2, factorizer=learner)


def area(found: AuditResults, scheme: str) -> float:
    row = found.get(scheme, "auc", ATTACKS[0])
    assert row is not None
    return row.value


@pytest.mark.slow
def test_spreads_tell_under_the_discrete_midpoint_and_hardly_with_counterparts() -> None:
    found = audited(spreading(1400, 1), "dmpss", "cmpss")
    raw, before, after = (area(found, scheme) - 0.5 for scheme in ("no", "dmpss", "cmpss"))
    assert raw > 0.15
    assert not found.bands["dmpss"].holds(0.5 + before)
    assert before > 0.12
    assert abs(after) < before / 2
    withheld, error = (
        {scheme: row.value for scheme in ("no", "cmpss") if (row := found.get(scheme, metric))}
        for metric in ("withheld", "rmse_local")
    )
    assert 0 < withheld["cmpss"] < 0.4  # it is not by telling nothing
    assert error["cmpss"] < 1.05 * error["no"]


@pytest.mark.slow
def test_where_categories_are_alike_there_is_nothing_to_read() -> None:
    """The control of the control: the attacker does not read what is not there."""
    found = audited(spreading(1400, 1, apart=1.0), "dmpss")
    for scheme in ("no", "dmpss"):
        assert found.bands[scheme].holds(area(found, scheme))
