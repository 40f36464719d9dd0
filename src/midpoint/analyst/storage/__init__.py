"""What the service keeps of people: pseudonyms, the questions they were asked, their reports."""

from midpoint.analyst.storage.records import Decision, History, KeptReport, KeptRound, Work
from midpoint.analyst.storage.store import Storage, UnavailableError
from midpoint.analyst.storage.summary import Summary, Sums
from midpoint.analyst.storage.upgrade import migrate

__all__ = [
    "Decision",
    "History",
    "KeptReport",
    "KeptRound",
    "Storage",
    "Summary",
    "Sums",
    "UnavailableError",
    "Work",
    "migrate",
]
