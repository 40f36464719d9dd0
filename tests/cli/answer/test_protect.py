"""`midpoint protect`: the device's first step by files, with the checks of the agent."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from midpoint.user import DeviceSecret
from midpoint.user.agent.device import Device
from midpoint.wire import (
    Certificates,
    Chain,
    Entry,
    Published,
    Refusal,
    RefusedError,
    Report,
    Signed,
    Solicitation,
)
from tests.support.people.by_files import Desk, command, refused
from tests.support.people.made_up import (
    AUDITOR,
    STRANGER,
    certificate,
    disclosure,
    entries,
    titles_of,
)
from tests.support.sites.devices import EVERYTHING, LATER, SHOWN, published
from tests.support.sites.witnessing import HOUR, sealed_statement, stated

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Files of one person, who rated all that is published; her coins are known."""
    secret = DeviceSecret(bytes(range(32)))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: secret)
    made = Desk(tmp_path)
    made.publish()
    made.rate()
    return made


def test_the_report_is_that_of_a_device_in_python(desk: Desk, tmp_path: Path) -> None:
    """By a question and without one; the control is somebody of the other category."""
    question = desk.ask()
    assert desk.protect("--question", question).exit_code == 0
    asked = Solicitation.parse(question.read_bytes())
    first = desk.report.read_bytes()
    with Device(published(), home=tmp_path / "python", gender="F") as device:
        assert first == device.protect(EVERYTHING, question=asked).raw
        assert desk.protect().exit_code == 0
        assert desk.report.read_bytes() == device.protect(EVERYTHING).raw
    with Device(published(), home=tmp_path / "his", gender="M") as device:
        assert first != device.protect(EVERYTHING, question=asked).raw


def test_a_device_in_python_goes_on_where_files_ended(desk: Desk) -> None:
    assert desk.protect().exit_code == 0
    with Device(published(), home=desk.home, gender="F") as device:
        assert device.protect(EVERYTHING).raw == desk.report.read_bytes()


def test_it_shows_what_is_withheld_and_why(desk: Desk) -> None:
    shown = desk.protect("--question", desk.ask())
    report = Report.parse(desk.report.read_bytes())
    assert 0 < len(report.answers) < 10
    assert "Checked" in shown.output
    assert f"{len(report.answers)} of 40 ratings leave now" in shown.output
    assert shown.output.count("a coin decided so") == 10 - len(report.answers)
    assert shown.output.count("was not asked about") == 30
    assert desk.report.stat().st_mode & 0o777 == 0o600
    assert str(desk.report) in shown.output
    assert "gender=F" not in shown.output


def test_without_out_nothing_is_decided(desk: Desk) -> None:
    shown = desk.protect(out=False)
    assert shown.exit_code == 0
    assert "Nothing was decided" in shown.output
    assert not desk.report.exists()
    assert desk.rounds() == []
    assert desk.protect().exit_code == 0  # the control
    assert len(desk.rounds()) == 1


def test_a_decision_is_final_and_the_same_report_is_written_again(desk: Desk) -> None:
    desk.protect("--question", desk.ask())
    first = desk.report.read_bytes()
    desk.rate(dict.fromkeys(EVERYTHING, 1))
    desk.report.unlink()
    again = desk.protect("--question", desk.ask())
    assert "was answered before: that report stands" in again.output
    assert desk.report.read_bytes() == first
    assert len(desk.rounds()) == 1


def test_a_new_device_is_announced_once(desk: Desk) -> None:
    assert "A new device begins" in desk.protect().output
    assert "A new device begins" not in desk.protect().output


def test_the_category_is_asked_for_or_remembered(desk: Desk) -> None:
    read = ("--disclosure", desk.publish(), "--ratings", desk.rate())
    words = ("protect", *read, "--home", desk.home, "--out", desk.report)
    assert "--category-file" in str(refused(command(*words)))  # this is no terminal
    assert desk.rounds() == []
    assert command(*words, "--category-file", desk.category(), "--remember").exit_code == 0
    assert command(*words).exit_code == 0
    assert b'"F"' in desk.kept()["notes"]


def test_the_category_is_no_argument(desk: Desk) -> None:
    """Other users of a machine can see the words of a command."""
    assert desk.protect("--category", "gender=F").exit_code == 2


def forged() -> Published:
    honest = published()
    entry = honest.chain.entries[0]
    signature = ("0" if entry.signature[0] != "0" else "1") + entry.signature[1:]
    return replace(
        honest, chain=Chain(entries=(entry.model_copy(update={"signature": signature}),))
    )


