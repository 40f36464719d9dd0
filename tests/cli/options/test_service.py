import pytest

from midpoint.cli.options.service import origin
from midpoint.errors import MidpointError


@pytest.mark.parametrize("url", ["ftp://x", "https://", "https://a b", "https://a;script-src *"])
def test_a_witness_is_a_host_and_nothing_that_widens_the_policy(url: str) -> None:
    with pytest.raises(MidpointError, match="--witness"):
        origin(url)
    assert origin("https://witness.example:8443/v1/chain") == "https://witness.example:8443"
