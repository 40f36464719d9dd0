"""The user: everything that ever touches her private feature."""

from midpoint.user.check import Accepted, check_disclosure, check_numbers, verify_certificate
from midpoint.user.coins import PURPOSES, toss
from midpoint.user.correction import Recommendation, correct
from midpoint.user.decisions import decide, require_legal
from midpoint.user.discrete import output_distribution
from midpoint.user.ledger import Decision, Ledger
from midpoint.user.obfuscation import Obfuscated, obfuscate
from midpoint.user.parameters import Parameters
from midpoint.user.pin import Pin, Witness
from midpoint.user.private import DeviceSecret, PrivateCategory

__all__ = [
    "PURPOSES",
    "Accepted",
    "Decision",
    "DeviceSecret",
    "Ledger",
    "Obfuscated",
    "Parameters",
    "Pin",
    "PrivateCategory",
    "Recommendation",
    "Witness",
    "check_disclosure",
    "check_numbers",
    "correct",
    "decide",
    "obfuscate",
    "output_distribution",
    "require_legal",
    "toss",
    "verify_certificate",
]
