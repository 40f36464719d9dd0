"""Logs: one JSON object a line, with nothing in it that tells a person from another."""

import asyncio
import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

EVERY = 0.2
"""Seconds between two writes of the lines about requests."""
NAMES = ("midpoint.service", "uvicorn.error")


class Requests:
    """One line for each request, written a few times a second: a write stops every thread."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note a request; method and route are ours, so they need no escape."""
        if not self._lines:
            asyncio.get_running_loop().call_later(EVERY, self.write)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._lines.append(
            f'{{"time": "{now}", "level": "info", "event": "request", "method": "{method}",'
            f' "route": "{route}", "status": {status}, "milliseconds": {1000 * seconds:.2f}}}'
        )

    def write(self) -> None:
        """Write what was noted."""
        if self._lines:
            text = "\n".join(self._lines) + "\n"
            self._lines.clear()
            (self._stream or sys.stderr).write(text)


class JsonLines(logging.Formatter):
    """Writes time, level, what happened, and the figures given as `extra={"figures": {...}}`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "figures", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(stream: TextIO = sys.stderr) -> None:
    """Send our log, and the server's, to a stream; the server's access log stays off."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name in NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
