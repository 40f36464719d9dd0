"""The audit: attack the protocol, measure the leak and its price.

The package can be called: `midpoint.audit(...)` is `midpoint.audit.audit(...)`.
"""

import sys
from types import ModuleType
from typing import Any

from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.attackers.view import View
from midpoint.audit.contract import check_attacker
from midpoint.audit.measure.findings import Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.pipeline import audit
from midpoint.audit.run.plan import read_scheme
from midpoint.audit.run.processes import Progress
from midpoint.audit.setting import AuditSetting
from midpoint.extras import explained

__all__ = [
    "ATTACKERS",
    "Attacker",
    "AuditResults",
    "AuditSetting",
    "Progress",
    "Row",
    "View",
    "audit",
    "check_attacker",
    "read_scheme",
]


class _CallableModule(ModuleType):
    """A module that runs its main function, whichever of the two somebody imported first."""

    def __call__(self, *arguments: Any, **settings: Any) -> AuditResults:
        try:
            return audit(*arguments, **settings)
        except ModuleNotFoundError as error:  # attackers import their libraries when they begin
            raise explained("audit", error) from error


sys.modules[__name__].__class__ = _CallableModule
