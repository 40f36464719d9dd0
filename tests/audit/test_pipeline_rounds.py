from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import Factorizer
from midpoint.audit import AuditResults, Progress
from midpoint.audit.measure.findings import Rounds, Row
from midpoint.audit.report.verdict import judge
from midpoint.audit.rounds.attackers import TRANSCRIPT_ATTACKERS
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.assignment import choose_work
from midpoint.data import Ratings, Scale, simulate
from midpoint.errors import MidpointError
from tests.support.audits.seen import LEAKY
from tests.support.audits.small_audit import audit_with, with_three_categories

QUICK = ("transcript-lr-items", "adaptive-lr-mask")


def schemes(rounds: int) -> dict[str, RoundsProtocol]:
    """Return devices that are asked about 15 new items in each round."""
    product = RoundsProtocol("dmpss", rounds=rounds, budget=15)
    others = (DeviceKind.FORGETFUL, DeviceKind.TOSSING)
    kinds = {f":{device}": replace(product, device=device) for device in others}
    return {f"dmpss:rounds={rounds}{kind}": how for kind, how in {"": product, **kinds}.items()}


PRODUCT, FORGETFUL, TOSSING = schemes(4)
RAW = "no:rounds=4:budget=15"


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return simulate(replace(LEAKY, users=600, items=60, ratings=18_000), seed=3).ratings


def rounds(ratings: Ratings, number: int = 4, **changes: Any) -> AuditResults:
    """Hold some rounds in two folds."""
    options: dict[str, Any] = {
        "feature": "gender",
        "schemes": schemes(number),
        "folds": 2,
        "attacks": QUICK,
        "factorizer": Factorizer(dimension=2, iterations=5),
    }
    return audit_with(ratings, **(options | changes))


def held(results: AuditResults) -> Rounds:
    (only,) = results.rounds.values()
    return only


def strongest(results: AuditResults, scheme: str) -> Row:
    row = results.strongest(scheme)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def few(ratings: Ratings) -> Ratings:
    return ratings.select_users(np.arange(ratings.n_users) < 200)


@pytest.fixture(scope="module")
def few_results(few: Ratings, directory: Path) -> AuditResults:
    return rounds(few, 2, out=directory)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rounds")


@pytest.fixture(scope="module")
def results(ratings: Ratings) -> AuditResults:
    return rounds(ratings)


@pytest.mark.slow
def test_devices_that_toss_again_leak_and_the_products_do_not(results: AuditResults) -> None:
    def leak(device: str) -> float:
        return abs(strongest(results, device).value - 0.5)

    assert held(results).raw == RAW
    assert leak(RAW) > 0.4
    assert all(control.reads for control in held(results).controls.values())
    assert leak(TOSSING) > 0.3
    assert not results.is_chance(strongest(results, TOSSING))
    # The disclosures are estimates from three hundred people, so that something may be left.
    assert leak(PRODUCT) < leak(TOSSING) / 3
    assert leak(PRODUCT) < 0.1


@pytest.mark.slow
def test_devices_that_follow_the_disclosure_leak_by_what_changes(results: AuditResults) -> None:
    changing = results.get(FORGETFUL, "auc", "transcript-lr-items")
    assert changing is not None
    assert changing.value > results.bands[FORGETFUL].high
    assert changing.value > strongest(results, PRODUCT).value


@pytest.mark.slow
def test_it_says_so_in_a_sentence(results: AuditResults) -> None:
    verdict = judge(results, PRODUCT)
    assert verdict is not None
    assert "over 4 rounds" in verdict.lines
    assert "if tossing" in verdict.lines
    assert not held(results).timed
    assert held(results).answers[TOSSING][-1] > held(results).answers[PRODUCT][-1]


@pytest.mark.slow
def test_a_single_report_is_not_mixed_with_rounds(results: AuditResults) -> None:
    """Beside rounds, raw ratings are attacked once, and only that has a cost."""
    assert results.scheme_names() == ["no"]
    assert results.attack_names() == ["adaptive-lr-mask"]
    assert set(held(results).controls) == set(QUICK)
    once, over_rounds = (results.get(name, "auc", QUICK[1]) for name in ("no", RAW))
    assert once is not None
    assert once != over_rounds


