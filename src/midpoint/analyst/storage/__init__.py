"""What the service keeps of people: pseudonyms, the questions they were asked, their reports."""

from midpoint.analyst.storage.migrating import migrate
from midpoint.analyst.storage.records import Decision, History, KeptReport, KeptRound, Work
from midpoint.analyst.storage.store import Storage, UnavailableError

__all__ = [
    "Decision",
    "History",
    "KeptReport",
    "KeptRound",
    "Storage",
    "UnavailableError",
    "Work",
    "migrate",
]
