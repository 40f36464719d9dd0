"""The analyst: learns item profiles, says what it must, profiles people, recommends."""

from midpoint.analyst.estimate import estimate_profiles, predict
from midpoint.analyst.estimates import CategoryEstimates, estimate
from midpoint.analyst.factorize import Factorizer, Progress, Training
from midpoint.analyst.profiles import ItemProfiles, Provenance
from midpoint.analyst.statistics import CategoryStatistics, tally
from midpoint.analyst.tune import Tuning, tune

__all__ = [
    "CategoryEstimates",
    "CategoryStatistics",
    "Factorizer",
    "ItemProfiles",
    "Progress",
    "Provenance",
    "Training",
    "Tuning",
    "estimate",
    "estimate_profiles",
    "predict",
    "tally",
    "tune",
]
