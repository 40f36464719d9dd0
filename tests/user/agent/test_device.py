"""A device as an object: the agent's checks, final decisions, and ratings by title."""

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.user.agent import Home
from midpoint.user.agent import device as device_module
from midpoint.user.agent.device import Device
from midpoint.user.agent.preview import Fate
from midpoint.wire import (
    ONE,
    Certificate,
    Certificates,
    Chain,
    Disclosure,
    FeatureNames,
    Published,
    Refusal,
    RefusedError,
    Signed,
    Solicitation,
    WitnessStatement,
)
from tests.support.people.made_up import (
    AUDITOR,
    STRANGER,
    accepted,
    certificate,
    disclosure,
    titles_of,
)
from tests.support.sites.devices import EVERYTHING, LATER, SHOWN, published
from tests.support.sites.witnessing import DAY, OBSERVER, sealed_statement

pytestmark = pytest.mark.usefixtures("same_coins")


@pytest.fixture
def at_home(tmp_path: Path) -> Iterator[Callable[..., Device]]:
    """Open devices in one home, and close them."""
    opened: list[Device] = []

    def open_at(
        shown: Published | None = None,
        home: str = "home",
        gender: str = "F",
        *,
        accept_changes: bool = False,
    ) -> Device:
        made = Device(
            shown or published(),
            home=tmp_path / home,
            accept_changes=accept_changes,
            gender=gender,
        )
        opened.append(made)
        return made

    yield open_at
    for device in opened:
        device.close()


MakeDevice = Callable[..., Device]


def test_the_report_is_what_decide_gives_for_the_same_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = bytes(range(32))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(secret))
    report = Device(published(), gender="F").protect(EVERYTHING)
    question = Solicitation(disclosure=SHOWN.digest, round=0, items=(), open=True)
    rated = {item: (1 + n % 5) * ONE for n, item in enumerate(SHOWN.items)}
    ledger = Ledger(DeviceSecret(secret))
    woman = PrivateCategory({"gender": "F"})
    assert report == decide(rated, question, accepted(SHOWN), woman, ledger)
    assert 0 < len(report.answers) < len(EVERYTHING)
    # The control: a man's device, with the same coins, sends something else.
    assert Device(published(), gender="M").protect(EVERYTHING) != report


@pytest.mark.parametrize("scheme", ["dmpss", "cmpss"])
def test_asked_again_it_does_not_decide_again(scheme: str) -> None:
    shown = disclosure(scheme, n_items=40)
    device = Device(published(shown), gender="F")
    first = device.protect(EVERYTHING)
    assert device.protect(EVERYTHING) == first
    assert device.protect(dict.fromkeys(EVERYTHING, 3)) == first


def test_a_later_report_repeats_what_was_revealed_and_adds_to_it() -> None:
    device = Device(published(), gender="F")
    half = dict(list(EVERYTHING.items())[:20])
    first, second = device.protect(half), device.protect(EVERYTHING)
    assert (first.round, second.round) == (0, 1)
    assert dict(first.answers).items() < dict(second.answers).items()
    assert device.protect(half) == second


def test_a_question_of_the_analyst_is_answered_and_nothing_else() -> None:
    device = Device(published(), gender="F")
    asked = Solicitation(disclosure=SHOWN.digest, round=3, items=SHOWN.items[:10], open=False)
    report = device.protect(EVERYTHING, question=asked)
    assert report.round == 3
    assert {item for item, _ in report.answers} <= {*asked.items}
    assert device.protect(EVERYTHING, question=asked) == report


def test_what_changed_in_a_new_disclosure_is_not_answered_again(at_home: MakeDevice) -> None:
    with at_home() as device:
        first = device.protect(EVERYTHING)
    with at_home(published(SHOWN, LATER)) as device:
        second = device.protect(EVERYTHING)
    assert first.answers
    assert second.answers == ()


def test_decisions_are_final_across_devices_on_one_home(at_home: MakeDevice) -> None:
    with at_home() as device:
        first = device.protect(EVERYTHING)
    with at_home() as device:
        assert device.protect(EVERYTHING) == first
    # The control: another home has other coins.
    with at_home(home="other") as device:
        assert device.protect(EVERYTHING) != first


def test_one_home_is_opened_once_at_a_time(at_home: MakeDevice, tmp_path: Path) -> None:
    device = at_home()
    with pytest.raises(MidpointError, match="in use"):
        at_home()
    script = "from midpoint.user.core.ledger import Ledger\nfrom pathlib import Path\n"
    script += f"Ledger.open(Path({str(tmp_path / 'home' / 'device')!r}))"
    command = [sys.executable, "-c", script]
    other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "in use by another program" in other.stderr
    device.close()
    subprocess.run(command, check=True)  # the control: nobody holds the home
    at_home().protect(EVERYTHING)


def test_what_was_accepted_is_kept_at_home_and_a_refused_one_is_not(
    at_home: MakeDevice, tmp_path: Path
) -> None:
    shown = published(SHOWN, LATER)
    at_home(shown).close()
    with pytest.raises(RefusedError):
        at_home(published(SHOWN))
    with closing(device_module.device_home(tmp_path / "home")) as home:
        assert home.published == shown
    assert Home.in_memory().published is None


