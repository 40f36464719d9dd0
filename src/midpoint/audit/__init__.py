"""The audit: attack the protocol, measure the leak and its price."""

from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.attackers.view import View
from midpoint.audit.contract import check_attacker
from midpoint.audit.measure.results import AuditResults, Row
from midpoint.audit.pipeline import audit
from midpoint.audit.run.plan import read_scheme
from midpoint.audit.run.processes import Progress

__all__ = [
    "ATTACKERS",
    "Attacker",
    "AuditResults",
    "Progress",
    "Row",
    "View",
    "audit",
    "check_attacker",
    "read_scheme",
]
