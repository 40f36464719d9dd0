import pytest
from pydantic import ValidationError

from midpoint.wire import (
    Entry,
)
from tests.support.sites.messages import CERTIFICATE, ZERO


def test_intervals_and_first_entries_are_checked() -> None:
    with pytest.raises(ValidationError, match="interval"):
        CERTIFICATE.model_copy(update={"auc": 540_000})
    for sequence, previous in ((0, ZERO), (1, None)):
        with pytest.raises(ValidationError, match="first entry"):
            Entry(sequence=sequence, previous=previous, disclosure=ZERO, time=0, key=ZERO)
