"""Signed entries are kept: those accepted, those refused, and those of a list she left."""

from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.user.checks.proof import Proof
from midpoint.wire import Refusal, RefusedError, Signed
from midpoint.wire.listing import MOST_OTHERS, MOST_SHOWN
from tests.support.people.made_up import (
    ANALYST,
    HEIR,
    STRANGER,
    disclosure,
    entries,
    inherited,
    sealed,
)
from tests.support.sites.published import CHAIN, LIST, SHOWN
from tests.support.sites.witnessing import OBSERVER, sealed_statement, stated

FORK = sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2]]))


def known() -> Proof:
    return Proof().beginning(CHAIN[:2])


def test_a_list_grows_and_the_same_again_changes_nothing() -> None:
    grown = known().adding(CHAIN, ANALYST.public)
    assert grown.shown == tuple(CHAIN)
    assert grown.adding(CHAIN[2:], ANALYST.public) is grown
    grown.require_unforked(CHAIN)
    grown.require_unforked(CHAIN[:1])  # a shorter list is the pin's to judge


def test_another_version_is_kept_beside_and_refused() -> None:
    both = known().adding(FORK, ANALYST.public)
    assert both.shown == tuple(CHAIN[:2])
    assert both.others == tuple(FORK[1:])
    with pytest.raises(RefusedError) as refused:
        both.require_unforked(FORK)
    assert refused.value.code is Refusal.CHAIN_FORKED
    both.require_unforked(CHAIN)


def test_what_the_service_did_not_sign_is_no_evidence() -> None:
    forged = Signed.seal(LIST[2], STRANGER)
    strange = sealed(entries(SHOWN, STRANGER), STRANGER)
    assert known().adding([forged, *strange, sealed_statement(stated(LIST, 0, time=0))],
                          ANALYST.public) == known()  # fmt: skip


def test_what_a_successor_signed_is_evidence_as_well() -> None:
    """Control: what nobody vouched for is none."""
    chain = inherited(SHOWN[:1], SHOWN[1:3])
    begun = Proof().beginning(chain[:1])
    assert begun.adding(chain, ANALYST.public).shown == tuple(chain)
    fork = inherited(SHOWN[:1], [disclosure(seed=9)])
    assert begun.adding(chain, ANALYST.public).adding(fork, HEIR.public).others == (fork[2],)
    silent = inherited(SHOWN[:1], SHOWN[1:3], successor=None)
    assert begun.adding(silent, ANALYST.public).shown == tuple(silent[:2])


def test_a_list_that_she_left_stays_kept() -> None:
    left = known().beginning(FORK)
    assert left.shown == tuple(FORK)
    assert left.others == (CHAIN[1],)
    left.require_unforked(FORK)


def test_others_are_bounded() -> None:
    first = entries([disclosure(seed=9)])[0]
    many = sealed([first.model_copy(update={"time": n}) for n in range(MOST_OTHERS + 5)])
    assert len(known().adding(many, ANALYST.public).others) == MOST_OTHERS


def test_what_is_shown_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that shows new entries at every visit fills no disk; the first ones stay."""
    assert MOST_SHOWN == 10_000
    monkeypatch.setattr("midpoint.user.checks.proof.MOST_SHOWN", 3)
    grown = known().adding(CHAIN, ANALYST.public)
    assert grown.shown == tuple(CHAIN[:3])
    assert grown.adding(CHAIN, ANALYST.public) is grown
    assert Proof().beginning(CHAIN).shown == tuple(CHAIN[:3])
    with pytest.raises(RefusedError):
        grown.require_unforked(FORK)


def test_the_witness_key_is_held_and_all_is_read_again(tmp_path: Path) -> None:
    kept = known().seeing(sealed_statement(stated(LIST, 0, time=9)))
    assert (known().witness_key, kept.witness_key) == (None, OBSERVER.public)
    kept.save(tmp_path / "proof")
    assert Proof.load(tmp_path / "proof") == kept
    assert Proof.load(tmp_path / "nothing") == Proof()
    (tmp_path / "proof").write_bytes(b"{")
    with pytest.raises(MidpointError, match="damaged"):
        Proof.load(tmp_path / "proof")
