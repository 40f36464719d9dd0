"""The analyst: learns item profiles, discloses what it must, profiles people, recommends."""

from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.counterparts.fit import fit_positions
from midpoint.analyst.disclose.chain import publish
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.disclose.scheme_choice import choose_scheme, itemwise_scheme
from midpoint.analyst.fit.choice import Allowance
from midpoint.analyst.fit.factorizer import Factorizer, Progress, Training
from midpoint.analyst.fit.fold_in import estimate_profiles, predict
from midpoint.analyst.fit.given.factors import GivenFactors
from midpoint.analyst.fit.positions import PositionModel
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.fit.tuning import Tuning, tune
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.score.evidence import (
    Estimate,
    Evidence,
    expected_loss,
    least_squares,
    posterior,
)
from midpoint.analyst.score.scorer import Scorer
from midpoint.analyst.score.weights import report_weights
from midpoint.analyst.training import train

__all__ = [
    "Allowance",
    "CategoryEstimates",
    "CategoryStatistics",
    "CollectedReports",
    "Estimate",
    "Evidence",
    "Factorizer",
    "GivenFactors",
    "ItemProfiles",
    "PositionModel",
    "Progress",
    "Provenance",
    "Scorer",
    "Training",
    "Tuning",
    "choose_scheme",
    "disclose",
    "estimate_profiles",
    "expected_loss",
    "fit_positions",
    "itemwise_scheme",
    "least_squares",
    "posterior",
    "predict",
    "prepare",
    "publish",
    "report_weights",
    "tally",
    "train",
    "tune",
]
