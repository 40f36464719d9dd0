"""A malicious analyst tries everything; each lie is refused with nothing sent and nothing lost.

Every test has its control: the honest service behind the same door is accepted before and after.
"""

from collections.abc import Callable

import httpx
import pytest

from midpoint.wire import (
    ONE,
    Catalogue,
    Disclosure,
    Entry,
    Refusal,
    RefusedError,
    Signed,
)
from tests.support.door import Door
from tests.support.lies import (
    changed,
    crafted_levels,
    downgrade,
    grown,
    huge_offset,
    one_item,
    other_features,
    other_scale,
    say,
    show,
    show_newer,
    telling_levels,
    telling_offset,
    telling_silence,
    tiny_reveal,
    unsafe,
    with_number,
)
from tests.support.made_up import STRANGER
from tests.support.people import MakeAgent, go_through_a_round, kept
from tests.support.upstream import Upstream

pytestmark = pytest.mark.slow


Lie = Callable[[Door, Upstream], None]


def newer(make: Callable[[Disclosure], Disclosure]) -> Lie:
    """Publish a crafted disclosure after the honest one, properly signed."""
    return lambda door, up: show_newer(door, up, make(up.shown))


def number(text: str) -> Lie:
    """Show a disclosure with this text instead of a number."""
    return lambda door, up: show(door, up.chain, with_number(up.shown, text))


def older_disclosure(door: Door, up: Upstream) -> None:
    """The whole list, but an old disclosure for its newest entry."""
    show(door, grown(up.chain, one_item(up.shown, 0), key=up.key), up.shown)


def forked(door: Door, up: Upstream) -> None:
    """Another past that ends in what is current."""
    show(door, grown((), one_item(up.shown, 1), up.shown, key=up.key), up.shown)


def unsigned(door: Door, up: Upstream) -> None:
    """A list in the pinned key's name, signed by a stranger."""
    entry = up.chain[-1].open(Entry)
    show(door, [Signed.seal(entry, STRANGER)], up.shown)


def with_a_gap(door: Door, up: Upstream) -> None:
    """A list that leaves out what came between."""
    whole = grown(up.chain, one_item(up.shown, 0), one_item(up.shown, 1), key=up.key)
    show(door, [*up.chain, whole[-1]], one_item(up.shown, 1))


def titles_of_her_own(door: Door, up: Upstream) -> None:
    """The honest list, and two titles swapped: an answer would be about the other."""
    honest = httpx.get(f"{up.address}/v1/catalogues/{up.titles}").content
    titles = list(Catalogue.parse(honest).titles)
    titles[0], titles[1] = titles[1], titles[0]
    swapped = Catalogue.parse(honest).model_copy(update={"titles": tuple(titles)})
    say(door, f"/v1/catalogues/{up.titles}", swapped.raw)


def untitled(door: Door, up: Upstream) -> None:
    """The list goes on without saying what its titles are."""
    newest = up.chain[-1].open(Entry)
    changes = {"sequence": len(up.chain), "previous": newest.digest, "catalogue": None}
    show(door, [*up.chain, Signed.seal(newest.model_copy(update=changes), up.key)], up.shown)


