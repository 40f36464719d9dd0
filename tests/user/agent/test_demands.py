"""What a person demands holds until she changes it, and goes with her to another device."""

from pathlib import Path
from typing import Any

import pytest

from midpoint.errors import MidpointError
from midpoint.user.agent import Agent, AwayError, Channel, Terms
from midpoint.user.agent import transfer as module
from midpoint.user.agent.demands import Demands
from midpoint.user.agent.home import Home
from midpoint.user.agent.transfer import export_home, import_home
from midpoint.wire import Refusal, RefusedError
from tests.support.people.agents import QUICK, directory_of
from tests.support.sites.door import Door

KEY, OTHER = "1" * 64, "2" * 64
PHRASE = "correct horse battery"


def test_what_was_not_mentioned_stays_and_weaker_is_only_what_was_said() -> None:
    first = Demands().changed(
        auditors=(KEY,), require_certificate=True, most_auc=550_000, shown_for=7200
    )
    again = first.changed(auditors=None, require_certificate=None, most_auc=None, shown_for=None)
    assert again == first
    assert Terms.of(again) == Terms(
        auditors=(KEY,), require_certificate=True, most_auc=0.55, shown_for=7200
    )
    weaker = first.changed(require_certificate=False)
    assert not Terms.of(weaker).require_certificate
    assert Terms.of(weaker).shown_for == 7200
    bounded = first.changed(most_leak=600_000)
    assert Terms.of(bounded).most_leak == 0.6
    assert Terms.of(bounded.changed(without=("most_leak",))).most_leak is None
    assert Terms.of(Demands()) == Terms()


def test_the_key_of_a_witness_goes_with_the_witness() -> None:
    named = Demands().changed(witness="https://a.example", witness_key=KEY)
    assert named.changed(shown_for=60).witness_key == KEY
    assert named.changed(witness="https://a.example").witness_key == KEY
    assert named.changed(witness="https://b.example").witness_key is None
    assert named.changed(witness="https://b.example", witness_key=OTHER).witness_key == OTHER


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"most_auc": 400_000}, "0.4 is no AUC to accept at most"),
        ({"most_leak": 1_200_000}, "1.2 is no AUC"),
        ({"witness_key": "x"}, "witness key: 'x' is none; a key has 64"),
    ],
)
def test_what_is_no_demand_is_said(given: dict[str, Any], words: str) -> None:
    with pytest.raises(MidpointError, match=words):
        Demands().changed(**given)


def test_a_damaged_file_is_not_taken_for_no_demand(tmp_path: Path) -> None:
    home = Home.inside(tmp_path, "there")
    home.demand(require_certificate=True)
    home.close()
    path = tmp_path / "there" / "demands"
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(MidpointError, match="is damaged"):
        Home.inside(tmp_path, "there")
    path.unlink()
    reopened = Home.inside(tmp_path, "there")
    assert reopened.demands == Demands()
    reopened.close()


def test_a_demand_holds_in_the_next_run_and_on_the_next_device(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COST", 2**4)

    def agent(root: str) -> Agent:
        return Agent.open(door.address, tmp_path / root, None, Channel(QUICK))

    with agent("home") as first:
        first.connect()  # the control: nothing is demanded, and nobody certified it
        first.home.demand(auditors=(KEY,), require_certificate=True)
        directory = directory_of(first)
    with agent("home") as again, pytest.raises(RefusedError) as refused:
        again.connect()
    assert refused.value.code is Refusal.NOT_CERTIFIED
    import_home(export_home(directory, PHRASE), PHRASE, tmp_path / "other")
    with agent("other") as moved, pytest.raises(RefusedError) as refused:
        moved.connect()
    assert refused.value.code is Refusal.NOT_CERTIFIED
    with agent("other") as weaker:
        weaker.home.demand(require_certificate=False)
    with agent("other") as last:
        last.connect()


def test_she_may_go_on_for_one_run_without_the_witness_that_she_demanded(
    door: Door, tmp_path: Path
) -> None:
    """It is gone for good; control: unless she says so, nothing is done without it."""

    def agent(**of_this_run: Any) -> Agent:
        home = Home.at(door.address, tmp_path)
        home.demand(witness="http://127.0.0.1:9")
        terms = Terms.of(home.demands, **of_this_run)
        home.close()
        return Agent.open(door.address, tmp_path, terms, Channel(QUICK))

    for _ in range(2):
        with agent() as waiting, pytest.raises(AwayError):
            waiting.connect()
        with agent(without_witness=True) as alone:
            alone.connect()
