"""What the service keeps of people: pseudonyms, questions and reports; and apart, its panel."""

from midpoint.analyst.storage.records import Decision, History, KeptReport, KeptRound, Member, Work
from midpoint.analyst.storage.store import Storage, UnavailableError
from midpoint.analyst.storage.summary import Summary, Sums
from midpoint.analyst.storage.upgrade import migrate

__all__ = [
    "Decision",
    "History",
    "KeptReport",
    "KeptRound",
    "Member",
    "Storage",
    "Summary",
    "Sums",
    "UnavailableError",
    "Work",
    "migrate",
]
