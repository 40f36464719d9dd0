"""A disclosure made for one person, behind a witness: real service, real witness, real device."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.analyst import Factorizer, ItemProfiles, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.cli.app import app
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from midpoint.user.agent import Agent, AwayError, UnusableError
from midpoint.wire import Chain, Disclosure, Entry, Refusal, RefusedError, Signed, SigningKey
from tests.support.people.agents import WOMAN, MakeAgent, directory_of
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.lies import grown, one_item, show
from tests.support.sites.serving import running, settings_of
from tests.support.sites.witnessing import DAY, HOUR, RunningWitness, running_witness

pytestmark = pytest.mark.slow


@dataclass
class World:
    """A service with one honest disclosure, a witness of it, and a door to the victim."""

    site: Site
    profiles: ItemProfiles
    honest: Disclosure
    witness: RunningWitness
    door: Door

    @property
    def lie(self) -> Disclosure:
        """A disclosure that swaps what is said of the categories, within all limits."""
        return one_item(self.honest, 0)

    @property
    def chain(self) -> tuple[Signed, ...]:
        chain = self.site.chain()
        assert chain is not None
        return chain.entries

    def publish(self, shown: Disclosure, after: float = 0) -> Entry:
        """Publish to everyone, so many seconds later by the witness's clock."""
        self.witness.clock.now += after
        return self.site.publish(self.profiles, shown, time=int(self.witness.clock.now)).entry

    def show_victim(self, *later: Disclosure) -> None:
        """Append entries for those who come through the door, and for nobody else."""
        key = SigningKey.load(self.site.root / "key.pem")
        made = Chain(entries=tuple(grown(self.chain, *later, key=key)))
        self.door.behave["/v1/chain"] = answering(plain(made.raw))
        for shown in later:
            path = f"/v1/disclosures/{shown.digest}"
            self.door.behave[path] = answering(plain(shown.raw))
            none = b'{"certificates":[],"version":1}'
            self.door.behave[f"{path}/certificates"] = answering(plain(none))


@pytest.fixture
def world(tiny: Simulation, tmp_path: Path) -> Iterator[World]:
    profiles = Factorizer(dimension=3, iterations=2, validation=0.0).fit(tiny.ratings, "gender")
    honest, site = disclose(profiles, "dmpss"), Site(tmp_path / "site")
    site.publish(profiles, honest, time=1_800_000_000)
    with running(settings_of(site)) as client:
        address = str(client.base_url)
        with running_witness(address.rstrip("/"), tmp_path / "witness") as witness:
            door = Door(client.base_url.port or 0)
            witness.look(after=2 * DAY)
            yield World(site, profiles, honest, witness, door)
            door.stop()


def answered_under(agent: Agent) -> str:
    """Go through a round with scores; return the disclosure that was answered under."""
    agent.connect()
    asked = agent.solicit()
    report = agent.answer(dict.fromkeys(asked.items[:3], 4.0), WOMAN)
    assert agent.submit() is not None
    assert agent.recommend(3, WOMAN)
    return report.disclosure


def test_an_entry_appended_for_one_person_is_not_answered_under(
    world: World, agent_at: MakeAgent
) -> None:
    """Control: without the witness she answers under it. The entry is kept, signed."""
    world.show_victim(world.lie)
    assert agent_at(world.door.address, "trusting").connect().accepted.disclosure == world.lie
    victim = agent_at(world.door.address, "victim", witness=world.witness.address)
    assert answered_under(victim) == world.honest.digest
    assert victim.standing.accepted.superseded
    kept = victim.home.proof.shown[-1]
    assert kept.open(Entry).disclosure == world.lie.digest
    assert (directory_of(victim) / "proof").read_bytes() == victim.home.proof.raw