def test_a_device_that_is_gone_holds_no_home(at_home: MakeDevice, tmp_path: Path) -> None:
    Device(published(), home=tmp_path / "home", gender="F").protect(EVERYTHING)
    at_home().protect(EVERYTHING)


def test_people_with_homes_side_by_side_do_not_hinder_each_other(at_home: MakeDevice) -> None:
    at_home(home="hers").protect(EVERYTHING)
    at_home(home="his", gender="M").protect(EVERYTHING)


def test_a_refused_device_leaves_the_home_free(at_home: MakeDevice) -> None:
    at_home().close()
    with pytest.raises(RefusedError):
        at_home(published(key=STRANGER))
    at_home().protect(EVERYTHING)


def forged() -> Published:
    honest = published()
    entry = honest.chain.entries[0]
    signature = ("0" if entry.signature[0] != "0" else "1") + entry.signature[1:]
    chain = Chain(entries=(entry.model_copy(update={"signature": signature}),))
    return replace(honest, chain=chain)


def witnessed_otherwise() -> Published:
    seen = WitnessStatement(entries=("0" * 64,), seen=(0,), time=DAY, key=OBSERVER.public)
    return replace(published(), witness=sealed_statement(seen))


def falsely_certified() -> Published:
    return replace(
        published(), certificates=Certificates(certificates=(sealed_certificate(LATER),))
    )


def sealed_certificate(of: Disclosure, auc: int = 510_000) -> Signed:
    return Signed.seal(certificate(of.digest, auc, adversary="panel", people=9), AUDITOR)


OTHER_FEATURE = FeatureNames(name="gender", categories=("F", "M", "X"))
Lies = dict[str, tuple[Callable[[], Published], Refusal]]
REFUSED: Lies = {
    "forged": (forged, Refusal.BAD_SIGNATURE),
    "other bytes": (
        lambda: replace(published(), disclosure=LATER.raw),
        Refusal.WRONG_DIGEST,
    ),
    "other titles": (
        lambda: published(titles=titles_of(disclosure(n_items=39))),
        Refusal.WRONG_TITLES,
    ),
    "unsafe": (lambda: published(disclosure("mp")), Refusal.SCHEME_UNSAFE),
    "witness": (witnessed_otherwise, Refusal.WITNESS_DISAGREES),
    "certificate": (falsely_certified, Refusal.BAD_CERTIFICATE),
}
REFUSED_LATER: Lies = {
    "another key": (lambda: published(SHOWN, LATER, key=STRANGER), Refusal.KEY_CHANGED),
    "rolled back": (lambda: published(SHOWN), Refusal.ROLLED_BACK),
    "forked": (lambda: published(LATER, LATER, SHOWN), Refusal.CHAIN_FORKED),
    "another scheme": (
        lambda: published(SHOWN, LATER, disclosure("dmp", n_items=40)),
        Refusal.SCHEME_CHANGED,
    ),
    "other features": (
        lambda: published(SHOWN, LATER, disclosure(features=(OTHER_FEATURE,))),
        Refusal.FEATURES_CHANGED,
    ),
}


@pytest.mark.parametrize("lie", REFUSED)
def test_it_refuses_what_the_agent_refuses(lie: str, at_home: MakeDevice) -> None:
    make, code = REFUSED[lie]
    with pytest.raises(RefusedError) as refused:
        at_home(make())
    assert refused.value.code is code
    at_home().protect(EVERYTHING)  # the control: the honest one passes


@pytest.mark.parametrize("lie", REFUSED_LATER)
def test_it_holds_the_analyst_to_what_was_pinned(lie: str, at_home: MakeDevice) -> None:
    at_home(published(SHOWN, LATER)).close()
    make, code = REFUSED_LATER[lie]
    with pytest.raises(RefusedError) as refused:
        at_home(make())
    assert refused.value.code is code
    at_home(published(SHOWN, LATER)).close()  # the control: the honest list still passes
    if len(make().chain.entries) < 3 or code is Refusal.CHAIN_FORKED:
        at_home(published(SHOWN, LATER, SHOWN)).close()  # and so does one that went on
        return
    with pytest.raises(RefusedError) as refused:  # unless two of its entries 2 were signed
        at_home(published(SHOWN, LATER, SHOWN))
    assert refused.value.code is Refusal.CHAIN_FORKED


def test_a_change_is_accepted_if_she_agrees_and_decisions_stay(at_home: MakeDevice) -> None:
    with at_home() as device:
        first = device.protect(EVERYTHING)
    with at_home(published(key=STRANGER), accept_changes=True) as device:
        assert device.protect(EVERYTHING) == first
    with pytest.raises(RefusedError):
        at_home()


