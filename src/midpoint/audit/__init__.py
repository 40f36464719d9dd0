"""The audit: attack the protocol, measure the leak and its price."""

from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.plan import read_scheme
from midpoint.audit.results import AuditResults, Row
from midpoint.audit.run import Progress, audit
from midpoint.audit.view import View

__all__ = [
    "ATTACKERS",
    "Attacker",
    "AuditResults",
    "Progress",
    "Row",
    "View",
    "audit",
    "read_scheme",
]
