import pytest

from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.plan import read_scheme
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol


def test_schemes_are_read_with_their_settings() -> None:
    assert read_scheme("mpss:bits=4:alpha=0.5:estimation=plain") == LearningProtocol(
        "mpss", estimation="plain", bits=4, alpha=0.5
    )
    for text in ("mpss:bits=some", "mpss:size=3", "mpss:estimation=good", "mpss:alpha"):
        with pytest.raises(MidpointError, match="is no setting"):
            read_scheme(text)
    with pytest.raises(MidpointError, match="did you mean dmpss"):
        read_scheme("dmps")
    assert read_scheme("full") == LearningProtocol("full")
    spread = LearningProtocol("cmp", levels=5, spread=True)
    assert read_scheme("cmp:levels=5:spread=on") == spread
    assert read_scheme("cmp:spread=off") == LearningProtocol("cmp")


def test_rounds_and_devices_are_settings_of_a_scheme() -> None:
    assert read_scheme("dmpss:rounds=3") == RoundsProtocol("dmpss", rounds=3)
    assert read_scheme("dmpss:rounds=3:forgetful") == RoundsProtocol(
        "dmpss", rounds=3, device=DeviceKind.FORGETFUL
    )
    assert read_scheme("no:rounds=2:budget=5:items=40") == RoundsProtocol(
        "no", rounds=2, budget=5, items=40
    )
    with pytest.raises(MidpointError, match="say how many"):
        read_scheme("dmpss:forgetful")
    with pytest.raises(MidpointError, match="is no setting"):
        read_scheme("dmpss:rounds=3:absent-minded")
