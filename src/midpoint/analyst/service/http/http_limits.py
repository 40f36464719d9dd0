"""Bounds on what the server does for a client before and after any of ours runs."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 2**16
"""Bytes of a request's first line and headers, at most."""
SLOWEST_HEAD = 20.0
"""Seconds in which they must arrive."""
SLOWEST_READER = 60.0
"""Seconds in which a client must take some of what waits for it."""
MOST_CONNECTIONS = 4096
"""Connections that one worker holds, at most; a further one is closed unread."""


class BoundedHeads(HttpToolsProtocol):
    """Closes a connection whose request does not come to its headers' end, soon and shortly.

    Or whose client does not take the response: its bytes would be held for as long as it likes.
    """

    _in_head = True
    _size = 0
    _timer: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        self._stop_reading()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes before the headers end."""
        super().data_received(data)
        if self._in_head:
            self._size += len(data)
            if self._size > LARGEST_HEAD:
                self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to wait for the headers of a further request."""
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Leave the rest, the body, to its reader."""
        self._in_head, self._size = False, 0
        self._stop_waiting()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read; closing would wait for it as well."""
        super().pause_writing()
        self._stop_reading()
        self._reading = self.loop.call_later(SLOWEST_READER, self.transport.abort)

    def resume_writing(self) -> None:
        """Wait no more: it reads."""
        self._stop_reading()
        super().resume_writing()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _await_head(self) -> None:
        self._stop_waiting()
        self._in_head = True
        self._timer = self.loop.call_later(SLOWEST_HEAD, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
