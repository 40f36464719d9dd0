"""Where the service listens."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from midpoint.analyst.service.server import Address, listening


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
