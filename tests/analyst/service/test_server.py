"""Where the service listens."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from midpoint.analyst import Training
from midpoint.analyst.service.http.app import ENVIRONMENT
from midpoint.analyst.service.server import Address, listening
from midpoint.analyst.storage import migrate
from tests.support.sites.serving import published, settings_of

WORKER = """
import asyncio, gc
from midpoint.analyst.service.http.app import create

async def start():
    said, asked = asyncio.Queue(), asyncio.Queue()
    asked.put_nowait({"type": "lifespan.startup"})
    life = asyncio.create_task(create()({"type": "lifespan"}, asked.get, said.put))
    print((await said.get())["type"], gc.get_freeze_count())
    asked.put_nowait({"type": "lifespan.shutdown"})
    await life

print(gc.get_freeze_count())
asyncio.run(start())
"""


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        (Address("127.0.0.1"), False),
        (Address("::1"), False),
        (Address("localhost"), False),
        (Address("0.0.0.0"), True),  # noqa: S104
        (Address("example.org"), True),
        (Address("0.0.0.0", certificate=Path("x"), key=Path("y")), False),  # noqa: S104
    ],
)
def test_listening_beyond_this_machine_without_tls_is_noticed(
    address: Address, exposed: bool
) -> None:
    assert address.is_exposed is exposed


def test_the_port_is_open_once_its_address_is_known() -> None:
    with listening(Address(port=0)) as (_, url):
        host, port = str(urlsplit(url).hostname), int(urlsplit(url).port or 0)
        socket.create_connection((host, port), timeout=60).close()
    # The control: a port that is bound, and not listened on, refuses.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(bound.getsockname(), timeout=60)


def test_a_worker_spares_what_it_began_with_from_collections(
    tmp_path: Path, trained_stars: Training
) -> None:
    """A collection of all objects would stop every request for a tenth of a second."""
    settings = settings_of(published(tmp_path / "site", trained_stars.items))
    migrate(settings.database)
    worker = subprocess.run(
        [sys.executable, "-c", WORKER],
        env=os.environ | {ENVIRONMENT: settings.to_json()},
        capture_output=True,
        text=True,
        check=True,
    )
    before, started, spared = worker.stdout.split()
    assert (before, started) == ("0", "lifespan.startup.complete")
    assert int(spared) > 10_000
