from pathlib import Path

import pytest

from midpoint.analyst import publish
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Summary
from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Ledger, PrivateCategory, check_disclosure, decide
from midpoint.wire import ONE, Report, SigningKey, Solicitation
from tests.support.models.small_model import run, trained


def test_it_names_items_and_certifies_the_choice() -> None:
    model = trained()
    facts = run("solicit", model.directory, "--budget", 8, "--json")
    assert len(facts["items"]) == 8
    titles = dict(zip(model.profiles.item_ids, model.profiles.item_names, strict=True))
    assert all(titles[row["item"]] == row["title"] for row in facts["items"])
    assert 0 < facts["bound"] <= facts["loss"]
    assert facts["gap"] == pytest.approx(facts["loss"] / facts["bound"] - 1)
    assert facts["gap"] < 0.05
    shown = run("solicit", model.directory, "--budget", 8)
    assert facts["items"][0]["title"] in shown
    assert f"{facts['loss']:.4f}" in shown


def test_chosen_items_beat_random_ones() -> None:
    model = trained()
    best = run("solicit", model.directory, "--budget", 6, "--json")
    random = run("solicit", model.directory, "--budget", 6, "--method", "random", "--json")
    common = run("solicit", model.directory, "--budget", 6, "--method", "most-rated", "--json")
    assert best["loss"] < random["loss"]
    assert len(common["items"]) == 6


def test_what_was_answered_counts_and_is_not_asked_again(tmp_path: Path) -> None:
    model = trained()
    report = model.report(tmp_path / "r.json", model.answers(10))
    before = run("solicit", model.directory, "--budget", 60, "--json")
    after = run("solicit", model.directory, "--budget", 5, "--report", report, "--json")
    assert after["answered"] == 10
    assert not {row["item"] for row in after["items"]} & set(model.answers(10))
    assert {row["item"] for row in before["items"]} & set(model.answers(10))
    fresh = run("solicit", model.directory, "--budget", 5, "--json")
    assert after["loss"] < fresh["loss"]


def test_without_a_prior_too_few_items_are_refused() -> None:
    model = trained()
    words = ("solicit", model.directory, "--estimator", "least-squares")
    with pytest.raises(MidpointError):
        run(*words, "--budget", 2)
    assert run(*words, "--budget", 10, "--json")["loss"] > 0


def test_the_question_is_written_for_the_device(tmp_path: Path) -> None:
    model = trained()
    out, words = tmp_path / "q.json", ("solicit", model.directory, "--budget", 5, "--json")
    facts = run(*words, "--disclosure", model.disclosure_file, "--round", 3, "--out", out)
    asked = Solicitation.parse(out.read_bytes())
    assert asked.disclosure == model.disclosure.digest
    assert asked.round == 3
    assert asked.items == tuple(sorted(row["item"] for row in facts["items"]))
    run(*words, "--out", out)
    assert Solicitation.parse(out.read_bytes()) == asked.model_copy(update={"round": 0})
    report = model.report(tmp_path / "r.json", model.answers(10), round=3)
    run(*words, "--report", report, "--out", out)
    following = Solicitation.parse(out.read_bytes())
    assert following.round == 4
    assert not set(following.items) & set(model.answers(10))
    accepted = check_disclosure(
        model.disclosure.raw, [publish(model.disclosure, SigningKey(bytes(32)), time=0)], None
    )
    ledger = Ledger(DeviceSecret(bytes(32)))
    ratings = dict.fromkeys(following.items, 3 * ONE)
    answer = decide(ratings, following, accepted, PrivateCategory({"gender": "F"}), ledger)
    assert answer.round == 4


def test_the_command_asks_what_library_and_service_ask(tmp_path: Path) -> None:
    model = trained()
    report = model.report(tmp_path / "r.json", model.answers(10))
    words = ("solicit", model.directory, "--disclosure", model.disclosure_file, "--budget", 5)
    service = Model(model.profiles, model.disclosure)
    answers = Report.parse(report.read_bytes()).answers
    for past, summary in (
        ((), Summary(0)),
        (("--report", report), Summary(0, items=dict(answers))),
    ):
        items = [row["item"] for row in run(*words, *past, "--json")["items"]]
        assert sorted(items) == service.ask(summary, 5)