@pytest.mark.parametrize(
    ("category", "message"),
    [
        ({"gender": "Q"}, "needs one of F, M"),
        ({}, "needs one of F, M"),
        ({"gender": "F", "age": "old"}, "does not protect age"),
    ],
)
def test_an_unknown_category_is_refused_and_not_named(
    category: dict[str, str], message: str
) -> None:
    with pytest.raises(MidpointError, match=message) as refused:
        Device(published(), **category)  # type: ignore[arg-type]
    assert "Q" not in str(refused.value)


def test_a_feature_may_have_the_name_of_a_setting(tmp_path: Path) -> None:
    feature = FeatureNames(name="home", categories=("north", "south"))
    shown = published(disclosure("dmpss", (feature,), n_items=len(SHOWN.items)))
    mapped = Device(shown, {"home": "north"}, home=tmp_path / "hers")
    assert mapped.protect(EVERYTHING).answers
    with pytest.raises(
        MidpointError, match=r"name of a setting.*Device\(published, {'home': \.\.\.}"
    ):
        Device(shown, home=tmp_path / "north")
    both = published()
    assert Device(both, {"gender": "F"}).disclosure == Device(both, gender="F").disclosure
    with pytest.raises(MidpointError, match="gender is given twice"):
        Device(both, {"gender": "F"}, gender="F")


def test_without_a_home_it_says_once_that_it_is_a_simulation(
    caplog: pytest.LogCaptureFixture, at_home: MakeDevice
) -> None:
    device_module._say_simulated.cache_clear()
    with caplog.at_level(logging.WARNING, "midpoint"):
        at_home().close()
        assert caplog.records == []
        for _ in range(2):
            assert "simulation, in memory" in repr(Device(published(), gender="F"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "home=DIRECTORY" in caplog.text


def test_the_category_does_not_print() -> None:
    names = FeatureNames(name="party", categories=("Whig", "Tory"))
    device = Device(published(disclosure(features=(names,))), party="Tory")
    assert "Tory" not in repr(device)
    assert "party" in repr(device)  # what is protected is public
    assert repr(vars(device)["_category"]) == "<PrivateCategory: hidden>"


def test_a_trusted_certificate_is_shown_and_can_be_required() -> None:
    honest, shown = published(), Certificates(certificates=(sealed_certificate(SHOWN),))
    certified = replace(honest, certificates=shown)
    trusting = {"auditors": [AUDITOR.public], "require_certificate": True}
    device = Device(certified, gender="F", **trusting)  # type: ignore[arg-type]
    assert device.certificate is not None
    assert "certified by A made-up auditor" in repr(device)
    assert "certified by nobody she trusts" in repr(Device(certified, gender="F"))
    with pytest.raises(RefusedError) as refused:
        Device(honest, gender="F", **trusting)  # type: ignore[arg-type]
    assert refused.value.code is Refusal.NOT_CERTIFIED


@pytest.mark.parametrize("auc", [970_000, 30_000])
def test_a_certified_leak_is_shown_and_refused_if_a_certificate_is_required(auc: int) -> None:
    honest, leaking = sealed_certificate(SHOWN), sealed_certificate(SHOWN, auc)
    trusting = {"auditors": [AUDITOR.public]}

    def device(*shown: Signed, **terms: object) -> Device:
        what = replace(published(), certificates=Certificates(certificates=shown))
        return Device(what, gender="F", **(trusting | terms))  # type: ignore[arg-type]

    assert device(leaking).certificate == leaking.open(Certificate)
    for shown in ((leaking,), (leaking, honest), (honest, leaking)):
        with pytest.raises(RefusedError) as refused:
            device(*shown, require_certificate=True)
        assert refused.value.code is Refusal.NOT_CERTIFIED
    assert device(honest, require_certificate=True).certificate is not None
    assert device(leaking, require_certificate=True, most_auc=0.99).certificate is not None
    with pytest.raises(RefusedError):
        device(honest, require_certificate=True, most_auc=0.52)
    with pytest.raises(MidpointError, match="no AUC to accept at most"):
        device(honest, require_certificate=True, most_auc=0.4)


def test_a_preview_decides_nothing_and_says_what_will_be() -> None:
    device = Device(published(), gender="F")
    lines = {line.item: line for line in device.preview(EVERYTHING)}
    assert {line.fate for line in lines.values()} == {Fate.SENT, Fate.WITHHELD}
    report = device.protect(EVERYTHING)
    sent = {item: line.sent for item, line in lines.items() if line.sent is not None}
    assert {item: value / ONE for item, value in report.answers} == sent
    again = device.preview(EVERYTHING)
    assert {line.fate for line in again} == {Fate.SENT_BEFORE, Fate.WITHHELD_BEFORE}
    assert "withheld before" in repr(again)


def test_forgetting_erases_the_home_and_ends_the_device(
    at_home: MakeDevice, tmp_path: Path
) -> None:
    device = at_home()
    first = device.protect(EVERYTHING)
    device.forget()
    assert [*(tmp_path / "home").iterdir()] == []
    with pytest.raises(MidpointError, match="forgotten"):
        device.protect(EVERYTHING)
    assert at_home().protect(EVERYTHING) != first  # somebody new
