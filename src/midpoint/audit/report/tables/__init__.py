"""The tables of the report, as HTML."""

from midpoint.audit.report.tables.accuracy import costs, curves, lists
from midpoint.audit.report.tables.against import adversaries, members, sharpness, sizes
from midpoint.audit.report.tables.attackers import attackers
from midpoint.audit.report.tables.background import assumed, data, time
from midpoint.audit.report.tables.latex import citation, latex
from midpoint.audit.report.tables.privacy import attacks, per_fold, rounds, single_categories

__all__ = [
    "adversaries",
    "assumed",
    "attackers",
    "attacks",
    "citation",
    "costs",
    "curves",
    "data",
    "latex",
    "lists",
    "members",
    "per_fold",
    "rounds",
    "sharpness",
    "single_categories",
    "sizes",
    "time",
]