def test_the_terminal_waits_for_the_witness_and_says_so(world: World, tmp_path: Path) -> None:
    """`midpoint answer` with the witness; control: without, it goes by the entry made for her."""
    world.show_victim(world.lie)
    file = tmp_path / "ratings.csv"
    file.write_text("item,rating\n" + "".join(f"{i},4\n" for i in world.honest.items[:5]))

    def answered(home: str, *words: str) -> str:
        her = ["--home", str(tmp_path / home), "--ratings", str(file), "--category", "gender=F"]
        words = ("answer", world.door.address, *her, "--yes", *words)
        return CliRunner().invoke(app, words, env={"COLUMNS": "200"}).output

    said = answered("victim", "--witness", world.witness.address)
    assert "entry 0 of the service's list" in said
    assert "A newer disclosure is out" in said
    (ledger,) = (tmp_path / "victim").glob("*/ledger")
    assert world.honest.digest in ledger.read_text()
    assert "entry 1 of the service's list" in answered("trusting")


def test_what_was_appended_for_her_proves_the_fork_when_the_honest_list_goes_on(
    world: World, agent_at: MakeAgent
) -> None:
    world.show_victim(world.lie)
    victim = agent_at(world.door.address, witness=world.witness.address)
    victim.connect()
    world.publish(one_item(world.honest, 1))
    world.door.honest()
    world.witness.look()
    world.witness.look(after=2 * DAY)
    with pytest.raises(RefusedError) as refused:
        victim.connect()
    assert refused.value.code is Refusal.CHAIN_FORKED
    both = [victim.home.proof.shown[-1], victim.home.proof.others[0]]
    assert {signed.open(Entry).sequence for signed in both} == {1}
    assert all(signed.is_signed_by(signed.open(Entry).key, Entry) for signed in both)
    victim.home.repin()  # she agrees to go on: the proof stays
    assert victim.connect().accepted.entry.sequence == 1
    assert both[0] in victim.home.proof.others
    assert victim.connect().accepted.entry.sequence == 1


def test_a_lie_that_is_public_for_a_moment_is_never_answered_under(
    world: World, agent_at: MakeAgent
) -> None:
    """Publish the lie, wait for the poll, serve the victim, publish again; also a day later."""
    world.publish(world.lie)
    world.witness.look()
    assert agent_at(world.door.address, "trusting").connect().accepted.disclosure == world.lie
    victim = agent_at(world.door.address, "victim", witness=world.witness.address)
    assert answered_under(victim) == world.honest.digest
    world.publish(one_item(world.honest, 1), after=HOUR)
    world.witness.look()
    for hours in (22, 1, 0.5, 0.4):  # the lie was first seen a day ago, the newest was not yet
        world.witness.look(after=hours * HOUR)
        assert victim.connect().accepted.disclosure == world.honest
    world.witness.look(after=HOUR)
    assert victim.connect().accepted.disclosure == one_item(world.honest, 1)
    assert not victim.standing.accepted.superseded


def test_an_entry_counts_once_it_was_shown_for_the_hours_that_she_set(
    world: World, agent_at: MakeAgent
) -> None:
    later = one_item(world.honest, 1)
    world.publish(later)
    world.witness.look()
    world.witness.look(after=2 * HOUR)
    patient = agent_at(world.door.address, "a", witness=world.witness.address)
    brief = agent_at(world.door.address, "b", witness=world.witness.address, shown_for=2 * HOUR)
    assert answered_under(patient) == world.honest.digest
    assert answered_under(brief) == later.digest


def test_a_service_that_locks_the_witness_out_gains_no_time(
    world: World, agent_at: MakeAgent
) -> None:
    world.publish(world.lie)
    world.witness.look()
    world.witness.witness.service = "http://127.0.0.1:9"
    with pytest.raises(MidpointError):
        world.witness.look(after=2 * DAY)
    victim = agent_at(world.door.address, witness=world.witness.address)
    assert victim.connect().accepted.disclosure == world.honest


def test_a_witness_that_is_away_allows_what_it_allowed_before(
    world: World, agent_at: MakeAgent
) -> None:
    """Control: somebody whom it never allowed anything waits for it."""
    agent = agent_at(world.door.address, "a", witness=world.witness.address)
    agent.connect()
    world.publish(world.lie)
    away = "http://127.0.0.1:9"
    agent.inner._witness = away
    assert agent.connect().accepted.disclosure == world.honest
    with pytest.raises(AwayError):
        agent_at(world.door.address, "b", witness=away).connect()


