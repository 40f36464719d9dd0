"""Many people who report at once, through whatever happens, and what must be true afterwards."""

import hashlib
import random
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.state.acceptance import OpenRound
from midpoint.analyst.storage import Storage
from midpoint.wire import ONE, Entry, Report
from tests.support.sites.serving import JSON


@dataclass
class Crowd:
    """People whose rounds are open, with their reports, and each one's receipts."""

    reports: dict[str, bytes]
    """Each token's report."""
    receipts: dict[str, set[bytes]] = field(default_factory=dict)
    """What was acknowledged, by token."""
    refused: list[int] = field(default_factory=list)
    """Statuses of what was not acknowledged at once."""

    @classmethod
    def gather(cls, site: Site, database: str, size: int) -> "Crowd":
        """Open a round for each, and write the reports."""
        chain, draw = site.chain(), random.Random(0)  # noqa: S311
        if chain is None:
            raise RuntimeError("nothing was published")
        current = chain.entries[-1].open(Entry).disclosure
        items = site.disclosure(current).items[:9]
        tokens = [secrets.token_hex(32) for _ in range(size)]
        with Storage(database) as storage:
            for start in range(0, size, 250):
                works = [
                    OpenRound(_hashed(token), 5, current, items, only_asked=False)
                    for token in tokens[start : start + 250]
                ]
                storage.write(works)
        reports = {}
        for token in tokens:
            answers = tuple((item, draw.randint(1, 5) * ONE) for item in items)
            report = Report(id=secrets.token_hex(16), disclosure=current, round=0, answers=answers)
            reports[token] = report.raw
        return cls(reports)

    def send_all(self, url: Callable[[], str], *, threads: int = 16) -> None:
        """Send every report until it is acknowledged, however often that takes."""
        with httpx.Client(timeout=30) as client, ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda token: self._send(client, token, url), self.reports):
                pass

    def _send(self, client: httpx.Client, token: str, url: Callable[[], str]) -> None:
        headers = {**JSON, "Authorization": f"Bearer {token}"}
        for attempt in range(300):
            try:
                body = self.reports[token]
                found = client.post(f"{url()}/v1/reports", headers=headers, content=body)
            except httpx.TransportError:
                self.refused.append(0)
            else:
                if found.status_code in (200, 201):
                    self.receipts.setdefault(token, set()).add(found.content)
                    return
                self.refused.append(found.status_code)
            time.sleep(min(0.05 * (attempt + 1), 0.5))
        raise RuntimeError("a report was never acknowledged")

    def lost(self, database: str) -> list[str]:
        """Return whose acknowledged report is not kept, byte for byte and once."""
        with Storage(database) as storage:
            wrong = []
            for token in self.receipts:
                history = storage.history(_hashed(token))
                kept = [] if history is None else [one.report for one in history.reports]
                if kept != [self.reports[token]]:
                    wrong.append(token)
        return wrong


def _hashed(token: str) -> bytes:
    return hashlib.sha256(bytes.fromhex(token)).digest()
