"""What the service's model makes of one person's answers."""

from collections.abc import Mapping

from midpoint.analyst.score.evidence import Estimate
from midpoint.analyst.score.scorer import Wish
from midpoint.analyst.service.state.model import Model


def estimate(model: Model, answers: Mapping[str, int]) -> Estimate:
    """Estimate a profile."""
    profiles = model.estimates([model.sums(model.evidence(answers))])
    return Estimate(profiles.mean[0], profiles.covariance[0])


def score(model: Model, known: Estimate, top: int | None = None, margin: int = 0) -> bytes:
    """Score by a profile."""
    return model.scores(known.stacked, [Wish(top, margin)])[0]