def test_an_address_that_is_no_witness_is_named_as_such(world: World, agent_at: MakeAgent) -> None:
    agent = agent_at(world.door.address, witness=world.witness.address)
    agent.inner._witness = world.door.address
    with pytest.raises(UnusableError, match=r"does not answer as a witness.*\[not_found\]"):
        agent.connect()


def test_nothing_is_answered_before_anything_was_shown_long_enough(
    world: World, agent_at: MakeAgent, tmp_path: Path
) -> None:
    with running_witness(world.door.address, tmp_path / "new") as fresh:
        agent = agent_at(world.door.address, witness=fresh.address)
        for hours, code in ((0, Refusal.NOT_WITNESSED), (23, Refusal.NOT_WITNESSED), (1, None)):
            fresh.look(after=hours * HOUR)
            if code is None:
                assert agent.connect().accepted.disclosure == world.honest
                continue
            with pytest.raises(RefusedError) as refused:
                agent.connect()
            assert refused.value.code is code
    assert world.door.secrets_sent == []


def test_another_witness_under_the_same_address_is_refused(
    world: World, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent = agent_at(world.door.address, witness=world.witness.address)
    agent.connect()
    with running_witness(world.door.address, tmp_path / "other") as other:
        other.look(after=2 * DAY)
        changed = agent_at(world.door.address, "b", witness=other.address)
        changed.connect()
        changed.inner._witness = world.witness.address
        named = agent_at(*(world.door.address, "c"), witness=other.address, witness_key="0" * 64)
        for asking in (changed, named):
            with pytest.raises(RefusedError) as refused:
                asking.connect()
            assert refused.value.code is Refusal.WITNESS_CHANGED


def test_a_witness_that_is_known_may_not_be_missing(
    world: World, agent_at: MakeAgent, tmp_path: Path
) -> None:
    """Controls: somebody who never had one answers, and so does she once she agrees."""
    with agent_at(world.door.address, "a", witness=world.witness.address) as first:
        first.connect()
    world.show_victim(world.lie)
    again = agent_at(world.door.address, "a")  # it is remembered, and asked
    assert again.connect().accepted.disclosure == world.honest
    again.home.repin()  # she agrees to a change of the service: the witness's key stays
    with running_witness(world.door.address, tmp_path / "its-own") as its_own:
        its_own.look(after=2 * DAY)
        again.inner._witness = its_own.address
        with pytest.raises(RefusedError) as refused:
            again.connect()
        assert refused.value.code is Refusal.WITNESS_CHANGED
    again.inner._witness = None
    with pytest.raises(RefusedError) as refused:
        again.connect()
    assert refused.value.code is Refusal.NOT_WITNESSED
    assert world.door.secrets_sent == []
    again.home.close()
    assert agent_at(world.door.address, "b").connect().accepted.disclosure == world.lie
    agreed = agent_at(world.door.address, "a", without_witness=True)
    assert agreed.connect().accepted.disclosure == world.lie


def test_a_list_made_for_one_person_is_refused(world: World, agent_at: MakeAgent) -> None:
    """Control: without a witness it is accepted, for it is consistent."""
    key = SigningKey.load(world.site.root / "key.pem")
    titles = world.chain[0].open(Entry).catalogue
    show(world.door, grown((), world.lie, key=key, titles=titles), world.lie)
    agent_at(world.door.address, "trusting").connect()
    warned = agent_at(world.door.address, "warned", witness=world.witness.address)
    with pytest.raises(RefusedError) as refused:
        warned.connect()
    assert refused.value.code is Refusal.WITNESS_DISAGREES
    assert world.door.secrets_sent == []
    assert warned.home.pin is None
    world.door.honest()
    assert answered_under(warned) == world.honest.digest


def test_the_witness_is_asked_without_a_pseudonym(world: World, agent_at: MakeAgent) -> None:
    before = Door(int(world.witness.address.rpartition(":")[2]))
    answered_under(agent_at(world.door.address, witness=before.address))
    assert [one.line for one in before.seen] == ["GET /v1/witness HTTP/1.1"]
    assert before.secrets_sent == []
    before.stop()
