"""Joining the panel: nothing raw leaves before she agrees, and leaving takes it back."""

import json

import pytest
from pydantic import ValidationError

from midpoint.errors import MidpointError
from midpoint.user.agent import Agent
from midpoint.user.agent.channel import ServiceError
from midpoint.user.agent.panel import to_share
from midpoint.wire import ONE, PanelRatings, RefusedError
from tests.support.people.agents import WOMAN, MakeAgent
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.tiny_analyst import TinyAnalyst

NAMES = {"gender": "F"}


def who_answered(agent_at: MakeAgent, door: Door) -> Agent:
    """Let a woman answer all that she is asked first."""
    agent = agent_at(door.address)
    agent.connect()
    agent.answer(dict.fromkeys(agent.solicit().items, 4.0), WOMAN)
    agent.submit()
    return agent


def sent_raw(door: Door, value: int = 5 * ONE) -> bool:
    """Tell whether a rating left as she gave it, together with her category."""
    return any(b'"gender"' in seen.raw and str(value).encode() in seen.raw for seen in door.seen)


def test_nothing_is_shared_before_she_joins_and_all_of_it_after(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """The control: the same look at the wire sees her category once she joined."""
    agent = agent_at(door.address)
    agent.connect()
    asked = agent.solicit()
    with pytest.raises(MidpointError, match="nothing to share yet"):
        agent.to_share(NAMES)
    agent.answer(dict.fromkeys(asked.items, 5.0), WOMAN)
    agent.submit()
    agent.recommend(3, WOMAN)
    shown = agent.to_share(NAMES)
    assert agent.membership().joined is None
    agent.export()
    assert not sent_raw(door)
    assert tiny_analyst.members == {}
    assert agent.join_panel(NAMES) == shown
    assert sent_raw(door)
    (kept,) = tiny_analyst.members.values()
    assert kept == shown.raw
    assert dict(shown.ratings) == dict.fromkeys(asked.items, 5 * ONE)
    assert shown.category == (("gender", "F"),)


def test_what_she_rates_later_stays_here_until_she_joins_again(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    first = agent.solicit().items
    agent.answer(dict.fromkeys(first, 4.0), WOMAN)
    agent.join_panel(NAMES)
    agent.submit()
    second = agent.solicit().items
    agent.answer(dict.fromkeys(second, 2.0), WOMAN)
    agent.submit()
    (kept,) = tiny_analyst.members.values()
    assert {item for item, _ in PanelRatings.parse(kept).ratings} == set(first)
    agent.join_panel(NAMES)
    (kept,) = tiny_analyst.members.values()
    assert {item for item, _ in PanelRatings.parse(kept).ratings} == {*first, *second}


def test_her_pseudonyms_differ_and_no_header_ties_them(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = who_answered(agent_at, door)
    agent.join_panel(NAMES)
    assert agent.home.token != agent.home.member_token
    assert tiny_analyst.accounts.keys().isdisjoint(tiny_analyst.members)
    assert list(tiny_analyst.members) == [f"Bearer {agent.home.member_token}"]


def test_leaving_erases_what_was_shared_and_nothing_else(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = who_answered(agent_at, door)
    shared = agent.join_panel(NAMES)
    member = agent.membership()
    assert member.ratings == shared == to_share(agent.inner, NAMES)
    assert "F" not in repr(member)
    exported = json.loads(agent.export())
    assert exported["panel"]["shared"] == shared.raw.decode()
    agent.leave_panel()
    assert tiny_analyst.members == {}
    assert len(tiny_analyst.accounts) == 1
    assert agent.membership().ratings is None
    assert json.loads(agent.export())["panel"] == {"open": True, "version": 1}
    assert agent.home.ratings


def test_forgetting_erases_a_member_also_where_a_backup_does_not_know_that_she_is_one(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = who_answered(agent_at, door)
    agent.join_panel(NAMES)
    agent.close()
    other = agent_at(door.address, "restored")  # the same secret, and nothing else
    other.forget()
    assert tiny_analyst.members == {}
    assert tiny_analyst.accounts == {}


def test_a_wrong_category_is_refused_without_repeating_it_and_nothing_is_sent(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    agent.answer(dict.fromkeys(agent.solicit().items, 4.0), WOMAN)
    for wrong in ({"gender": "X"}, {"age": "F"}, {}):
        with pytest.raises(MidpointError) as caught:
            agent.join_panel(wrong)
        assert "X" not in str(caught.value)
    assert tiny_analyst.members == {}


def test_a_service_that_takes_nobody_says_so(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    tiny_analyst.takes_members = False
    agent = agent_at(door.address)
    agent.connect()
    agent.answer(dict.fromkeys(agent.solicit().items, 4.0), WOMAN)
    assert not agent.membership().open
    with pytest.raises(ServiceError, match="panel_closed"):
        agent.join_panel(NAMES)


def test_a_service_that_answers_nonsense_is_refused(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    agent.connect()
    for nonsense in (b'{"joined":1,"open":true,"version":1}', b"[]", b"{}", b"nothing"):
        door.behave["/v1/panel"] = answering(plain(nonsense))
        with pytest.raises(RefusedError):
            agent.membership()


def test_what_is_shared_does_not_print() -> None:
    shared = PanelRatings(
        disclosure="0" * 64, category=(("gender", "F"),), ratings=(("a", 5 * ONE),)
    )
    assert repr(shared) == str(shared) == "<PanelRatings: 1 ratings; hidden>"
    for wrong in ({"category": ()}, {"ratings": ()}, {"ratings": (("b", 1), ("a", 1))}):
        with pytest.raises(ValidationError):
            shared.model_copy(update=wrong)
