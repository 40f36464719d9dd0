"""Run the service: check and migrate once, then one worker or several, until stopped."""

import ipaddress
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import multiprocess

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service import logs
from midpoint.analyst.service.http.app import ENVIRONMENT
from midpoint.analyst.service.http.http_limits import BoundedHeads
from midpoint.analyst.service.metrics import DIRECTORY
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.service.state.publication import load
from midpoint.analyst.storage import migrate
from midpoint.errors import MidpointError

DRAIN = 30
"""Seconds in which requests may end once the service is stopped."""
BACKLOG = 2048
FACTORY = "midpoint.analyst.service.http.app:create"


@dataclass(frozen=True)
class Address:
    """Where and how a service listens."""

    host: str = "127.0.0.1"
    """Address."""
    port: int = 8000
    """Port; 0 lets the system choose."""
    workers: int = 1
    """Processes."""
    certificate: Path | None = None
    """TLS certificate chain; without it the service speaks plain HTTP."""
    key: Path | None = None
    """The certificate's key."""

    @property
    def is_exposed(self) -> bool:
        """Whether others on the network can listen in."""
        try:
            local = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            local = self.host == "localhost"
        return not local and self.certificate is None


def prepare(settings: Settings) -> None:
    """Fail now, in one sentence, rather than in every worker: read the site, migrate once."""
    load(Site(settings.root), settings.ask)
    migrate(settings.database)


@contextmanager
def listening(address: Address) -> Iterator[tuple[socket.socket, str]]:
    """Listen on the port; yield the socket and its URL.

    A client that connects before the server has started waits in the backlog; none is refused.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((address.host, address.port))
            opened.listen(BACKLOG)
        except OSError as error:
            raise MidpointError(
                f"cannot listen on {address.host} port {address.port} ({error.strerror}); name"
                " another one with --host and --port"
            ) from error
        opened.set_inheritable(True)
        name = f"[{address.host}]" if ":" in address.host else address.host
        scheme = "https" if address.certificate else "http"
        yield opened, f"{scheme}://{name}:{opened.getsockname()[1]}"


def configured(app: ASGIApp | str, address: Address) -> uvicorn.Config:
    """Return the settings of the server, for tests and `run` alike."""
    return uvicorn.Config(
        app,
        http=BoundedHeads,
        factory=isinstance(app, str),
        workers=address.workers,
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody's address is of use here
        ws="none",
        timeout_keep_alive=30,
        timeout_worker_healthcheck=30,
        timeout_graceful_shutdown=DRAIN,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )


class Worker(multiprocess.Process):
    """A worker whose end its parent hears of at once, also while it waits for the worker's answer.

    As long as the parent holds the worker's end of their pipe open, it waits for a dead one for as
    long as for a slow one: half a minute.
    """

    def start(self) -> None:
        """Start the worker, which then has its end of the pipe to itself."""
        super().start()
        self.child_conn.close()


def _leave(_number: int, _frame: object) -> None:
    """End as one that was asked to, so that what was opened is closed."""
    raise SystemExit(0)


def run(settings: Settings, address: Address, opened: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; requests that came in are answered first."""
    logs.set_up()
    os.environ[ENVIRONMENT] = settings.to_json()
    configuration = configured(FACTORY, address)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)  # the server hands them on once it is done
    if address.workers == 1:
        uvicorn.Server(configuration).run([opened])
        return
    with tempfile.TemporaryDirectory(prefix="midpoint-metrics-") as directory:
        os.environ[DIRECTORY] = directory
        multiprocess.Process = Worker  # type: ignore[misc] # by this name workers are made
        multiprocess.Multiprocess(configuration, sockets=[opened]).run()
