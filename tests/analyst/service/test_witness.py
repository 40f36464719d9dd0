"""A witness over HTTP, in front of a small analyst."""

import asyncio
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from midpoint.analyst.disclose.witness import WitnessFiles
from midpoint.analyst.service.http.documents import Document
from midpoint.analyst.service.witness import Witness
from midpoint.errors import MidpointError
from midpoint.user.agent.channel import Channel, Request
from midpoint.wire import Chain, Entry, Signed, WitnessStatement
from midpoint.wire.exchange import LARGEST_LIST
from tests.support.people.made_up import disclosure, entries, sealed, titles_of
from tests.support.sites.door import Door, answering, bomb, plain
from tests.support.sites.tiny_analyst import TinyAnalyst
from tests.support.sites.witnessing import HOUR, RunningWitness, running_witness


@pytest.fixture
def analyst() -> Iterator[TinyAnalyst]:
    made = TinyAnalyst()
    yield made
    made.stop()


@pytest.fixture
def door(analyst: TinyAnalyst) -> Iterator[Door]:
    made = Door(analyst.port)
    yield made
    made.stop()


@pytest.fixture
def witness(door: Door, tmp_path: Path) -> Iterator[RunningWitness]:
    with running_witness(door.address, tmp_path / "witness") as made:
        yield made


def test_it_shows_what_it_signed_and_kept_to_everyone(witness: RunningWitness) -> None:
    shown = httpx.get(f"{witness.address}/v1/witness")
    assert shown.headers["access-control-allow-origin"] == "*"
    assert "no-store" in shown.headers["cache-control"]
    statement = Signed.parse(shown.content).open(WitnessStatement)
    chain = Chain.parse(httpx.get(f"{witness.address}/v1/chain").content)
    assert statement.entries == tuple(signed.open(Entry).digest for signed in chain.entries)
    assert httpx.get(f"{witness.address}/v1/forks").json()["entries"] == []
    assert httpx.head(f"{witness.address}/v1/witness").status_code == 200
    assert httpx.get(f"{witness.address}/health/ready").status_code == 200


def test_what_it_shows_is_made_once_a_look_however_many_ask(
    witness: RunningWitness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and compressing a list of 1 MB for each who asked took a second of each."""
    made = []
    of = Document.of

    def counted(raw: bytes, **how: Any) -> Document:
        made.append(raw)
        return of(raw, **how)

    monkeypatch.setattr(Document, "of", counted)
    paths = ("witness", "chain", "forks")
    for looks in (1, 2):  # the second look is the control: what is new is shown
        before = witness.look(after=HOUR)
        shown = [httpx.get(f"{witness.address}/v1/{path}") for path in paths * 3]
        assert Signed.parse(shown[0].content).open(WitnessStatement) == before
        assert len(made) == looks * len(paths)


async def _statuses(witness: Witness) -> list[int]:
    """Ask it in this process, without its lifespan, so that nothing looks by itself."""
    transport = httpx.ASGITransport(app=witness.app())
    async with httpx.AsyncClient(transport=transport, base_url="http://witness") as client:
        paths = ("/health/ready", "/v1/witness")
        return [(await client.get(path)).status_code for path in paths]


def test_it_is_not_ready_before_its_first_look(door: Door, tmp_path: Path) -> None:
    """Also where it has signed before: nobody knows what the service shows since it started."""
    running = Witness(door.address, WitnessFiles(tmp_path / "witness"))
    asyncio.run(running.look())
    for witness, status in ((running, 200), (Witness(door.address, running.files), 503)):
        assert asyncio.run(_statuses(witness)) == [status, 200]


def test_it_keeps_and_shows_what_entries_name(
    analyst: TinyAnalyst, witness: RunningWitness
) -> None:
    chain = Chain.parse(httpx.get(f"{witness.address}/v1/chain").content)
    newest = chain.entries[-1].open(Entry)
    for path, named in (
        (f"disclosures/{newest.disclosure}", analyst.current),
        (f"catalogues/{newest.catalogue}", titles_of(analyst.current)),
    ):
        shown = httpx.get(f"{witness.address}/v1/{path}")
        assert shown.content == named.raw
        assert shown.headers["access-control-allow-origin"] == "*"
        assert shown.headers["cache-control"] == "no-store"
    for name in ("0" * 64, "..%2Fkey", "key"):
        assert httpx.get(f"{witness.address}/v1/disclosures/{name}").status_code == 404


@pytest.mark.parametrize(
    "answer",
    [plain(b"gone", 404), plain(b"{}"), plain(b" " * (2**26 + 1))],
    ids=["gone", "another", "too large"],
)
def test_an_entry_whose_disclosure_is_not_shown_to_it_is_not_signed(
    door: Door, analyst: TinyAnalyst, witness: RunningWitness, answer: bytes
) -> None:
    """A service shows an entry to all, and its disclosure to one person. Control: to all."""
    later = disclosure(seed=9)
    analyst.disclosures.append(later)
    door.behave[f"/v1/disclosures/{later.digest}"] = answering(answer)
    with pytest.raises(MidpointError):
        witness.look(after=600)
    kept = witness.witness.files.statement
    assert kept is not None
    assert len(kept.open(WitnessStatement).entries) == 1
    door.honest()
    assert len(witness.look().entries) == 2


def test_a_fork_is_shown_and_said(door: Door, witness: RunningWitness) -> None:
    fork = sealed(entries([disclosure(seed=9)]))
    door.behave["/v1/chain"] = answering(plain(Chain(entries=tuple(fork)).raw))
    with pytest.raises(MidpointError, match="past"):
        witness.look(after=600)
    ready = httpx.get(f"{witness.address}/health/ready")
    assert ready.status_code == 503
    assert "past" in ready.json()["message"]
    shown = httpx.get(f"{witness.address}/v1/forks").json()["entries"]
    assert [one["signature"] for one in shown] == [fork[0].signature]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (plain(b"{}"), "missing_field"),
        (plain(b"gone", 404), "404"),
        (plain(b" " * (2**24 + 1)), "more than"),
    ],
)
def test_what_is_no_list_is_not_signed(
    door: Door, witness: RunningWitness, answer: bytes, why: str
) -> None:
    door.behave["/v1/chain"] = answering(answer)
    with pytest.raises(MidpointError, match=why):
        witness.look()
    door.honest()
    witness.look()
    assert httpx.get(f"{witness.address}/health/ready").status_code == 200


@pytest.mark.parametrize(("coding", "why"), [("gzip", "more than"), ("br", "was not offered")])
def test_a_bomb_is_dropped_as_it_grows(
    door: Door, witness: RunningWitness, coding: str, why: str
) -> None:
    """260 KB that unpack to 256 MB never take much more than the longest list may have."""
    bombs = answering(plain(bomb(2**28), 200, f"Content-Encoding: {coding}"))
    door.behave["/v1/chain"] = bombs
    tracemalloc.start()
    with pytest.raises(MidpointError, match=why):
        witness.look()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * LARGEST_LIST


def test_it_asks_as_a_device_asks(door: Door, witness: RunningWitness) -> None:
    """Of its headers none tells the service that it is a witness."""
    witness.look()
    said = {tuple(one.headers) for one in door.seen}
    device = Request("GET", f"{door.address}/v1/chain", LARGEST_LIST)
    asyncio.run(Channel().ask(device))
    assert said == {tuple(door.seen[-1].headers)}
    door.seen.pop()
    lines = [one.line.split("/")[2].split()[0] for one in door.seen]
    assert lines[:3] == ["chain", "disclosures", "catalogues"]
    assert {*lines[3:]} == {"chain"}
