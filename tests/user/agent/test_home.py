"""What the device keeps, what it does after a crash, and what forgetting means."""

import asyncio
import errno
import json
import stat
import time
from collections.abc import Callable, Mapping
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
from midpoint.files import replace_file
from midpoint.user import (
    AsyncAgent,
    BrokenSealError,
    DeviceSecret,
    Pin,
    PrivateCategory,
    StorageError,
)
from midpoint.user.agent import Agent, AwayError, Channel, Fate, Home, Line, Patience, ServiceError
from midpoint.wire import ONE, Certificate, Refusal, RefusedError, Report, Signed, Solicitation
from tests.support.door import Door, answering, plain
from tests.support.made_up import AGE, AUDITOR, GENDER, STRANGER, disclosure, ratings
from tests.support.people import MAN, QUICK, WOMAN, MakeAgent
from tests.support.tiny_analyst import TinyAnalyst
from tests.support.upstream import running_service

pytestmark = pytest.mark.slow


def stars(fixed: Mapping[str, int]) -> dict[str, float]:
    return {item: value / ONE for item, value in fixed.items()}


def decide_only(agent: Agent) -> Report:
    agent.connect()
    asked = agent.solicit()
    return agent.answer(dict.fromkeys(asked.items, 4.0), WOMAN)


def folder_of(agent: Agent) -> Path:
    assert agent.home.folder is not None
    return agent.home.folder


