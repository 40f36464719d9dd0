"""What an audit is asked for beyond schemes and attackers."""

import pytest

from midpoint.analyst import Allowance
from midpoint.audit.setting import AuditSetting
from midpoint.errors import MidpointError


def test_sizes_go_along_both_curves_and_begin_with_the_main_ones() -> None:
    setting = AuditSetting(panel=(500, 0.5), outsiders=(20, None))
    assert setting.sizes() == [(0.5, None), (500, None), (0.5, 20)]
    assert AuditSetting(panel=4000).sizes() == [(4000, None)]
    assert AuditSetting().sizes() == [(None, None)]


def test_no_size_at_all_is_refused() -> None:
    with pytest.raises(MidpointError, match="name one size of the panel at least"):
        AuditSetting(outsiders=()).sizes()


def test_what_was_chosen_is_named_and_the_rest_is_nothing() -> None:
    assert not any(AuditSetting(panel=[None], paper=True).chosen().values())
    chosen = AuditSetting(panel=300, curves=["bits"], rounds=2).chosen()
    assert chosen["panel"] == [300]
    assert (chosen["curves"], chosen["rounds"]) == (("bits",), 2)
    assert "paper" not in chosen
    assert AuditSetting(allow=Allowance(share=1)).chosen()["allow"] == Allowance(share=1)
