"""The analyst: learns item profiles, says what it must, profiles people, recommends."""

from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.counterparts.fit import fit_positions, usual_selection_factors
from midpoint.analyst.counterparts.model import PositionModel
from midpoint.analyst.disclose.chain import publish
from midpoint.analyst.disclose.disclosure import (
    default_scheme,
    disclose,
    scheme_in_use,
    usual_scheme,
)
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.fit.factorizer import Factorizer, Progress, Training
from midpoint.analyst.fit.fold_in import estimate_profiles, predict
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.fit.tuning import Tuning, tune
from midpoint.analyst.score.evidence import (
    Estimate,
    Evidence,
    expected_loss,
    least_squares,
    posterior,
)
from midpoint.analyst.score.scorer import answers_of, evidence_of, private_top, score
from midpoint.analyst.score.weights import report_weights

__all__ = [
    "CategoryEstimates",
    "CategoryStatistics",
    "Estimate",
    "Evidence",
    "Factorizer",
    "ItemProfiles",
    "PositionModel",
    "Progress",
    "Provenance",
    "Training",
    "Tuning",
    "answers_of",
    "default_scheme",
    "disclose",
    "estimate_profiles",
    "evidence_of",
    "expected_loss",
    "fit_positions",
    "least_squares",
    "posterior",
    "predict",
    "prepare",
    "private_top",
    "publish",
    "report_weights",
    "scheme_in_use",
    "score",
    "tally",
    "tune",
    "usual_scheme",
    "usual_selection_factors",
]
