"""The audit: attack the protocol, measure the leak and its price."""

from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.curves import audit_curves
from midpoint.audit.plan import read_scheme
from midpoint.audit.processes import Progress
from midpoint.audit.results import AuditResults, Row
from midpoint.audit.run import audit
from midpoint.audit.testing import check_attacker
from midpoint.audit.transcript_results import TranscriptResults
from midpoint.audit.transcripts import audit_transcripts
from midpoint.audit.view import View

__all__ = [
    "ATTACKERS",
    "Attacker",
    "AuditResults",
    "Progress",
    "Row",
    "TranscriptResults",
    "View",
    "audit",
    "audit_curves",
    "audit_transcripts",
    "check_attacker",
    "read_scheme",
]