@pytest.mark.slow
def test_results_come_back_from_disk(results: AuditResults, tmp_path: Path) -> None:
    results.save(tmp_path)
    again = AuditResults.load(tmp_path)
    assert (again.rows, again.rounds, again.bands) == (results.rows, results.rounds, results.bands)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_result(
    few: Ratings, few_results: AuditResults, tmp_path: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done == 14:  # early profiles, and some of the devices
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rounds(few, 2, out=tmp_path, progress=stop)
    written = {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*.npz")}
    assert len([one for one in written if "attack" in one.parts]) > 2
    assert rounds(few, 2, out=tmp_path).rows == few_results.rows
    kept = {one: one.stat().st_mtime_ns for one in written if "profiles" not in one.parts}
    assert kept.items() <= written.items()


@pytest.mark.slow
def test_other_options_are_refused(
    few: Ratings, few_results: AuditResults, directory: Path
) -> None:
    assert few_results.rows
    with pytest.raises(MidpointError, match=r"other settings \(seed"):
        rounds(few, 2, out=directory, seed=1)
    other = {"dmpss:rounds=2": RoundsProtocol("dmpss", rounds=2, budget=9)}
    with pytest.raises(MidpointError, match="other settings of 'dmpss:rounds=2'"):
        rounds(few, 2, out=directory, schemes=other)


@pytest.mark.slow
def test_attackers_of_an_earlier_run_stay_in_rows_and_band(few: Ratings, tmp_path: Path) -> None:
    product = "dmpss:rounds=2"
    first = rounds(few, 2, out=tmp_path, attacks=QUICK[:1])
    second = rounds(few, 2, out=tmp_path, attacks=("transcript-lr",))
    assert (first.bands[product].attackers, second.bands[product].attackers) == (1, 2)
    assert second.get(product, "auc", QUICK[0]) == first.get(product, "auc", QUICK[0])
    assert list(held(second).controls) == [QUICK[0], "transcript-lr"]
    other = {QUICK[0]: TRANSCRIPT_ATTACKERS["transcript-lr"]}
    with pytest.raises(MidpointError, match="other settings of 'transcript-lr-items'"):
        rounds(few, 2, out=tmp_path, attacks=other)


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(few: Ratings, few_results: AuditResults) -> None:
    assert rounds(few, 2, jobs=2).rows == few_results.rows


@pytest.mark.slow
def test_several_categories_are_read_one_against_the_rest(few: Ratings) -> None:
    found = rounds(with_three_categories(few), 2, feature="party")
    product = held(found)
    raw = {row.attack: row.value for row in found.rows if row.scheme == product.raw}
    name = "adaptive-lr-mask"
    assert [attack for attack in raw if attack.startswith(name)] == [
        name,
        *(f"{name}[{category}]" for category in "DIR"),
    ]
    assert raw[f"{name}[R]"] > 0.8  # by gender
    assert strongest(found, product.raw).attack.endswith("[R]")


def test_rounds_are_one_more_set_of_schemes() -> None:
    work = choose_work(["no", "dmp"], ["lr"], Scale.stars(1, 5), rounds=2)
    assert list(work.schemes)[:2] == ["no", "dmp"]
    over_rounds = [name for name in work.schemes if ":rounds=2" in name]
    assert len(over_rounds) == 4
    assert work.costed == {"no", "dmp"}
    assert not any(work.wants(name, "lr") for name in over_rounds)
    assert all(work.wants(n, attack) for n in over_rounds for attack in TRANSCRIPT_ATTACKERS)
    assert not work.wants("dmp", "transcript-lr")
    assert not work.wants("dmp", "adaptive-lr-mask")  # which was not asked for
    with pytest.raises(MidpointError, match="transcript-lr read several rounds"):
        choose_work(["dmp"], ["transcript-lr"], Scale.stars(1, 5))


def test_rounds_are_held_by_the_scheme_in_use() -> None:
    work = choose_work(None, None, Scale.stars(1, 5), usual="cmp", rounds=2)
    assert "cmp:rounds=2:tossing" in work.schemes
    assert "dmpss:rounds=2" not in work.schemes