Lies = dict[str, tuple[Callable[[], Published], Refusal]]
AT_FIRST: Lies = {
    "forged": (forged, Refusal.BAD_SIGNATURE),
    "other bytes": (lambda: replace(published(), disclosure=LATER.raw), Refusal.WRONG_DIGEST),
    "other titles": (
        lambda: published(titles=titles_of(disclosure(n_items=39))),
        Refusal.WRONG_TITLES,
    ),
    "unsafe": (lambda: published(disclosure("mp")), Refusal.SCHEME_UNSAFE),
}
LATER_ON: Lies = {
    "another key": (lambda: published(SHOWN, LATER, key=STRANGER), Refusal.KEY_CHANGED),
    "rolled back": (lambda: published(SHOWN), Refusal.ROLLED_BACK),
    "forked": (lambda: published(LATER, LATER, SHOWN), Refusal.CHAIN_FORKED),
    "another scheme": (
        lambda: published(SHOWN, LATER, disclosure("dmp", n_items=40)),
        Refusal.SCHEME_CHANGED,
    ),
}


@pytest.mark.parametrize("lie", AT_FIRST)
def test_on_first_use_it_refuses_what_the_agent_refuses(lie: str, desk: Desk) -> None:
    make, code = AT_FIRST[lie]
    desk.publish(make())
    error = refused(desk.protect())
    assert isinstance(error, RefusedError)
    assert error.code is code
    assert "pin" not in desk.kept()
    assert not desk.report.exists()
    desk.publish()
    assert desk.protect().exit_code == 0  # the control


@pytest.mark.parametrize("lie", LATER_ON)
def test_the_analyst_is_held_to_what_was_pinned(lie: str, desk: Desk) -> None:
    desk.publish(published(SHOWN, LATER))
    assert desk.protect("--question", desk.ask(shown=LATER)).exit_code == 0
    before, report = desk.kept(), desk.report.read_bytes()
    make, code = LATER_ON[lie]
    desk.publish(make())
    error = refused(desk.protect())
    assert isinstance(error, RefusedError)
    assert error.code is code
    assert desk.kept() == before  # nothing is lost
    assert desk.report.read_bytes() == report
    desk.publish(published(SHOWN, LATER))  # the control: the honest list still passes
    assert desk.protect(out=False).exit_code == 0
    signed_otherwise = len(make().chain.entries) > 2 and code is not Refusal.CHAIN_FORKED
    desk.publish(published(SHOWN, LATER, SHOWN))  # and it may go on, unless entry 2 was another
    assert (desk.protect(out=False).exit_code != 0) == signed_otherwise


def test_a_change_is_accepted_if_she_agrees_and_decisions_stay(desk: Desk) -> None:
    desk.protect()
    first = desk.report.read_bytes()
    desk.publish(published(key=STRANGER))
    assert "--accept-changes" in str(refused(desk.protect()))
    assert desk.protect("--accept-changes").exit_code == 0
    assert desk.report.read_bytes() == first


def test_a_witness_by_file_is_compared(desk: Desk, tmp_path: Path) -> None:
    seen, honest = tmp_path / "witness.json", published().chain.entries[0].open(Entry)
    for entry, hours, code in (
        (entries([LATER], titled=True)[0], 24, Refusal.WITNESS_DISAGREES),
        (honest, 23, Refusal.NOT_WITNESSED),
    ):
        seen.write_bytes(sealed_statement(stated([entry], 0, time=hours * HOUR)).raw)
        error = refused(desk.protect("--witness", seen))
        assert isinstance(error, RefusedError)
        assert error.code is code
    assert "go with --witness" in str(refused(desk.protect("--witness-hours", 23)))
    shown = desk.protect("--witness", seen, "--witness-hours", 23)
    assert shown.exit_code == 0
    assert "No witness" not in shown.output


@pytest.mark.parametrize("scheme", ["dmp", "mpr", "ia"])
def test_a_scheme_that_shows_what_she_rates_is_named_and_refused_unless_she_agrees(
    desk: Desk, scheme: str
) -> None:
    desk.publish(published(disclosure(scheme, n_items=40)))
    error = refused(desk.protect())
    assert "--agree-to-show-rated" in str(error)
    assert "pin" not in desk.kept()
    shown = desk.protect("--agree-to-show-rated")
    assert f"Scheme {scheme}:" in shown.output


