"""The user's walk when something fails: nothing is lost, and nothing is sent twice."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from midpoint.user import (
    Pin,
)
from midpoint.user.agent import Agent, AwayError, Channel, Patience, ServiceError
from midpoint.wire import ONE, Refusal, RefusedError, Solicitation
from tests.support.people.agents import WOMAN, MakeAgent, decide_only, directory_of
from tests.support.people.made_up import AGE, GENDER, STRANGER, disclosure
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.tiny_analyst import TinyAnalyst
from tests.support.sites.upstream import running_service

pytestmark = pytest.mark.slow


def test_a_decided_report_is_sent_after_a_restart_before_anything_else(
    door: Door, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    agent.close()
    door.seen.clear()
    again = agent_at(door.address)
    again.connect()
    assert door.lines[0] == "POST /v1/reports HTTP/1.1"
    assert door.seen[0].body == report.raw
    assert again.home.unsent == ()
    again.close()
    door.seen.clear()
    agent_at(door.address).connect()
    assert "POST /v1/reports HTTP/1.1" not in door.lines


def test_a_lost_answer_never_makes_a_second_report(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """The service keeps the report and its answer is lost, again and again, over restarts."""

    def keep_and_be_silent(body: bytes) -> bytes:
        return body[:5]

    for _ in range(3):
        agent = agent_at(door.address)
        door.change["/v1/reports"] = keep_and_be_silent
        if not agent.home.unsent:
            decide_only(agent)
        with pytest.raises((AwayError, RefusedError)):
            agent.submit()
        agent.close()
    door.honest()
    agent_at(door.address).connect()
    sent = {one.body for one in door.seen if one.path == "/v1/reports"}
    assert len(sent) == 1
    (account,) = tiny_analyst.accounts.values()
    assert len(account.reports) == 1


FAULTS: dict[str, Callable[[Door], None]] = {
    "fine": Door.honest,
    "dead": lambda door: door.behave.update({"*": answering(b"")}),
    "busy": lambda door: door.behave.update({"*": answering(plain(b"", 503))}),
    "kept, answer lost": lambda door: door.change.update({"*": lambda _: b""}),
    "kept, answer cut": lambda door: door.change.update({"*": lambda body: body[: len(body) // 2]}),
    "no more rounds": lambda door: door.behave.update({"/v1/solicitation": answering(b"")}),
}


@pytest.mark.slow
@settings(max_examples=8)
@given(st.lists(st.sampled_from([*FAULTS]), min_size=1, max_size=8), st.data())
def test_whatever_fails_each_round_has_one_report(faults: list[str], data: st.DataObject) -> None:
    """Faults at every step, and the program starts again each time: nothing is sent twice."""
    analyst = TinyAnalyst()
    door = Door(analyst.port)
    brief = Channel(Patience(attempt=10, tries=2, first_wait=0.001))
    with TemporaryDirectory() as root:
        for fault in [*faults, "fine"]:
            with Agent.open(door.address, Path(root), None, brief) as agent:
                with suppress(MidpointError):
                    agent.connect()
                    asked = agent.solicit()
                    FAULTS[fault](door)
                    stars = data.draw(st.integers(1, 5))
                    agent.answer(dict.fromkeys(asked.items, float(stars)), WOMAN)
                    agent.submit()
                door.honest()
        with Agent.open(door.address, Path(root), None, brief) as agent:
            agent.connect()
            decided = {one.round: one.report.encode() for one in agent.home.ledger.rounds}
    (account,) = analyst.accounts.values()
    assert {number: one.raw for number, one in account.reports.items()} == decided
    assert {one.body for one in door.seen if one.path == "/v1/reports"} == {*decided.values()}
    assert len(decided) == len(faults) + 1
    door.stop()
    analyst.stop()


def test_away_loses_nothing(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    door.behave["*"] = answering(b"")
    for step in (agent.submit, agent.connect, agent.export):
        with pytest.raises(AwayError, match="nothing is lost"):
            step()
    assert agent.home.unsent == (report.raw.decode(),)
    door.honest()
    receipt = agent.submit()
    assert receipt is not None
    assert receipt.report == report.digest


@pytest.mark.parametrize("code", ["retired_disclosure", "space_used_up"])
def test_a_report_refused_for_good_is_reported_once(
    door: Door, agent_at: MakeAgent, code: str
) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    gone = f'{{"code":"{code}","message":"too late","version":1}}'.encode()
    door.behave["/v1/reports"] = answering(plain(gone, 409))
    with pytest.raises(ServiceError, match="too late"):
        agent.connect()
    agent.connect()
    assert agent.home.ledger.decided  # the decisions stand all the same
    # control: a refusal that may pass is tried again
    other = agent_at(door.address, "other")
    decide_only(other)
    passing = b'{"code":"token_needed","message":"say who","version":1}'
    door.behave["/v1/reports"] = answering(plain(passing, 401))
    for _ in range(2):
        with pytest.raises(ServiceError):
            other.submit()
    assert len(other.home.unsent) == 1


def test_a_new_disclosure_in_between_is_checked_and_gone_on_with(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.submit()
    tiny_analyst.disclosures.append(disclosure("dmpss", seed=2))
    asked = agent.solicit()
    assert asked.disclosure == tiny_analyst.current.digest
    agent.answer(dict.fromkeys(asked.items, 2.0), WOMAN)
    agent.submit()
    tiny_analyst.disclosures.append(disclosure("dmpss", seed=3))
    assert agent.recommend(3, WOMAN)
    assert agent.home.pin is not None
    assert agent.home.pin.sequence == 2
    tiny_analyst.disclosures[-1:] = [disclosure("dmpss", seed=4)]
    with pytest.raises(RefusedError) as refused:
        agent.recommend(3, WOMAN)
    assert refused.value.code is Refusal.CHAIN_FORKED


def test_a_question_under_figures_that_were_replaced_is_dropped(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """An honest analyst that learns again while she has an open round raises no alarm."""
    agent = agent_at(door.address)
    agent.connect()
    waiting = agent.solicit()
    agent.connect()
    assert agent.inner.asked == waiting  # control: nothing new was published
    tiny_analyst.disclosures.append(disclosure("dmpss", seed=2))
    assert agent.recommend(3, WOMAN)
    with pytest.raises(MidpointError, match="solicit first"):
        agent.answer(dict.fromkeys(waiting.items, 4.0), WOMAN)
    asked = agent.solicit()
    assert asked.disclosure == tiny_analyst.current.digest
    agent.answer(dict.fromkeys(asked.items, 4.0), WOMAN)
    assert agent.submit() is not None


def test_a_service_that_lost_what_it_kept_goes_on_with_later_rounds(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """Control: one that begins with round 0 again is refused, for that was answered."""
    agent = agent_at(door.address)
    first = decide_only(agent)
    agent.submit()
    tiny_analyst.accounts.clear()
    second = decide_only(agent)
    assert (first.round, second.round) == (0, 1)
    assert agent.submit() is not None
    tiny_analyst.accounts.clear()
    asked = Solicitation(disclosure=second.disclosure, round=0, items=("item-11",), open=True)
    door.behave["/v1/solicitation"] = answering(plain(asked.raw))
    with pytest.raises(RefusedError) as refused:
        decide_only(agent)
    assert refused.value.code is Refusal.ROUND_CHANGED
    assert [one.body.count(b'"after":0') for one in door.seen if "solicit" in one.path][1] == 1


def test_a_report_that_a_service_lost_the_round_of_is_reported_once(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    tiny_analyst.accounts.clear()
    with pytest.raises(ServiceError, match="never asked"):
        agent.connect()
    assert decide_only(agent).round == 1
    assert agent.submit() is not None


def test_she_may_accept_a_change_and_stays_who_she_is(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """Another scheme, then another feature and scale; what does not fit is dropped, no more."""
    agent = agent_at(door.address, show_rated=True)
    decide_only(agent)
    agent.submit()
    agent.home.keep_category({"gender": "F"})
    token, rounds, mine = agent.home.token, agent.home.ledger.rounds, agent.home.ratings
    for later in (
        disclosure("dmp"),
        disclosure("dmp", (AGE,), points=tuple(ONE * n for n in range(11))),
    ):
        tiny_analyst.disclosures.append(later)
        old = agent.home.pin
        with pytest.raises(RefusedError, match="--accept-changes"):
            agent.connect()
        agent.home.repin()
        assert Pin.load(directory_of(agent) / "pin") == old  # it stands until one is accepted
        agent.connect()
        assert (agent.home.token, agent.home.ledger.rounds) == (token, rounds)
        same = later.features == (GENDER,)
        assert (agent.home.category is not None, agent.home.ratings == mine) == (same, same)
        asked = agent.solicit()
        assert asked.disclosure == later.digest


def test_a_change_that_is_accepted_is_still_checked(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    old = agent.home.pin
    tiny_analyst.disclosures.append(disclosure("no"))
    agent.home.repin()
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.SCHEME_UNSAFE
    assert agent.home.pin == old  # she agreed to one change, and it was none that can be taken
    tiny_analyst.disclosures[:] = [disclosure("dmpss", seed=3)]
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.CHAIN_FORKED
    agent.home.repin()  # the control: what is fine is taken, once she agrees
    assert agent.connect().accepted.pin != old
    accepted = agent.home.pin
    agent.close()
    assert agent_at(door.address).home.pin == accepted


def test_what_is_refused_at_the_last_moment_loses_nothing(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """The key of another directory, with another scale: neither ratings nor category go."""
    other = TinyAnalyst(disclosure("dmpss", points=tuple(ONE * n for n in range(11))), STRANGER)
    agent_at(other.address).connect()
    agent = agent_at(door.address)
    decide_only(agent)
    agent.submit()
    agent.home.keep_category({"gender": "F"})
    before = {path.name: path.read_bytes() for path in directory_of(agent).iterdir()}
    tiny_analyst.disclosures[:], tiny_analyst.key = other.disclosures, STRANGER
    agent.home.repin()
    with pytest.raises(MidpointError, match="belongs to the same service"):
        agent.connect()
    assert before == {path.name: path.read_bytes() for path in directory_of(agent).iterdir()}
    assert agent.home.ratings
    assert agent.home.category is not None
    other.stop()


@pytest.mark.slow
def test_the_real_service_learns_again_while_she_answers(tiny: Simulation, tmp_path: Path) -> None:
    """Her round goes on under the new disclosure, and nothing she was asked is asked again."""
    site = tmp_path / "site"
    with (
        running_service(site, tiny.ratings) as up,
        Agent.open(up.address, tmp_path / "home") as agent,
    ):
        agent.connect()
        first = agent.solicit()
        agent.answer(dict.fromkeys(first.items[:4], 4.0), WOMAN)
        agent.submit()
        waiting = agent.solicit()
        relearned = Factorizer(dimension=2, iterations=3, validation=0.0).fit(
            tiny.ratings, "gender"
        )
        Site(site).publish(relearned, disclose(relearned, "dmpss"), time=int(time.time()))
        late = agent.answer(dict.fromkeys(waiting.items[:4], 2.0), WOMAN)
        assert late.disclosure == up.shown.digest
        agent.submit()
        deadline = time.monotonic() + 30
        while (third := agent.solicit()).disclosure == up.shown.digest:
            assert time.monotonic() < deadline
            agent.answer({}, WOMAN)
            agent.submit()
        assert agent.home.pin is not None
        assert agent.home.pin.sequence == 1
        assert not {*third.items} & {*first.items, *waiting.items}
        agent.answer(dict.fromkeys(third.items[:4], 5.0), WOMAN)
        agent.submit()
        assert len(agent.recommend(5, WOMAN)) == 5
        agent.forget()
