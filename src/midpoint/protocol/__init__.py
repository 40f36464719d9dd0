"""Learning protocols: disclosure, obfuscation and estimator put together."""

from midpoint.protocol.accuracy import Loss, Setting, more_accurate, worst_case_loss
from midpoint.protocol.contract import check_protocol
from midpoint.protocol.disclosure_size import (
    bits_per_item,
    derive,
    discloses_at_least_as_much,
    discloses_strictly_more,
    row_bits,
)
from midpoint.protocol.full import FullDisclosure
from midpoint.protocol.learning import PROTOCOLS, LearningProtocol
from midpoint.protocol.obfuscation import obfuscate_population
from midpoint.protocol.population import Population, Reports, local_correction, squared_errors
from midpoint.protocol.positions import adjust_population
from midpoint.protocol.statement import STATEMENTS, Statement, state

__all__ = [
    "PROTOCOLS",
    "STATEMENTS",
    "FullDisclosure",
    "LearningProtocol",
    "Loss",
    "Population",
    "Reports",
    "Setting",
    "Statement",
    "adjust_population",
    "bits_per_item",
    "check_protocol",
    "derive",
    "discloses_at_least_as_much",
    "discloses_strictly_more",
    "local_correction",
    "more_accurate",
    "obfuscate_population",
    "row_bits",
    "squared_errors",
    "state",
    "worst_case_loss",
]
