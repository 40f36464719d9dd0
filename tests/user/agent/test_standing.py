"""Certificates, witnesses and categories: what a person demands of a service."""

import pytest

from midpoint.errors import MidpointError
from midpoint.user import (
    PrivateCategory,
)
from midpoint.wire import Chain, Refusal, RefusedError, Signed, SigningKey
from tests.support.people.agents import MakeAgent
from tests.support.people.made_up import (
    ANALYST,
    AUDITOR,
    HEIR,
    STRANGER,
    certificate,
    disclosure,
    inherited,
)
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.tiny_analyst import TinyAnalyst

pytestmark = pytest.mark.slow


def test_the_service_is_not_its_own_witness(door: Door, agent_at: MakeAgent) -> None:
    with pytest.raises(MidpointError, match="somebody else"):
        agent_at(door.address, witness=f"{door.address}/")


def test_a_succeeded_key_is_followed_and_said(door: Door, agent_at: MakeAgent) -> None:
    """Control: the same new key without the old one's word is refused."""
    shown = disclosure("dmpss")
    agent = agent_at(door.address)
    agent.connect()
    silent = inherited([shown], [shown], successor=None)
    door.behave["/v1/chain"] = answering(plain(Chain(entries=tuple(silent)).raw))
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.KEY_CHANGED
    good = inherited([shown], [shown])
    door.behave["/v1/chain"] = answering(plain(Chain(entries=tuple(good)).raw))
    with pytest.raises(RefusedError) as refused:
        agent.connect()  # two versions of entry 1 were shown
    assert refused.value.code is Refusal.CHAIN_FORKED
    other = agent_at(door.address, "b")
    door.honest()
    other.connect()
    door.behave["/v1/chain"] = answering(plain(Chain(entries=tuple(good)).raw))
    assert other.connect().accepted.succeeded == ANALYST.public
    assert other.home.pin is not None
    assert other.home.pin.key == HEIR.public
    assert other.connect().accepted.succeeded is None


def certified(
    digest: str = disclosure("dmpss").digest, key: SigningKey = AUDITOR, people: int | None = 900
) -> Signed:
    return Signed.seal(certificate(digest, adversary="panel", people=people), key)


def test_a_certificate_is_shown_if_it_is_by_somebody_she_trusts(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    tiny_analyst.certificates = [certified()]
    assert agent_at(door.address, "a").connect().certificate is None
    shown = agent_at(door.address, "b", auditors=(AUDITOR.public,)).connect().certificate
    assert shown is not None
    assert shown.auc == 521_000


def test_a_certificate_can_be_required(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address, auditors=(AUDITOR.public,), require_certificate=True)
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.NOT_CERTIFIED
    assert agent.home.pin is None
    for forged in (certified(key=STRANGER), certified("1" * 64)):
        tiny_analyst.certificates = [forged]
        with pytest.raises(RefusedError) as refused:
            agent.connect()
        assert refused.value.code is Refusal.BAD_CERTIFICATE
    tiny_analyst.certificates = [certified(people=None)]
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.NOT_CERTIFIED
    assert door.secrets_sent == []
    tiny_analyst.certificates = [certified()]
    agent.connect()


def test_the_category_has_to_be_one_of_the_disclosure(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    agent.connect()
    agent.solicit()
    with pytest.raises(MidpointError, match="needs one of F, M"):
        agent.answer({}, PrivateCategory({"gender": "none of yours"}))
    assert agent.home.unsent == ()