def test_all_of_it_is_for_her_eyes_only(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.home.keep_category({"gender": "F"})
    folder = folder_of(agent)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = {path.name for path in folder.iterdir()}
    assert files == {"secret", "ledger", "lock", "pin", "notes"}
    for name in files - {"lock"}:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name


def test_the_category_is_kept_only_if_she_says_so(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    assert agent.home.category is None
    assert b"gender" not in (folder_of(agent) / "notes").read_bytes()
    agent.home.keep_category({"gender": "F"})
    agent.close()
    again = agent_at(door.address)
    assert again.home.category is not None
    assert again.home.category.cell_in(disclosure()) == WOMAN.cell_in(disclosure())
    again.home.keep_category(None)
    assert b"gender" not in (folder_of(again) / "notes").read_bytes()


def test_in_memory_nothing_is_written(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    agent = Agent.in_memory(door.address)
    decide_only(agent)
    agent.submit()
    assert agent.home.folder is None
    assert list(tmp_path.iterdir()) == []


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
    with TemporaryDirectory() as index:
        for fault in [*faults, "fine"]:
            with Agent.open(door.address, Path(index), None, brief) as agent:
                with suppress(MidpointError):
                    agent.connect()
                    asked = agent.solicit()
                    FAULTS[fault](door)
                    stars = data.draw(st.integers(1, 5))
                    agent.answer(dict.fromkeys(asked.items, float(stars)), WOMAN)
                    agent.submit()
                door.honest()
        with Agent.open(door.address, Path(index), None, brief) as agent:
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


def test_a_report_refused_for_good_is_told_once(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    gone = b'{"code":"retired_disclosure","message":"too late","version":1}'
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


def test_a_report_that_a_service_lost_the_round_of_is_told_once(
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
    agent = agent_at(door.address)
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
        assert Pin.load(folder_of(agent) / "pin") == old  # it stands until one is accepted
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
    """The key of another folder, with another scale: neither ratings nor category go."""
    other = TinyAnalyst(disclosure("dmpss", points=tuple(ONE * n for n in range(11))), STRANGER)
    agent_at(other.address).connect()
    agent = agent_at(door.address)
    decide_only(agent)
    agent.submit()
    agent.home.keep_category({"gender": "F"})
    before = {path.name: path.read_bytes() for path in folder_of(agent).iterdir()}
    tiny_analyst.disclosures[:], tiny_analyst.key = other.disclosures, STRANGER
    agent.home.repin()
    with pytest.raises(MidpointError, match="belongs to the same service"):
        agent.connect()
    assert before == {path.name: path.read_bytes() for path in folder_of(agent).iterdir()}
    assert agent.home.ratings
    assert agent.home.category is not None
    other.stop()


@pytest.mark.parametrize("full", ["ledger", "notes", "pin"])
def test_a_disk_that_takes_no_more_is_told_apart_from_a_broken_seal(
    full: str, door: Door, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)

    def no_space(path: Path, content: bytes, *, mode: int) -> None:
        if path.name == full:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        replace_file(path, content, mode=mode)

    monkeypatch.setattr("midpoint.user.device_files.replace_file", no_space)
    with pytest.raises(StorageError, match=rf"{full} cannot be written \(No space"):
        decide_only(agent)
    assert (agent.home.ledger.rounds, agent.home.unsent) == ((), ())
    monkeypatch.undo()
    agent.close()
    (folder_of(agent) / "ledger").write_bytes(b"0\n")
    with pytest.raises(BrokenSealError):
        agent_at(door.address)


@pytest.mark.slow
def test_the_real_service_learns_anew_while_she_answers(tiny: Simulation, tmp_path: Path) -> None:
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
        Site(site).publish(relearned, disclose(relearned), time=int(time.time()))
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


def test_one_secret_for_one_analyst(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """Under a second address the same analyst would see a second toss; another analyst is fine."""
    agent_at(door.address).connect()
    with pytest.raises(MidpointError, match="same service under another address"):
        agent_at(tiny_analyst.address).connect()
    other = TinyAnalyst(key=STRANGER)
    agent_at(other.address).connect()
    other.stop()


def test_two_programs_do_not_share_a_folder(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    with pytest.raises(MidpointError, match="in use by another program"):
        agent_at(door.address)
    agent.close()
    agent_at(door.address)


def test_the_pseudonym_goes_with_the_secret() -> None:
    first, same, other = (Home.in_memory(DeviceSecret(bytes([n]) * 32)) for n in (1, 1, 2))
    assert first.token == same.token != other.token
    assert len(bytes.fromhex(first.token)) == 32


def test_damaged_notes_are_told(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.close()
    (folder_of(agent) / "notes").write_bytes(b"{}")
    with pytest.raises(MidpointError, match="damaged"):
        agent_at(door.address)


def test_export_holds_both_halves(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    agent.submit()
    whole = json.loads(agent.export())
    assert whole["service"]["reports"] == [report.raw.decode()]
    assert whole["device"]["rounds"][0]["report"] == report.raw.decode()
    assert dict(whole["device"]["notes"]["ratings"]) == agent.home.ratings


def test_forget_erases_there_then_here_and_the_next_is_somebody_new(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.submit()
    folder, token = folder_of(agent), agent.home.token
    assert len(tiny_analyst.accounts) == 1
    agent.forget()
    assert tiny_analyst.accounts == {}
    assert not folder.exists()
    assert list(folder.parent.iterdir()) == []
    with pytest.raises(MidpointError, match="somebody new"):
        agent.submit()
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(bytes(range(1, 33))))
    new = agent_at(door.address)
    assert new.home.token != token
    assert (new.home.ledger.rounds, new.home.pin, new.home.ratings) == ((), None, {})


def test_forget_while_the_service_is_away_keeps_what_is_needed_and_does_nothing_else(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    door.behave["/v1/pseudonym"] = answering(b"")
    with pytest.raises(AwayError):
        agent.forget()
    agent.close()
    again = agent_at(door.address)
    assert again.home.ledger.rounds[0].report == report.raw.decode()
    door.seen.clear()
    for step in (again.connect, again.submit, again.export):
        with pytest.raises(MidpointError, match="asked to be forgotten"):
            step()
    assert door.seen == []
    door.honest()
    again.forget()
    assert tiny_analyst.accounts == {}
    assert not folder_of(again).exists()


def test_forget_only_here_asks_nobody(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    door.seen.clear()
    agent.forget(only_here=True)
    assert door.seen == []
    assert not folder_of(agent).exists()


def test_a_crash_in_the_middle_of_erasing_is_finished_next_time(
    door: Door, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent = agent_at(door.address)
    agent.close()
    folder_of(agent).rename(tmp_path / "home" / ".forgotten-0123")
    agent_at(door.address)
    assert [path.name for path in (tmp_path / "home").iterdir()] == [folder_of(agent).name]


def test_a_crash_before_the_first_ledger_is_started_over(
    door: Door, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)
    agent.close()
    token, folder = agent.home.token, folder_of(agent)
    (folder / "ledger").unlink()
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(bytes(range(1, 33))))
    again = agent_at(door.address)
    assert again.home.token != token
    decide_only(again)
    again.close()
    (folder / "ledger").unlink()  # control: this secret was used
    with pytest.raises(MidpointError, match="keeps its secret"):
        agent_at(door.address)


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


@pytest.mark.parametrize("wrong", [0.0, 2.5, 6.0, float("nan"), float("inf")])
def test_a_rating_off_the_scale_decides_nothing(
    wrong: float, door: Door, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    agent.connect()
    asked = agent.solicit()
    for step in (agent.preview, agent.answer):
        with pytest.raises(MidpointError, match="correct it first"):
            step(dict.fromkeys(asked.items, 3.0) | {asked.items[0]: wrong}, WOMAN)
    assert agent.home.unsent == ()
    assert agent.answer(dict.fromkeys(asked.items, 3.0), WOMAN).round == 0


def test_the_service_is_not_its_own_witness(door: Door, agent_at: MakeAgent) -> None:
    with pytest.raises(MidpointError, match="somebody else"):
        agent_at(door.address, witness=f"{door.address}/")


def test_a_proxy_is_used_and_a_wrong_one_is_told(door: Door, tiny_analyst: TinyAnalyst) -> None:
    """The door takes the whole address that a proxy is given, and forwards to the analyst."""
    for wrong in ("nowhere", "ftp://x"):
        with pytest.raises(MidpointError, match="is no proxy"):
            Channel(proxy=wrong)
    agent = Agent.in_memory(tiny_analyst.address, None, Channel(QUICK, proxy=door.address))
    with suppress(MidpointError):
        agent.connect()
    assert door.lines[0].startswith(f"GET {tiny_analyst.address}/v1/chain ")


def test_steps_out_of_order_are_told(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    with pytest.raises(MidpointError, match="connect first"):
        agent.solicit()
    agent.connect()
    with pytest.raises(MidpointError, match="solicit first"):
        agent.answer({}, WOMAN)


def test_another_program_may_await_it(door: Door) -> None:
    """The same walk inside a running loop, awaited and waited for."""

    async def walk() -> tuple[int, int]:
        async with AsyncAgent.in_memory(door.address, None, Channel(QUICK)) as agent:
            await agent.connect()
            asked = await agent.solicit()
            agent.answer(dict.fromkeys(asked.items, 5.0), WOMAN)
            await agent.submit()
            best = await agent.recommend(2, WOMAN)
            waiting = Agent.in_memory(door.address)
            return len(best), len(waiting.connect().titles)

    assert asyncio.run(walk()) == (2, 12)


def certificate(key: object = AUDITOR, **changes: object) -> Signed:
    content: dict[str, object] = {
        "disclosure": disclosure("dmpss").digest,
        "data": "0" * 64,
        "auditor": "somebody",
        "key": AUDITOR.public,
        "attack": "trees",
        "auc": 510_000,
        "auc_low": 500_000,
        "auc_high": 520_000,
        "null_low": 480_000,
        "null_high": 520_000,
        "rmse_cost": 3_000,
        "time": 1_700_000_000,
    }
    made = Certificate(**(content | changes))  # type: ignore[arg-type]
    return Signed.seal(made, key)  # type: ignore[arg-type]


def test_a_certificate_is_shown_if_it_is_by_somebody_she_trusts(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    tiny_analyst.certificates = [certificate()]
    assert agent_at(door.address, "a").connect().certificate is None
    shown = agent_at(door.address, "b", auditors=(AUDITOR.public,)).connect().certificate
    assert shown is not None
    assert shown.auc == 510_000


def test_a_certificate_can_be_required(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address, auditors=(AUDITOR.public,), require_certificate=True)
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.NOT_CERTIFIED
    assert agent.home.pin is None
    for forged in (certificate(STRANGER), certificate(disclosure="1" * 64)):
        tiny_analyst.certificates = [forged]
        with pytest.raises(RefusedError) as refused:
            agent.connect()
        assert refused.value.code is Refusal.BAD_CERTIFICATE
    assert door.secrets_sent == []
    tiny_analyst.certificates = [certificate()]
    agent.connect()


def test_the_category_has_to_be_one_of_the_disclosure(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    agent.connect()
    agent.solicit()
    with pytest.raises(MidpointError, match="needs one of F, M"):
        agent.answer({}, PrivateCategory({"gender": "none of yours"}))
    assert agent.home.unsent == ()
