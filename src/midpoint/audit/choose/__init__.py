"""The scheme is chosen by measurement: candidates attacked on the panel itself."""

from midpoint.audit.choose.budgets import budget_costs
from midpoint.audit.choose.candidates import protocol_of
from midpoint.audit.choose.trials import choose, sets_leak

__all__ = ["budget_costs", "choose", "protocol_of", "sets_leak"]