def certified(auc: int) -> Published:
    made = certificate(SHOWN.digest, auc, adversary="panel", people=9)
    shown = Certificates(certificates=(Signed.seal(made, AUDITOR),))
    return replace(published(), certificates=shown)


def test_a_certificate_can_be_required(desk: Desk) -> None:
    words = ("--auditor", AUDITOR.public, "--require-certificate")
    for shown, more in (
        (published(), ()),
        (certified(970_000), ()),
        (certified(30_000), ()),
        (certified(510_000), ("--most-auc", 0.52)),
    ):
        desk.publish(shown)
        error = refused(desk.protect(*words, *more))
        assert isinstance(error, RefusedError)
        assert error.code is Refusal.NOT_CERTIFIED
        assert "pin" not in desk.kept()
    assert desk.protect(*words, "--most-auc", 0.6).exit_code == 0  # 0.52 held until now
    desk.publish(certified(970_000))
    agreed = desk.protect("--any-certificate", "--auditor", AUDITOR.public)
    assert "AUC 0.97" in agreed.output  # shown, no more
    assert desk.protect(*words, "--most-auc", 0.99).exit_code == 0


def test_a_limit_without_a_required_certificate_is_a_mistake(desk: Desk) -> None:
    assert "goes with" in str(refused(desk.protect("--most-auc", 0.55)))
    assert desk.protect("--require-certificate", "--most-auc", 0.4).exit_code == 2


def test_a_question_of_another_disclosure_is_refused(desk: Desk) -> None:
    desk.protect(out=False)
    before = desk.kept()
    error = refused(desk.protect("--question", desk.ask(shown=LATER)))
    assert isinstance(error, RefusedError)
    assert error.code is Refusal.WRONG_DIGEST
    assert desk.kept() == before
    assert desk.protect("--question", desk.ask()).exit_code == 0  # the control


def test_a_round_that_asked_something_else_is_refused(desk: Desk) -> None:
    desk.protect("--question", desk.ask(count=10))
    before = desk.kept()
    error = refused(desk.protect("--question", desk.ask(count=11)))
    assert isinstance(error, RefusedError)
    assert error.code is Refusal.ROUND_CHANGED
    assert desk.kept() == before
    assert desk.protect("--question", desk.ask(1, count=11)).exit_code == 0  # the control


def test_a_mistake_in_the_ratings_loses_nothing(desk: Desk) -> None:
    for ratings, message in (
        ({"Title of item-0": 4}, "line 2: .*did you mean 'Title of item-00'"),
        ({"Title of item-00": 6}, "line 2: .*is 6; give one of 1, 2, 3, 4, 5"),
    ):
        desk.rate(ratings)
        assert re.search(message, str(refused(desk.protect())))
    assert desk.rounds() == []


def test_a_home_in_use_is_not_shared(desk: Desk) -> None:
    with Device(published(), home=desk.home, gender="F"):
        assert "in use" in str(refused(desk.protect()))
    assert desk.protect().exit_code == 0  # the control


def test_one_analyst_has_one_secret_in_a_home(desk: Desk) -> None:
    """A second one would show it two tosses for one rating."""
    desk.protect()
    shutil.move(desk.device, desk.home / "by-address")
    assert "belongs to the same service" in str(refused(desk.protect()))


def test_a_bare_disclosure_is_not_enough(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "published.json").write_bytes(SHOWN.raw)
    assert "publish --out" in str(refused(desk.protect()))
    for content in (b"", b"[]", b"\xff"):
        (tmp_path / "published.json").write_bytes(content)
        assert "published.json" in str(refused(desk.protect()))
    (tmp_path / "published.json").unlink()
    assert "cannot be read" in str(refused(desk.protect()))
    assert not desk.home.exists()


def test_it_does_not_write_over_what_it_reads(desk: Desk) -> None:
    ratings = desk.rate().read_bytes()
    assert "name another" in str(refused(desk.protect("--out", desk.root / "ratings.csv")))
    assert (desk.root / "ratings.csv").read_bytes() == ratings


def test_a_report_that_could_not_be_written_is_written_again(desk: Desk) -> None:
    (desk.root / "file").touch()
    failed = desk.protect("--out", desk.root / "file" / "report.json")
    assert isinstance(failed.exception, OSError)
    (decided,) = desk.rounds()
    assert desk.protect().exit_code == 0
    assert desk.report.read_bytes() == decided.raw