LIES: dict[str, tuple[Lie, Refusal]] = {
    "titles of her own": (titles_of_her_own, Refusal.WRONG_TITLES),
    "titles by nobody": (untitled, Refusal.TITLES_UNSIGNED),
    "other key": (
        lambda door, up: show(door, grown((), up.shown, key=STRANGER), up.shown),
        Refusal.KEY_CHANGED,
    ),
    "not signed": (unsigned, Refusal.BAD_SIGNATURE),
    "gap": (with_a_gap, Refusal.CHAIN_GAP),
    "forked": (forked, Refusal.CHAIN_FORKED),
    "older disclosure": (older_disclosure, Refusal.ROLLED_BACK),
    "other bytes": (
        lambda door, up: show(door, up.chain, one_item(up.shown, 0)),
        Refusal.WRONG_DIGEST,
    ),
    "telling levels": (newer(telling_levels), Refusal.TOO_TELLING),
    "telling silence": (newer(telling_silence), Refusal.TOO_TELLING),
    "no withholding any more": (newer(lambda s: downgrade(s, "dmp")), Refusal.SCHEME_CHANGED),
    "rounding from now on": (newer(lambda s: downgrade(s, "mpssr")), Refusal.SCHEME_CHANGED),
    "crafted levels": (newer(crafted_levels), Refusal.BAD_DISTRIBUTION),
    "nobody always reveals": (newer(tiny_reveal), Refusal.REVEAL_INCONSISTENT),
    "reveal of zero": (
        newer(lambda s: changed(s, reveal=((0,) * s.n_cells,) * len(s.items))),
        Refusal.REVEAL_OUT_OF_RANGE,
    ),
    "ratings as they are": (newer(unsafe), Refusal.SCHEME_UNSAFE),
    "other features": (newer(other_features), Refusal.FEATURES_CHANGED),
    "other scale": (newer(other_scale), Refusal.SCALE_CHANGED),
    "a fraction": (number("0.5"), Refusal.NOT_AN_INTEGER),
    "not a number": (number("NaN"), Refusal.NOT_AN_INTEGER),
    "infinite": (number("1e999"), Refusal.NOT_AN_INTEGER),
    "a text": (number('"65536"'), Refusal.NOT_AN_INTEGER),
    "beyond exact": (number("1" + "0" * 30), Refusal.INTEGER_TOO_LARGE),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused_and_nothing_is_sent_or_lost(
    name: str, up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    lie, code = LIES[name]
    agent = agent_at(door.address)
    go_through_a_round(agent)
    before = kept(agent)
    door.seen.clear()

    lie(door, up)
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is code
    assert door.secrets_sent == []
    assert kept(agent) == before

    door.honest()
    go_through_a_round(agent)
    assert len(agent.home.ledger.rounds) == 2


AT_FIRST: dict[str, tuple[Callable[[Disclosure], Disclosure], Refusal | None]] = {
    "huge offset": (lambda s: huge_offset(s, 5 * ONE), Refusal.OFFSET_TOO_LARGE),
    "telling offset": (telling_offset, Refusal.TOO_TELLING),
    "telling levels": (telling_levels, Refusal.TOO_TELLING),
    "telling silence": (telling_silence, Refusal.TOO_TELLING),
    "ratings as they are": (unsafe, Refusal.SCHEME_UNSAFE),
    "honest, without withholding": (lambda s: downgrade(s, "dmp"), Refusal.RATED_SHOWN),
    "honest, rounding": (lambda s: downgrade(s, "mpssr"), None),
}
"""What is refused, or taken, by somebody who has never been there."""


@pytest.mark.parametrize("name", AT_FIRST)
def test_on_first_use_numbers_are_looked_at_and_a_scheme_is_hers_to_take(
    name: str, up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    """The control is another scheme: it is refused as a change, or if it shows what she rates."""
    make, code = AT_FIRST[name]
    agent, lie = agent_at(door.address), make(up.shown)
    honest = Catalogue.parse(httpx.get(f"{up.address}/v1/catalogues/{up.titles}").content)
    named = {} if honest.scheme is None else {"scheme": lie.scheme}
    titles = honest.model_copy(update=named)  # they name the scheme that goes with them
    say(door, f"/v1/catalogues/{titles.digest}", titles.raw)
    show(door, grown((), lie, key=up.key, titles=titles.digest), lie)
    if code is None:
        assert agent.connect().accepted.pin.scheme == lie.scheme
        return
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert (refused.value.code, door.secrets_sent, agent.home.pin) == (code, [], None)
    if code is Refusal.RATED_SHOWN:  # unless she agrees
        agreeing = agent_at(door.address, "agreeing", show_rated=True)
        assert agreeing.connect().accepted.pin.scheme == lie.scheme
    door.honest()
    go_through_a_round(agent)


def test_a_rollback_is_refused(up: Upstream, door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    show_newer(door, up, one_item(up.shown, 0))
    agent.connect()
    before = kept(agent)
    door.honest()
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert refused.value.code is Refusal.ROLLED_BACK
    assert (door.secrets_sent, kept(agent)) == ([], before)
    show_newer(door, up, one_item(up.shown, 0), up.shown)
    agent.connect()
