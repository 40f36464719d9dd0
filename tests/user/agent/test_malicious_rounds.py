"""A malicious analyst in later rounds: questions, scores and receipts that are lies.

Every test has its control: the honest service behind the same door is accepted before and after.
"""

import json

import pytest

from midpoint.errors import MidpointError
from midpoint.user import AsyncAgent, DeviceSecret
from midpoint.user.agent import Agent, AwayError, Channel, Home, Patience, UnusableError
from midpoint.wire import (
    Receipt,
    Refusal,
    RefusedError,
    Report,
    Solicitation,
)
from tests.support.people.agents import QUICK, WOMAN, MakeAgent, go_through_a_round, kept
from tests.support.sites.door import Behave, Door, answering, bomb, dripping, plain
from tests.support.sites.lies import (
    one_item,
    say,
    show_newer,
)
from tests.support.sites.upstream import Upstream

pytestmark = pytest.mark.slow


def test_changed_numbers_for_an_answered_item(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    """A new disclosure is fine; asking an answered item again under its new numbers is not."""
    agent = agent_at(door.address)
    go_through_a_round(agent)
    answered, value = Report.parse(agent.home.ledger.rounds[0].report.encode()).answers[0]
    where = up.shown.items.index(answered)
    crafted = one_item(up.shown, where)
    show_newer(door, up, crafted)
    agent.connect()
    again = Solicitation(disclosure=crafted.digest, round=99, items=(answered,), open=False)
    say(door, "/v1/solicitation", again.raw)
    agent.solicit()
    door.seen.clear()
    before = kept(agent)
    for try_it in (agent.preview, agent.answer):
        with pytest.raises(RefusedError) as refused:
            try_it({answered: 1.0}, WOMAN)
        assert refused.value.code is Refusal.NUMBERS_CHANGED
    assert agent.submit() is None
    assert door.seen == []
    assert kept(agent)["ledger"] == before["ledger"]

    # control: the same question under the numbers that were answered
    other = one_item(up.shown, (where + 1) % len(up.shown.items))
    show_newer(door, up, crafted, other)
    agent.connect()
    fine = Solicitation(disclosure=other.digest, round=99, items=(answered,), open=False)
    say(door, "/v1/solicitation", fine.raw)
    agent.solicit()
    assert agent.answer({answered: 1.0}, WOMAN).answers == ((answered, value),)


def test_a_question_about_another_disclosure_or_item_is_refused(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    for field, value, code in (
        ("disclosure", "0" * 64, Refusal.WRONG_DIGEST),
        ("items", ("no such item",), Refusal.UNKNOWN_ITEM),
    ):
        honest = Solicitation(disclosure=up.shown.digest, round=0, items=(), open=True)
        false = honest.model_copy(update={field: value})
        say(door, "/v1/solicitation", false.raw)
        agent.solicit()
        with pytest.raises(RefusedError) as refused:
            agent.answer({}, WOMAN)
        assert refused.value.code is code
    assert agent.home.unsent == ()
    door.honest()
    go_through_a_round(agent)


def test_a_round_that_comes_back_with_other_items_is_refused(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    go_through_a_round(agent)
    number = agent.home.ledger.rounds[0].round
    items = up.shown.items[-2:]
    other = Solicitation(disclosure=up.shown.digest, round=number, items=items, open=True)
    say(door, "/v1/solicitation", other.raw)
    agent.solicit()
    with pytest.raises(RefusedError) as refused:
        agent.answer({}, WOMAN)
    assert refused.value.code is Refusal.ROUND_CHANGED


def ask_again_and_again(agent: Agent, door: Door, up: Upstream, times: int) -> set[int | None]:
    """Ask about one item in so many rounds, with another rating each time; return all answers.

    It is the item that she withholds most often, so that new coins show.
    """
    reveal = [row[0] for row in up.shown.reveal or ()]
    item = up.shown.items[reveal.index(min(reveal))]
    agent.connect()
    heard: set[int | None] = set()
    for number in range(times):
        asked = Solicitation(disclosure=up.shown.digest, round=number, items=(item,), open=False)
        say(door, "/v1/solicitation", asked.raw)
        agent.solicit()
        heard.add(dict(agent.answer({item: 1.0 + number % 5}, WOMAN).answers).get(item))
        agent.home.settle(number)
    return heard


def test_asking_the_same_item_again_and_again_gives_one_answer(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    assert len(ask_again_and_again(agent_at(door.address), door, up, 10)) == 1


@pytest.mark.slow
def test_asking_a_thousand_times_gives_one_answer(service: Upstream) -> None:
    door = Door(service.port)
    agent = Agent.in_memory(door.address)
    assert len(ask_again_and_again(agent, door, service, 1000)) == 1
    door.stop()


def test_new_coins_each_time_would_leak(up: Upstream, door: Door) -> None:
    """Control: somebody who starts over each time, with new coins, gives different answers."""
    heard: set[int | None] = set()
    for number in range(12):
        home = Home.in_memory(DeviceSecret(bytes([number]) * 32))
        agent = Agent(AsyncAgent(door.address, home))
        heard |= ask_again_and_again(agent, door, up, 1)
    assert len(heard) > 1


def test_false_scores_are_refused(up: Upstream, door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    go_through_a_round(agent)
    for items, code in (("no such item",), Refusal.UNKNOWN_ITEM), (("b", "a"), Refusal.WRONG_SHAPE):
        ones = [1] * len(items)
        sent = {"disclosure": up.shown.digest, "items": items, "score": ones, "deviation": ones}
        say(door, "/v1/scores", json.dumps(sent | {"version": 1}).encode())
        with pytest.raises(RefusedError) as refused:
            agent.recommend(3, WOMAN)
        assert refused.value.code is code
    door.honest()
    assert len(agent.recommend(3, WOMAN)) == 3


def test_a_receipt_for_another_report_settles_nothing(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    agent.connect()
    asked = agent.solicit()
    report = agent.answer(dict.fromkeys(asked.items, 3.0), WOMAN)
    say(door, "/v1/reports", Receipt(report="0" * 64, answers=1).raw)
    with pytest.raises(RefusedError):
        agent.submit()
    assert agent.home.unsent == (report.raw.decode(),)
    door.honest()
    receipt = agent.submit()
    assert receipt is not None
    assert receipt.report == report.digest


BROKEN: dict[str, tuple[Behave, type[MidpointError]]] = {
    "drips": (dripping(plain(b" " * 500), 0.02), AwayError),
    "cut": (answering(plain(b'{"entries":[]}')[:-3]), AwayError),
    "bomb": (
        answering(plain(bomb(2**25), 200, "Content-Encoding: gzip")),
        RefusedError,
    ),
    "elsewhere": (answering(plain(b"", 307, "Location: http://127.0.0.1:9/")), UnusableError),
    "a web page": (answering(plain(b"<html>sign in here</html>")), RefusedError),
    "nothing": (answering(b""), AwayError),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_stops_the_agent_and_loses_nothing(
    name: str, up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    behave, error = BROKEN[name]
    agent = agent_at(door.address)
    patient, brief = Channel(QUICK), Channel(Patience(attempt=0.25, tries=2, first_wait=0.01))
    asked = up.shown.items[:2]
    agent.connect()
    agent.solicit()
    report = agent.answer(dict.fromkeys(asked, 4.0), WOMAN)
    before = kept(agent)

    agent.inner._channel = brief if name == "drips" else patient
    door.behave["/v1/reports"] = behave
    with pytest.raises(error):
        agent.submit()
    assert agent.home.unsent == (report.raw.decode(),)
    door.honest()
    agent.inner._channel = patient
    agent.submit()
    door.seen.clear()
    agent.inner._channel = brief if name == "drips" else patient
    door.behave["/v1/chain"] = behave
    with pytest.raises(error):
        agent.connect()
    assert door.secrets_sent == []
    assert kept(agent)["ledger"] == before["ledger"]
    assert kept(agent)["pin"] == before["pin"]

    door.honest()
    agent.inner._channel = patient
    agent.connect()
    assert agent.recommend(2, WOMAN)
