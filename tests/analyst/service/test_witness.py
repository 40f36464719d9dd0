"""A witness over HTTP, in front of a small analyst."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from midpoint.errors import MidpointError
from midpoint.wire import Chain, Entry, Signed, WitnessStatement
from tests.support.door import Door, answering, plain
from tests.support.made_up import disclosure, entries, sealed
from tests.support.tiny_analyst import TinyAnalyst
from tests.support.witnessing import RunningWitness, running_witness


@pytest.fixture
def door() -> Iterator[Door]:
    analyst = TinyAnalyst()
    made = Door(analyst.port)
    yield made
    made.stop()
    analyst.stop()


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


def test_a_fork_is_shown_and_said(door: Door, witness: RunningWitness) -> None:
    fork = sealed(entries([disclosure(seed=9)]))
    door.behave["/v1/chain"] = answering(plain(Chain(entries=tuple(fork)).raw))
    with pytest.raises(MidpointError, match="another past"):
        witness.look(after=600)
    ready = httpx.get(f"{witness.address}/health/ready")
    assert ready.status_code == 503
    assert "another past" in ready.json()["message"]
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
    assert {one.line for one in door.seen} == {"GET /v1/chain HTTP/1.1"}
    assert {one.header("User-Agent") for one in door.seen} == {"midpoint"}
