from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.user import Pin
from tests.support.sites.published import PINS


def test_a_pin_survives_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "pin.json"
    assert Pin.load(path) is None
    PINS[2].save(path)
    assert Pin.load(path) == PINS[2]
    assert Pin.load(path) != PINS[2].model_copy(update={"sequence": 1})
    good = path.read_bytes()
    wrong = (good[:-9], good.replace(b'"sequence":2', b'"sequence":"2"'), b"{}", b"[]")
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(MidpointError, match="damaged"):
            Pin.load(path)
