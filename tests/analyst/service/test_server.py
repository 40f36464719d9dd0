"""Where the service listens."""

from pathlib import Path

import pytest

from midpoint.analyst.service.server import Address


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
