import pytest

from midpoint.user.agent import Fate, Line
from midpoint.wire import ONE
from tests.support.people.agents import MAN, WOMAN, MakeAgent, stars
from tests.support.people.made_up import ratings
from tests.support.sites.door import Door
from tests.support.sites.tiny_analyst import TinyAnalyst

pytestmark = pytest.mark.slow


def test_the_preview_is_what_happens_and_decides_nothing(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    agent.solicit()
    mine = stars(ratings(tiny_analyst.current))
    door.seen.clear()
    lines = agent.preview(mine, MAN)
    assert agent.preview(mine, MAN) == lines
    assert {line.fate for line in lines} == {Fate.SENT, Fate.WITHHELD}
    assert agent.home.ledger.decided == frozenset()
    assert door.seen == []
    report = agent.answer(mine, MAN)
    shown = {line.item: line.sent for line in lines if line.fate is Fate.SENT}
    assert dict(report.answers) == shown
    agent.submit()
    agent.solicit()
    other = {item: 6 - value for item, value in mine.items()}
    for line in agent.preview(other, WOMAN):
        before = shown.get(line.item)
        fate = Fate.WITHHELD_BEFORE if before is None else Fate.SENT_BEFORE
        assert line == Line(line.item, round(other[line.item] * ONE), before, fate)
