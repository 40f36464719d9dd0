"""The files in vectors/v1 are up to date, and this program does what they say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.user import (
    Adjustment,
    DeviceSecret,
    Ledger,
    Parameters,
    Pin,
    PrivateCategory,
    check_disclosure,
    check_titles,
    correct,
    decide,
    obfuscate,
    toss,
    verify_certificate,
)
from midpoint.user.agent.transfer import import_home
from midpoint.user.checks.links import read_statement
from midpoint.user.core.counterparts import adjustment_of, counterparts
from midpoint.wire import (
    SCHEMES,
    Catalogue,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    Message,
    Problem,
    Receipt,
    Refusal,
    RefusedError,
    Report,
    Scores,
    Signed,
    Solicitation,
    SolicitationRequest,
    WitnessStatement,
)
from tests.support.models.output_distribution import output_distribution
from tests.support.people.made_up import accepted
from tests.support.vectors.make import DIRECTORY, FILES, content

KINDS: dict[str, type[Message]] = {
    "disclosure": Disclosure,
    "report": Report,
    "solicitation": Solicitation,
    "solicitation_request": SolicitationRequest,
    "receipt": Receipt,
    "problem": Problem,
    "catalogue": Catalogue,
    "chain": Chain,
    "certificates": Certificates,
}


def read(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((DIRECTORY / f"{name}.json").read_text("utf-8"))[
        "cases"
    ]
    return cases


def each(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", read(name), ids=lambda case: str(case["name"]))


def disclosed(case: dict[str, Any]) -> Disclosure:
    return Disclosure.parse(case["disclosure"].encode())


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_up_to_date(name: str) -> None:
    """If this fails after a wanted change: python -m tests.support.vectors.make."""
    assert (DIRECTORY / f"{name}.json").read_text("utf-8") == content(name)


def test_every_scheme_size_and_refusal_has_a_vector() -> None:
    names = {case["name"] for case in read("reports")}
    assert names >= {f"{scheme} {size}" for scheme in SCHEMES for size in ("2", "3", "2x3")}
    codes = {
        found
        for name in FILES
        for case in read(name)
        if (found := case.get("code") or case.get("expect", {}).get("code"))
    }
    too_large_for_a_file = {Refusal.TOO_LONG}
    by_her_own_limit = {Refusal.LEAK_TOO_LARGE}  # no bytes are wrong: see test_disclosure
    without = too_large_for_a_file | by_her_own_limit
    assert codes == {code.value for code in Refusal} - without


@each("reports")
def test_reports(case: dict[str, Any]) -> None:
    shown, secret = disclosed(case), DeviceSecret(bytes.fromhex(case["secret"]))
    category, ledger = PrivateCategory.of(shown, case["category"]), Ledger(secret)
    assert shown.digest == case["digest"]
    assert category.cell_in(shown) == case["cell"]
    assert [shown.numbers_of(j) for j in range(len(shown.items))] == case["numbers"]
    bits = (toss(secret, list(case["coins"])) * 2**53).astype(np.int64)
    assert bits.tolist() == list(case["coins"].values())
    for step in case["rounds"]:
        asked = Solicitation.parse(step["solicitation"].encode())
        report = decide(step["ratings"], asked, accepted(shown), category, ledger)
        assert report.raw.decode() == step["report"]
        decided = {item: ledger.decision(item) for item in (shown if asked.open else asked).items}
        assert [i for i, d in decided.items() if d and d.value is None] == step["withheld"]
        kept = ledger.answered(asked.round)
        assert kept is not None
        assert kept.raw.decode() == step.get("kept", kept.raw.decode())
        assert (kept.move is not None) == ("kept" in step)


@each("obfuscations")
def test_obfuscations(case: dict[str, Any]) -> None:
    item, value, category = (np.array(case[name]) for name in ("item", "value", "category"))
    parameters, coins = Parameters.of(disclosed(case)), np.array(case["coins"]) / 2**53
    if "reveal" in case:
        move = np.zeros(0, dtype=np.int64)  # people's, whom a flat array does not know
        adjustment = Adjustment(np.array(case["reveal"]), np.array(case["shift"]), move)
    else:
        adjustment = Adjustment.identity(parameters, item, category)
    done = obfuscate(item, value, category, parameters, coins, adjustment, case["alpha"])
    assert done.keep.tolist() == case["keep"]
    assert done.value.tolist() == case["reported"]


@each("discrete")
def test_discrete(case: dict[str, Any]) -> None:
    masses, whole = output_distribution(np.array(case["levels"]), np.array(case["points"]))
    assert whole == case["whole"]
    assert masses.tolist() == [case["masses"]] * len(case["levels"])


@each("corrections")
def test_corrections(case: dict[str, Any]) -> None:
    shown = disclosed(case)
    category = PrivateCategory.of(shown, case["category"])
    scores, move = Scores.parse(case["scores"].encode()), case.get("move", ())
    ranked = correct(scores, shown, category, case["rated"], move)
    found = [
        {"item": r.item, "score": r.score, "shown": r.shown, "deviation": r.deviation}
        for r in ranked
    ]
    assert found == case["ranked"]


@each("chains")
def test_chains(case: dict[str, Any]) -> None:
    chain = [Signed.parse(signed.encode()) for signed in case["chain"]]
    pin = Pin.parse(case["pin"].encode()) if case["pin"] else None
    witness = WitnessStatement.parse(case["witness"].encode()) if case["witness"] else None
    arguments = (case["disclosure"].encode(), chain, pin, witness)
    in_levels, shown = case["ratings_in_levels"], case["show_rated"]
    if "code" in case["expect"]:
        with pytest.raises(RefusedError) as caught:
            check_disclosure(*arguments, ratings_in_levels=in_levels, show_rated=shown)
        assert caught.value.code == case["expect"]["code"]
    else:
        found = check_disclosure(*arguments, ratings_in_levels=in_levels, show_rated=shown)
        assert found.pin.raw.decode() == case["expect"]["pin"]


@each("statements")
def test_statements(case: dict[str, Any]) -> None:
    signed = Signed.parse(case["signed"].encode())
    if "code" in case["expect"]:
        with pytest.raises(RefusedError) as caught:
            read_statement(signed, case["key"])
        assert caught.value.code == case["expect"]["code"]
    else:
        shown = read_statement(signed, case["key"]).newest_shown_for(case["shown_for"])
        assert shown == case["expect"]["entry"]


@each("bad_numbers")
def test_bad_numbers(case: dict[str, Any]) -> None:
    chain = [Signed.parse(signed.encode()) for signed in case["chain"]]
    with pytest.raises(RefusedError) as caught:
        check_disclosure(case["disclosure"].encode(), chain, None)
    assert caught.value.code == case["code"]


@each("bad_texts")
def test_bad_texts(case: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        KINDS[case["kind"]].parse(case["text"].encode())
    assert caught.value.code == case["code"]


@each("service_texts")
def test_service_texts(case: dict[str, Any]) -> None:
    kind, raw = KINDS[case["kind"]], case["text"].encode()
    if case["code"] is None:
        assert kind.parse(raw).raw == raw
        return
    with pytest.raises(RefusedError) as caught:
        kind.parse(raw)
    assert caught.value.code == case["code"]


@each("bad_rounds")
def test_bad_rounds(case: dict[str, Any]) -> None:
    secret = DeviceSecret(bytes.fromhex(case["secret"]))
    category, ledger = PrivateCategory(case["category"]), Ledger(secret)

    def answer(step: dict[str, str]) -> Report:
        asked = Solicitation.parse(step["solicitation"].encode())
        shown = Disclosure.parse(step["disclosure"].encode())
        return decide(case["ratings"], asked, accepted(shown), category, ledger)

    assert answer(case["first"]).raw.decode() == case["first"]["report"]
    with pytest.raises(RefusedError) as caught:
        answer(case["second"])
    assert caught.value.code == case["code"]
    assert answer(case["first"]).raw.decode() == case["first"]["report"]


@each("titles")
def test_titles(case: dict[str, Any]) -> None:
    raw, entry = case["catalogue"].encode(), Entry.parse(case["entry"].encode())
    if "code" in case["expect"]:
        with pytest.raises(RefusedError) as caught:
            check_titles(raw, entry)
        assert caught.value.code == case["expect"]["code"]
    else:
        assert list(check_titles(raw, entry).titles) == case["expect"]["titles"]


@each("positions")
def test_positions(case: dict[str, Any]) -> None:
    parameters = Parameters.of(disclosed(case))
    assert parameters.positions is not None
    for one in case["people"]:
        asked, rated = (np.array(one[name], dtype=np.intp) for name in ("asked", "rated"))
        value = np.array(one["value"], dtype=np.int64)
        found = counterparts(parameters.positions, one["cell"], asked, rated, value)
        assert found.selection.tolist() == one["selection"]
        assert found.move.tolist() == one["move"]
        stretch = None if found.stretch is None else found.stretch.tolist()
        assert stretch == one.get("stretch")
        done = adjustment_of(parameters, one["cell"], np.array(one["some"]), found)
        assert (done.reveal.tolist(), done.shift.tolist()) == (one["reveal"], one["shift"])


@each("certificates")
def test_certificates(case: dict[str, Any]) -> None:
    signed = Signed.parse(case["certificate"].encode()) if case["certificate"] else None
    arguments = (signed, case["digest"], case["trusted"])
    terms = {name: case[name] for name in ("required", "most_auc", "stated")}
    if "code" in case["expect"]:
        with pytest.raises(RefusedError) as caught:
            verify_certificate(*arguments, **terms)
        assert caught.value.code == case["expect"]["code"]
    else:
        found = verify_certificate(*arguments, **terms)
        assert (found is not None) == case["expect"]["certified"]


@each("device_files")
def test_device_files(case: dict[str, Any], tmp_path: Path) -> None:
    directory = import_home(bytes.fromhex(case["file"]), case["passphrase"], tmp_path)
    for name, text in case["files"].items():
        assert (directory / name).read_text("utf-8") == text
