"""The analyst: learns item profiles, says what it must, profiles people, recommends."""

from midpoint.analyst.disclosing import default_scheme, disclose, scheme_in_use, usual_scheme
from midpoint.analyst.estimates import CategoryEstimates
from midpoint.analyst.evidence import (
    Estimate,
    Evidence,
    expected_loss,
    least_squares,
    posterior,
)
from midpoint.analyst.factorize import Factorizer, Progress, Training
from midpoint.analyst.new_users import estimate_profiles, predict
from midpoint.analyst.place_columns import prepare
from midpoint.analyst.places import Places
from midpoint.analyst.placing import place, usual_habits
from midpoint.analyst.profiles import ItemProfiles, Provenance
from midpoint.analyst.publishing import publish
from midpoint.analyst.recommend import answers_of, evidence_of, private_top, score
from midpoint.analyst.statistics import CategoryStatistics, tally
from midpoint.analyst.trust import trust
from midpoint.analyst.tuning import Tuning, tune

__all__ = [
    "CategoryEstimates",
    "CategoryStatistics",
    "Estimate",
    "Evidence",
    "Factorizer",
    "ItemProfiles",
    "Places",
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
    "least_squares",
    "place",
    "posterior",
    "predict",
    "prepare",
    "private_top",
    "publish",
    "scheme_in_use",
    "score",
    "tally",
    "trust",
    "tune",
    "usual_habits",
    "usual_scheme",
]
