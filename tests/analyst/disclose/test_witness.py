"""What a witness keeps and signs: all that it saw, when, and the proof of a fork."""

from math import inf
from pathlib import Path

import pytest

from midpoint.analyst.disclose.witness import WitnessFiles
from midpoint.errors import MidpointError
from midpoint.wire import Chain, Signed, WitnessStatement
from tests.support.people.made_up import STRANGER, disclosure, entries, sealed
from tests.support.sites.published import CHAIN, LIST, SHOWN

ALL = [*SHOWN, disclosure(seed=8), disclosure(seed=9)]


def listed(*chain: Signed) -> Chain:
    return Chain(entries=chain)


class Kept(WitnessFiles):
    """A witness to whom the service showed all that the tests' lists name."""

    def see(self, chain: Chain, now: int, every: float = inf) -> WitnessStatement:
        for shown in ALL:
            if ("disclosures", shown.digest) in self.wanted(chain):
                self.keep("disclosures", shown.digest, shown.raw)
        return super().see(chain, now, every)


@pytest.fixture
def files(tmp_path: Path) -> WitnessFiles:
    return Kept(tmp_path / "witness")


def test_it_signs_when_each_entry_was_first_seen(files: WitnessFiles) -> None:
    files.see(listed(*CHAIN[:2]), 100)
    files.see(listed(*CHAIN[:2]), 200)
    made = files.see(listed(*CHAIN), 300)
    assert made.entries == tuple(entry.digest for entry in LIST)
    assert (made.seen, made.time, made.key) == ((100, 100, 300, 300), 300, files.key.public)
    kept = WitnessFiles(files.root)
    assert kept.statement is not None
    assert kept.statement.is_signed_by(files.key.public, WitnessStatement)
    assert kept.statement.open(WitnessStatement) == made
    assert kept.chain == listed(*CHAIN)
    assert (files.root / "key.pem").stat().st_mode & 0o077 == 0


def test_a_clock_that_was_set_back_makes_nothing_older(files: WitnessFiles) -> None:
    files.see(listed(*CHAIN[:1]), 1000)
    made = files.see(listed(*CHAIN[:2]), 10)
    assert (made.seen, made.time) == ((1000, 1000), 1000)


def test_a_fork_is_kept_as_proof_and_nothing_more_is_signed(files: WitnessFiles) -> None:
    files.see(listed(*CHAIN), 100)
    before = files.statement
    fork = sealed(entries([SHOWN[0], disclosure(seed=9)]))
    with pytest.raises(MidpointError, match="another past"):
        files.see(listed(*fork), 200)
    assert files.forks == tuple(fork)
    assert files.statement == before
    for again in (CHAIN, sealed(entries([SHOWN[0], disclosure(seed=8)]))):
        with pytest.raises(MidpointError, match="two pasts"):
            files.see(listed(*again), 300)
    assert files.forks == tuple(fork)  # one proof is enough
    assert files.statement == before


def test_a_list_of_another_key_is_no_fork(files: WitnessFiles) -> None:
    """Else anybody who takes over the address could end what the witness signs for the service."""
    files.see(listed(*CHAIN), 100)
    with pytest.raises(MidpointError, match="another key"):
        files.see(listed(*sealed(entries(SHOWN, STRANGER), STRANGER)), 200)
    assert files.forks == ()
    assert files.see(listed(*CHAIN), 300).time == 300


def test_an_entry_is_signed_only_once_what_it_names_is_kept(tmp_path: Path) -> None:
    files = WitnessFiles(tmp_path)
    assert files.wanted(listed(*CHAIN[:2])) == [
        ("disclosures", LIST[1].disclosure),
        ("disclosures", LIST[0].disclosure),
    ]
    with pytest.raises(MidpointError, match="not shown to all"):
        files.see(listed(*CHAIN[:2]), 100)
    with pytest.raises(MidpointError, match="something else"):
        files.keep("disclosures", LIST[1].disclosure, SHOWN[0].raw)
    files.keep("disclosures", LIST[1].disclosure, SHOWN[1].raw)
    assert files.see(listed(*CHAIN[:2]), 100).seen == (100, 100)  # the replaced one may be gone
    assert files.wanted(listed(*CHAIN[:2])) == []
    assert files.wanted(listed(*CHAIN[:3])) == [("disclosures", LIST[2].disclosure)]
    assert files.document("disclosures", LIST[1].disclosure).read_bytes() == SHOWN[1].raw


def test_space_is_bounded(tmp_path: Path) -> None:
    files = WitnessFiles(tmp_path, space=len(SHOWN[0].raw) + 10)
    files.keep("disclosures", SHOWN[0].digest, SHOWN[0].raw)
    with pytest.raises(MidpointError, match="--space"):
        files.keep("disclosures", SHOWN[1].digest, SHOWN[1].raw)


def test_a_shorter_list_is_no_proof_but_is_not_signed(files: WitnessFiles) -> None:
    files.see(listed(*CHAIN), 100)
    with pytest.raises(MidpointError, match="ends at entry 1"):
        files.see(listed(*CHAIN[:2]), 200)
    assert files.forks == ()


@pytest.mark.parametrize(
    "chain",
    [
        CHAIN[1:],
        [CHAIN[0], CHAIN[2]],
        [CHAIN[0], Signed.seal(LIST[1], STRANGER)],
        [*CHAIN[:2], *sealed(entries([SHOWN[0], disclosure(seed=9), SHOWN[2]]))[2:]],
    ],
)
def test_a_list_that_is_none_is_refused(files: WitnessFiles, chain: list[Signed]) -> None:
    with pytest.raises(MidpointError):
        files.see(listed(*chain), 100)
    assert files.statement is None


def test_a_lost_key_is_not_replaced(files: WitnessFiles) -> None:
    files.see(listed(*CHAIN), 100)
    (files.root / "key.pem").unlink()
    with pytest.raises(MidpointError, match="restore"):
        files.see(listed(*CHAIN), 200)


@pytest.mark.slow
def test_time_in_which_it_could_not_look_shows_nothing(tmp_path: Path) -> None:
    """A service shows a lie once, locks the witness out for a day, and then replaces it."""
    day, every = 86_400, 600
    for name, looks, shown in (("control", inf, 1), ("watchful", every, 0)):
        files = Kept(tmp_path / name)
        for now in range(0, 2 * day, every):
            files.see(listed(*CHAIN[:1]), now, looks)
        files.see(listed(*CHAIN[:2]), 2 * day, looks)
        made = files.see(listed(*CHAIN[:3]), 3 * day + every, looks)
        assert made.newest_shown_for(day) == shown
    for now in range(3 * day + every, 4 * day + 2 * every, every):
        made = files.see(listed(*CHAIN[:3]), now, every)
    assert made.newest_shown_for(day) == 2
