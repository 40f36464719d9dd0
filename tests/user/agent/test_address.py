"""Where a service is: one spelling, encrypted, and nothing else in it."""

import pytest

from midpoint.errors import MidpointError
from midpoint.user.agent.address import address_of, directory_name


@pytest.mark.parametrize(
    "wrong",
    ["films.example", "ftp://films.example", "https://", "https://me:you@films.example",
     "https://films.example?x=1", "https://films.example/#x", "http://films.example",
     "http://127.0.0.1.films.example"],
)  # fmt: skip
def test_an_address_that_leaks_or_misleads_is_refused(wrong: str) -> None:
    with pytest.raises(MidpointError):
        address_of(wrong)


def test_one_address_in_one_spelling() -> None:
    assert address_of(" https://Films.Example:8443/a/ ") == "https://films.example:8443/a"
    for here in ("http://localhost:8000/", "http://127.0.0.1:1", "http://[::1]:2"):
        assert address_of(here) == here.rstrip("/")
    assert address_of("http://films.example", plain_http=True) == "http://films.example"
    names = {directory_name(one) for one in ("https://a", "http://a", "https://a/b", "https://a:1")}
    assert len(names) == 4
