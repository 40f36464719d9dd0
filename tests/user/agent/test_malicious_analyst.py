"""A malicious analyst tries everything; each lie is refused with nothing sent and nothing lost.

Every test has its control: the honest service behind the same door is accepted before and after.
"""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from midpoint.errors import MidpointError
from midpoint.user import AsyncAgent, DeviceSecret
from midpoint.user.agent import Agent, AwayError, Channel, Home, Patience, UnusableError
from midpoint.wire import (
    ONE,
    Catalogue,
    Disclosure,
    Entry,
    Receipt,
    Refusal,
    RefusedError,
    Report,
    Signed,
    Solicitation,
)
from tests.support.door import Behave, Door, answering, bomb, dripping, plain
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
from tests.support.people import QUICK, WOMAN, MakeAgent
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


def go_through_a_round(agent: Agent, share: int = 3) -> None:
    agent.connect()
    asked = agent.solicit()
    agent.answer(dict.fromkeys(asked.items[:share], 4.0), WOMAN)
    assert agent.submit() is not None


def kept(agent: Agent) -> dict[str, bytes]:
    folder = agent.home.folder
    assert isinstance(folder, Path)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
    "honest, without withholding": (lambda s: downgrade(s, "dmp"), None),
    "honest, rounding": (lambda s: downgrade(s, "mpssr"), None),
}
"""What is refused, or taken, by somebody who has never been there."""


@pytest.mark.parametrize("name", AT_FIRST)
def test_on_first_use_numbers_are_looked_at_and_a_scheme_is_hers_to_take(
    name: str, up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    """The controls are the downgrades: a scheme is refused as a change, not for what it is."""
    make, code = AT_FIRST[name]
    agent, lie = agent_at(door.address), make(up.shown)
    show(door, grown((), lie, key=up.key, titles=up.titles), lie)
    if code is None:
        assert agent.connect().accepted.pin.scheme == lie.scheme
        return
    with pytest.raises(RefusedError) as refused:
        agent.connect()
    assert (refused.value.code, door.secrets_sent, agent.home.pin) == (code, [], None)
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


def test_a_disclosure_made_for_one_user_shows_beside_a_witness(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    """Control: without a witness a list made for her alone is accepted, for it is consistent."""
    lied_to, warned, lucky = (
        agent_at(door.address, "a"),
        agent_at(door.address, "b", witness=up.address),
        agent_at(door.address, "c", witness=up.address),
    )
    lucky.connect()
    made_for_her = one_item(up.shown, 0)
    show(door, grown((), made_for_her, key=up.key, titles=up.titles), made_for_her)
    lied_to.connect()
    with pytest.raises(RefusedError) as refused:
        warned.connect()
    assert refused.value.code is Refusal.WITNESS_DISAGREES
    assert door.secrets_sent == []
    assert warned.home.pin is None
    door.honest()
    go_through_a_round(warned)


def test_the_witness_is_asked_without_a_pseudonym(
    up: Upstream, door: Door, agent_at: MakeAgent
) -> None:
    witness = Door(up.port)
    go_through_a_round(agent_at(door.address, witness=witness.address))
    assert [one.line for one in witness.seen] == ["GET /v1/chain/head HTTP/1.1"]
    assert witness.secrets_sent == []
    assert {one.split(" ")[1] for one in door.secrets_sent} == {"/v1/solicitation", "/v1/reports"}
    witness.stop()


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


def test_new_coins_each_time_would_tell(up: Upstream, door: Door) -> None:
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
