"""What an audit tries is named between commas."""

import pytest

from midpoint.analyst import Allowance
from midpoint.cli.options.auditing import AuditOptions


@pytest.mark.parametrize(
    ("text", "names"),
    [(None, None), ("dmpss", ["dmpss"]), (" no, mpss:alpha=0.5 ,", ["no", "mpss:alpha=0.5"])],
)
def test_names_are_separated_by_commas(text: str | None, names: list[str] | None) -> None:
    options = AuditOptions(schemes=text, attacks=text, curves=text)
    assert options.scheme_names() == names
    assert options.attack_names() == names
    assert list(options.setting().curves) == (names or [])  # no curve is drawn unless it is named


def test_what_protection_may_cost_is_asked_for_as_in_training() -> None:
    assert AuditOptions().setting().allow == Allowance()
    assert AuditOptions(cost=3, share=1).setting().allow == Allowance(0.03, 1)
