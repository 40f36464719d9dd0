"""How a service is run: everything that flags and environment say, as one frozen value."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

DAY = 24 * 60 * 60
MOST_KEPT = 8 * 2**20
"""Bytes of questions and reports kept of one pseudonym, at most, unless a setting says so."""


@dataclass(frozen=True)
class Settings:
    """What a worker gets when it starts."""

    site: str
    """The directory that `midpoint publish` wrote."""
    database: str
    """URL of the database."""
    ask: int = 20
    """Items asked about in a round."""
    only_asked: bool = False
    """Whether items that were not asked about are refused in a report."""
    grace: int = 7 * DAY
    """Seconds for which rounds under a superseded disclosure may still be answered."""
    rate: int = 120
    """Requests that one token may make in a minute, of one worker; 0 for no limit, and no
    delay of declined requests."""
    largest: int = 2**20
    """Bytes of a request's body, at most."""
    kept: int = MOST_KEPT
    """Bytes of questions and reports kept of one pseudonym, at most."""
    waiting: int = 1024
    """Requests that wait for the database in one worker, at most; more are sent away."""
    patience: float = 15.0
    """Seconds after which a waiting request is sent away."""
    witnesses: tuple[str, ...] = ()
    """Other hosts that the page may ask for the head of the list."""
    panel: bool = False
    """Whether people may join the panel."""
    log: bool = True
    """Whether every request is written to the log."""

    @property
    def root(self) -> Path:
        """The site as a path."""
        return Path(self.site)

    def to_json(self) -> str:
        """Write down for a worker process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        values = json.loads(text)
        values["witnesses"] = tuple(values["witnesses"])
        return cls(**{field.name: values[field.name] for field in fields(cls)})
