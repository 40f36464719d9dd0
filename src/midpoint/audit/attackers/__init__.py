"""Attackers: small classes behind one interface."""

from midpoint.audit.attackers.attacker import Attacker, new_attacker, score_people
from midpoint.audit.attackers.catalogue import ATTACKERS
from midpoint.audit.attackers.learned import Family, Learned
from midpoint.audit.attackers.mechanism import ByCategory

__all__ = [
    "ATTACKERS",
    "Attacker",
    "ByCategory",
    "Family",
    "Learned",
    "new_attacker",
    "score_people",
]
