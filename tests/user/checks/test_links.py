from itertools import pairwise, product

import pytest

from midpoint.user import check_disclosure
from midpoint.user.checks.links import read_statement
from midpoint.wire import (
    Certificate,
    Entry,
    Refusal,
    RefusedError,
    Signed,
)
from tests.support.people.made_up import (
    ANALYST,
    HEIR,
    STRANGER,
    disclosure,
    entries,
    inherited,
    sealed,
)
from tests.support.sites.published import CHAIN, LIST, PINS, SHOWN, code_of
from tests.support.sites.witnessing import DAY, OBSERVER, sealed_statement, stated


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_list_may_start_at_or_after_or_before_the_pinned_entry(start: int) -> None:
    assert check_disclosure(SHOWN[3].raw, CHAIN[start:], PINS[1]).pin == PINS[3]


def test_nothing_new_is_accepted_again() -> None:
    assert check_disclosure(SHOWN[3].raw, CHAIN[3:], PINS[3]).pin == PINS[3]


def test_gaps_are_refused() -> None:
    raw = SHOWN[3].raw
    assert code_of(raw, CHAIN[1:], None) == Refusal.CHAIN_GAP
    assert code_of(raw, CHAIN[3:], PINS[1]) == Refusal.CHAIN_GAP
    assert code_of(raw, [CHAIN[0], CHAIN[1], CHAIN[3]], None) == Refusal.CHAIN_GAP
    assert code_of(raw, [], None) == Refusal.CHAIN_GAP


def test_rollback_is_refused() -> None:
    assert code_of(SHOWN[1].raw, CHAIN[:2], PINS[3]) == Refusal.ROLLED_BACK
    assert code_of(SHOWN[1].raw, CHAIN, None) == Refusal.ROLLED_BACK


def test_a_fork_is_refused() -> None:
    forked = sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2], SHOWN[3]]))
    raw = SHOWN[3].raw
    for start in (0, 1, 2):
        assert code_of(raw, forked[start:], PINS[1]) == Refusal.CHAIN_FORKED
    assert code_of(raw, [*CHAIN[:2], *forked[2:]], None) == Refusal.CHAIN_FORKED
    assert code_of(raw, forked, PINS[0]) is None  # it forks later than what was pinned


def test_a_witness_sees_what_the_pin_cannot() -> None:
    forked = sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2], SHOWN[3]]))
    seen = stated(LIST, 0, 1, time=1 + DAY)
    raw = SHOWN[1].raw
    assert code_of(raw, forked, PINS[0], seen) == Refusal.WITNESS_DISAGREES
    assert code_of(raw, CHAIN, PINS[0], seen) is None
    assert code_of(raw, CHAIN[1:], PINS[1], seen) is None
    assert code_of(SHOWN[3].raw, CHAIN[3:], PINS[3], seen) == Refusal.CHAIN_GAP
    ahead = stated(LIST, 0, 1, 2, time=2 + DAY)
    assert code_of(raw, CHAIN[:2], None, ahead) == Refusal.WITNESS_DISAGREES


def test_only_what_was_current_for_long_enough_is_answered_under() -> None:
    """Every list of times: the chosen entry lasted, and no newer one did."""
    for seen in product((0, 5, 10), repeat=3):
        if list(seen) != sorted(seen):
            continue
        statement = stated(LIST, 0, *seen, time=12)
        lasted = [b - a for a, b in pairwise((0, *seen, 12))]
        for wanted in (0, 2, 5, 13):
            long = [n for n, seconds in enumerate(lasted) if seconds >= wanted]
            assert statement.newest_shown_for(wanted) == (long[-1] if long else None)


def test_a_statement_is_signed_by_the_key_that_is_held_on_to() -> None:
    statement = stated(LIST, 0, time=9)
    assert read_statement(sealed_statement(statement), None) == statement
    assert read_statement(sealed_statement(statement), OBSERVER.public) == statement
    for signed, key, code in (
        (sealed_statement(statement), STRANGER.public, Refusal.WITNESS_CHANGED),
        (sealed_statement(statement, STRANGER), None, Refusal.BAD_SIGNATURE),
        (CHAIN[0], None, Refusal.MISSING_FIELD),
    ):
        with pytest.raises(RefusedError) as refused:
            read_statement(signed, key)
        assert refused.value.code is code


def test_keys_and_signatures() -> None:
    raw = SHOWN[3].raw
    swapped = sealed(entries(SHOWN, STRANGER), STRANGER)
    assert code_of(raw, swapped, PINS[1]) == Refusal.KEY_CHANGED
    assert code_of(raw, swapped, None) is None  # first use trusts the key it sees
    mixed = [*CHAIN[:3], Signed.seal(LIST[3].model_copy(update={"key": STRANGER.public}), STRANGER)]
    assert code_of(raw, mixed, None) == Refusal.KEY_CHANGED
    forged = [*CHAIN[:3], Signed.seal(LIST[3], STRANGER)]
    assert code_of(raw, forged, None) == Refusal.BAD_SIGNATURE


def test_a_key_is_followed_if_the_one_before_vouched_for_it() -> None:
    """Controls: without the old key's signature, or with a stranger's, it is refused."""
    first = check_disclosure(SHOWN[0].raw, inherited(SHOWN[:1], [])[:1], None).pin
    chain = inherited(SHOWN[:1], SHOWN[1:2])
    followed = check_disclosure(SHOWN[1].raw, chain, first)
    assert (followed.pin.key, followed.succeeded) == (HEIR.public, ANALYST.public)
    assert check_disclosure(SHOWN[1].raw, chain, followed.pin).succeeded is None
    for broken in (
        inherited(SHOWN[:1], SHOWN[1:2], successor=None),
        inherited(SHOWN[:1], SHOWN[1:2], by=STRANGER),
        inherited(SHOWN[:1], SHOWN[1:2], successor=STRANGER.public),
    ):
        assert code_of(SHOWN[1].raw, broken, first) == Refusal.KEY_CHANGED
    unsigned = [chain[0], Signed.seal(chain[1].open(Entry), STRANGER), chain[2]]
    assert code_of(SHOWN[1].raw, unsigned, first) == Refusal.BAD_SIGNATURE


def test_a_signature_for_another_kind_of_message_is_not_good() -> None:
    borrowed = Signed(
        body=LIST[0].raw.decode(), signature=ANALYST.sign(Certificate.domain, LIST[0].raw)
    )
    assert code_of(SHOWN[0].raw, [borrowed], None) == Refusal.BAD_SIGNATURE
    assert code_of(SHOWN[0].raw, CHAIN[:1], None) is None
