from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import Factorizer
from midpoint.audit import Progress
from midpoint.audit.rounds.audit import MANIFEST, PLACE, audit_transcripts, name_cases
from midpoint.audit.rounds.results import TranscriptResults
from midpoint.audit.rounds.view import TRANSCRIPT_ATTACKERS
from midpoint.data import Feature, Ratings, simulate
from midpoint.errors import MidpointError
from tests.support.seen import LEAKY

pytestmark = pytest.mark.slow  # whole audits

QUICK = {name: TRANSCRIPT_ATTACKERS[name] for name in ("transcript-lr-items", "adaptive-lr-mask")}
RAW, PRODUCT, FORGETFUL, TOSSING = name_cases("dmpss", 4)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return simulate(replace(LEAKY, users=600, items=60, ratings=18_000), seed=3).ratings


def rounds(ratings: Ratings, **changes: Any) -> TranscriptResults:
    """Hold four rounds in two folds."""
    options: dict[str, Any] = {
        "scheme": "dmpss",
        "budget": 15,
        "folds": 2,
        "attacks": QUICK,
        "factorizer": Factorizer(dimension=2, iterations=5),
    }
    return audit_transcripts(ratings, "gender", **(options | changes))


@pytest.fixture(scope="module")
def few(ratings: Ratings) -> Ratings:
    return ratings.select_users(np.arange(ratings.n_users) < 200)


@pytest.fixture(scope="module")
def few_results(few: Ratings, directory: Path) -> TranscriptResults:
    return rounds(few, rounds=2, out=directory)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rounds")


@pytest.fixture(scope="module")
def results(ratings: Ratings) -> TranscriptResults:
    return rounds(ratings)


def test_devices_that_toss_anew_are_read_and_the_products_are_not(
    results: TranscriptResults,
) -> None:
    def leak(device: str) -> float:
        return abs(results.strongest(device).value - 0.5)

    assert leak(RAW) > 0.4
    assert all(results.reads.values())
    assert leak(TOSSING) > 0.3
    assert not results.bands[TOSSING].holds(results.strongest(TOSSING).value)
    # The disclosures are estimates from three hundred people, so that something may be left.
    assert leak(PRODUCT) < leak(TOSSING) / 3
    assert leak(PRODUCT) < 0.1


def test_devices_that_follow_the_disclosure_are_read_by_what_changes(
    results: TranscriptResults,
) -> None:
    changing = results.get(FORGETFUL, "transcript-lr-items")
    assert changing is not None
    assert changing.value > results.bands[FORGETFUL].high
    assert changing.value > results.strongest(PRODUCT).value


def test_it_says_so_in_a_sentence(results: TranscriptResults) -> None:
    assert "over 4 rounds the strongest attacker reads" in results.sentence
    assert "if tossing" in results.sentence
    assert not results.timed
    assert results.answers[TOSSING][-1] > results.answers[PRODUCT][-1]


def test_results_are_read_back_as_written(results: TranscriptResults, tmp_path: Path) -> None:
    assert TranscriptResults.load(tmp_path) is None
    results.save(tmp_path)
    assert TranscriptResults.load(tmp_path) == results
    lines = (tmp_path / "transcripts.csv").read_text().splitlines()
    assert lines[0] == "dataset,feature,scheme,metric,attack,value,low,high,folds,seed"
    assert len(lines) == 1 + len(results.rows)
    (tmp_path / "transcripts.json").write_text("[]")
    with pytest.raises(MidpointError, match="damaged"):
        TranscriptResults.load(tmp_path)


def test_a_killed_run_goes_on_to_the_same_result(
    few: Ratings, few_results: TranscriptResults, tmp_path: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rounds(few, rounds=2, out=tmp_path, progress=stop)
    written = {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*.npz")}
    assert written
    assert rounds(few, rounds=2, out=tmp_path).rows == few_results.rows
    kept = {one: one.stat().st_mtime_ns for one in written if "attack" in one.parts}
    assert kept
    assert kept.items() <= written.items()


def test_other_options_are_refused(
    few: Ratings, few_results: TranscriptResults, directory: Path
) -> None:
    assert few_results.rows
    with pytest.raises(MidpointError, match="other code, data or options"):
        rounds(few, rounds=2, out=directory, seed=1)
    with pytest.raises(MidpointError, match="2 rounds"):
        rounds(few, rounds=1)
    with pytest.raises(MidpointError, match="without alpha"):
        rounds(few, scheme="mpss:alpha=0.5")


@pytest.mark.parametrize("text", ["[]", "{"])
def test_a_damaged_directory_is_named(few: Ratings, tmp_path: Path, text: str) -> None:
    (tmp_path / PLACE).mkdir()
    (tmp_path / PLACE / MANIFEST).write_text(text)
    with pytest.raises(MidpointError, match=r"rounds\.json is damaged.*name a new directory"):
        rounds(few, rounds=2, out=tmp_path)


def test_attackers_of_an_earlier_run_stay_in_rows_and_band(few: Ratings, tmp_path: Path) -> None:
    names = list(QUICK)
    first = rounds(few, rounds=2, out=tmp_path, attacks={names[0]: QUICK[names[0]]})
    second = rounds(few, rounds=2, out=tmp_path, attacks={names[1]: QUICK[names[1]]})
    product = second.product
    assert (first.bands[product].attackers, second.bands[product].attackers) == (1, 2)
    assert second.get(product, names[0]) == first.get(product, names[0])
    other = TRANSCRIPT_ATTACKERS["transcript-lr"]
    with pytest.raises(MidpointError, match="other code, data or options"):
        rounds(few, rounds=2, out=tmp_path, attacks={names[0]: other})


def test_the_time_left_is_told(few: Ratings) -> None:
    seen: list[Progress] = []
    rounds(
        few, rounds=2, attacks={"adaptive-lr-mask": QUICK["adaptive-lr-mask"]}, progress=seen.append
    )
    assert [one.done for one in seen] == list(range(9))
    assert {one.total for one in seen} == {8}
    assert seen[0].seconds_left is None
    assert all(one.seconds_left for one in seen[1:-1])
    assert seen[-1].seconds_left == 0


def test_the_number_of_processes_changes_nothing(
    few: Ratings, few_results: TranscriptResults
) -> None:
    assert rounds(few, rounds=2, jobs=2).rows == few_results.rows


def test_rounds_are_held_by_the_scheme_in_use(
    few: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = "midpoint.audit.rounds.audit"
    monkeypatch.setattr(f"{used}.choose_scheme", lambda *_: "dmp")
    monkeypatch.setattr(f"{used}._run_all", lambda *_: None)
    monkeypatch.setattr(f"{used}.collect_transcripts", lambda setup, *_: setup.cases)
    assert list(rounds(few, rounds=2, scheme=None)) == list(name_cases("dmp", 2))  # type: ignore[call-overload]


def test_several_categories_are_read_one_against_the_rest(few: Ratings) -> None:
    gender = few.features["gender"].codes
    party = np.where(gender == 1, 2, np.arange(len(gender)) % 2).astype(np.int16)
    three = few.with_feature(Feature("party", ("D", "I", "R"), party))
    attacks = {"adaptive-lr-mask": QUICK["adaptive-lr-mask"]}
    found = audit_transcripts(
        three, "party", rounds=2, budget=15, folds=2, attacks=attacks, factorizer=Factorizer(2)
    )
    raw = {row.attack: row.value for row in found.of(found.raw)}
    assert list(raw) == [f"adaptive-lr-mask[{name}]" for name in "DIR"]
    assert raw["adaptive-lr-mask[R]"] > 0.8  # told by gender
