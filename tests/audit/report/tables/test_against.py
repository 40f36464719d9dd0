from dataclasses import replace

from midpoint.audit.measure.findings import SizePoint
from midpoint.audit.report.tables.against import adversaries, sharpness, sizes
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up


def test_an_adversary_is_shown_by_its_judge_and_its_strongest_attacker() -> None:
    (shown,) = adversaries(judged(0.56, single=0.55))
    assert "panel<br><small>panel 90</small>" in shown
    assert '<span class="leaks">0.560</span>' in shown
    assert "judge:panel" in shown
    assert list(adversaries(made_up())) == []


def test_how_sharp_a_judge_is_stands_beside_whom_it_weighs_most() -> None:
    (shown,) = sharpness(judged(0.56, single=0.55))
    assert "1.2%" in shown
    assert "90% rightly" in shown
    assert "a 70%<br>lr 30%" in shown
    assert list(sharpness(made_up())) == []


def test_sizes_are_in_order_and_a_leak_is_marked() -> None:
    large = SizePoint("dmpss", 4000, 100, 0.52, 0.50, 0.54, 0.55, 0.53, None)
    small = replace(large, panel=500, value=0.6, bound=0.7)
    shown, volunteers = sizes(replace(made_up(), sizes=(large, small)))
    assert shown.index(">500<") < shown.index(">4,000<")
    assert '<span class="leaks">0.600</span>' in shown
    assert '<span class="leaks">0.520</span>' not in shown
    assert "0.700" in shown
    assert "volunteers" in volunteers
