"""A witness over HTTP, in front of a small analyst."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from midpoint.errors import MidpointError
from midpoint.wire import Chain, Entry, Signed, WitnessStatement
from tests.support.people.made_up import disclosure, entries, sealed, titles_of
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.tiny_analyst import TinyAnalyst
from tests.support.sites.witnessing import RunningWitness, running_witness


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


def test_it_asks_as_a_device_asks(door: Door, witness: RunningWitness) -> None:
    witness.look()
    lines = [one.line.split("/")[2].split()[0] for one in door.seen]
    assert lines[:3] == ["chain", "disclosures", "catalogues"]
    assert {*lines[3:]} == {"chain"}
    assert {one.header("User-Agent") for one in door.seen} == {"midpoint"}
