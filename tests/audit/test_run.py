from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_audit import CALLS, SMALL, small_audit, with_three_categories

from midpoint.analyst import ItemProfiles
from midpoint.audit import Progress, store
from midpoint.audit.results import METRICS, AuditResults
from midpoint.audit.run import choose_attacks, choose_schemes
from midpoint.audit.store import Store
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Disclosure

pytestmark = pytest.mark.slow  # whole audits and drawings


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "out"


@pytest.fixture(scope="module")
def results(tiny: Simulation, directory: Path) -> AuditResults:
    return small_audit(tiny.ratings, directory)


def test_every_scheme_has_every_number(results: AuditResults) -> None:
    assert results.scheme_names() == ["no", "mp", "dmpss"]
    for scheme in results.scheme_names():
        assert {row.metric for row in results.rows if row.scheme == scheme} == set(METRICS)
        assert [row.attack for row in results.areas(scheme)] == list(SMALL)
    for row in results.rows:
        assert row.low <= row.value <= row.high
        assert (row.dataset, row.feature, row.folds, row.seed) == ("simulated-tiny", "gender", 2, 0)
        assert (row.attack == "") == (row.metric != "auc")


def test_raw_ratings_are_read_and_protected_ones_less(results: AuditResults) -> None:
    raw, protected = (results.get(scheme, "auc", "items") for scheme in ("no", "dmpss"))
    assert raw is not None
    assert protected is not None
    assert raw.value > 0.8
    assert not results.bands["no"].holds(raw.value)
    assert abs(protected.value - 0.5) < abs(raw.value - 0.5) / 2


def test_an_attacker_that_cannot_read_raw_ratings_is_marked(results: AuditResults) -> None:
    assert results.controls["items"].reads
    assert not results.controls["chance"].reads
    assert results.bands["no"].attackers == 3


def test_only_sub_sampling_withholds_and_only_no_discloses_nothing(results: AuditResults) -> None:
    def value(scheme: str, metric: str) -> float:
        row = results.get(scheme, metric)
        assert row is not None
        return row.value

    assert value("no", "withheld") == value("mp", "withheld") == 0
    assert 0 < value("dmpss", "withheld") < 0.5
    assert results.withheld["dmpss"][10] > results.withheld["dmpss"][5] > 0
    assert value("no", "disclosed_bits") == 0
    assert value("mp", "disclosed_bits") > 0
    # What is taken out of the ratings comes back on the device.
    assert value("mp", "rmse_local") < value("mp", "rmse_blind")
    assert value("no", "rmse_local") == value("no", "rmse_blind")


def test_a_finished_audit_is_not_run_again(
    tiny: Simulation, directory: Path, results: AuditResults
) -> None:
    CALLS.clear()
    assert small_audit(tiny.ratings, directory).rows == results.rows
    assert CALLS == []


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_killed_run_resumes_to_the_same_result(
    tiny: Simulation, results: AuditResults, tmp_path: Path, after: int
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small_audit(tiny.ratings, tmp_path / "out", progress=stop)
    done = sorted((tmp_path / "out" / "tasks").rglob("*.npz"))
    written = {path: path.stat().st_mtime_ns for path in done}
    assert len(done) == after
    assert small_audit(tiny.ratings, tmp_path / "out").rows == results.rows
    assert {path: path.stat().st_mtime_ns for path in done} == written


def test_another_seed_is_another_audit(tiny: Simulation, results: AuditResults) -> None:
    other = small_audit(tiny.ratings, seed=1)
    assert [row.value for row in other.rows] != [row.value for row in results.rows]


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(tiny: Simulation, results: AuditResults) -> None:
    assert small_audit(tiny.ratings, jobs=2).rows == results.rows


def test_progress_counts_up_to_the_whole(tiny: Simulation) -> None:
    seen: list[Progress] = []
    small_audit(tiny.ratings, schemes=["no"], attacks=["lse"], progress=seen.append)
    assert [one.done for one in seen] == list(range(len(seen)))
    assert {one.total for one in seen} == {len(seen) - 1}
    assert seen[0].seconds_left is None
    assert seen[-1].seconds_left == 0
    assert all(one.seconds_left for one in seen[1:-1])


def test_a_directory_of_another_audit_is_refused(
    tiny: Simulation, directory: Path, results: AuditResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert results.rows
    with pytest.raises(MidpointError, match=r"other plan \(seed: 0, now 1\)"):
        small_audit(tiny.ratings, directory, seed=1)
    fewer = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) > 0)
    with pytest.raises(MidpointError, match=r"other data \(digest"):
        small_audit(fewer, directory)
    with pytest.raises(MidpointError, match="other settings of 'mp'"):
        small_audit(tiny.ratings, directory, schemes={"mp": LearningProtocol("mp", bits=3)})
    with pytest.raises(MidpointError, match="other settings of 'items'"):
        small_audit(tiny.ratings, directory, attacks={"items": SMALL["chance"]})
    monkeypatch.setattr(store, "code_digest", lambda: "other")
    with pytest.raises(MidpointError, match="other code or libraries"):
        small_audit(tiny.ratings, directory)


def test_a_directory_that_is_no_audit_is_left_alone(tiny: Simulation, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all I have")
    with pytest.raises(MidpointError, match="holds something else"):
        small_audit(tiny.ratings, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_damaged_result_is_named(tiny: Simulation, tmp_path: Path) -> None:
    small_audit(tiny.ratings, tmp_path / "out", schemes=["no"], attacks={"chance": SMALL["chance"]})
    victim = Store(tmp_path / "out").path(1, "no", "accuracy")
    victim.write_bytes(victim.read_bytes()[:100])
    with pytest.raises(MidpointError, match=r"accuracy\.npz is damaged.*remove it and run again"):
        small_audit(
            tiny.ratings, tmp_path / "out", schemes=["no"], attacks={"chance": SMALL["chance"]}
        )


def test_attackers_that_come_later_join_the_band(tiny: Simulation, tmp_path: Path) -> None:
    one = {"items": SMALL["items"]}
    first = small_audit(tiny.ratings, tmp_path / "out", schemes=["no"], attacks=one)
    more = {f"chance-{k}": SMALL["chance"] for k in range(6)}
    second = small_audit(tiny.ratings, tmp_path / "out", schemes=["no"], attacks=more)
    assert first.bands["no"].attackers == 1
    assert second.bands["no"].attackers == 7
    assert second.bands["no"].high > first.bands["no"].high
    assert second.get("no", "auc", "items") == first.get("no", "auc", "items")


def test_three_categories_are_read_one_against_the_rest(tiny: Simulation) -> None:
    attacks = {"items": SMALL["items"]}
    ratings = with_three_categories(tiny.ratings)
    found = small_audit(ratings, feature="party", schemes=["no"], attacks=attacks)
    rows = [row for row in found.rows if row.metric == "auc"]
    assert [row.attack for row in rows] == ["items", "items[D]", "items[I]", "items[R]"]
    macro, *each = (row.value for row in rows)
    assert macro == pytest.approx(np.mean(each))
    assert each[2] > 0.8  # R is told by gender
    assert found.answers == {}


class Silent(LearningProtocol):
    """A protocol of one's own: nothing but three stars is ever sent."""

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Any
    ) -> Reports:
        sent = super().report(disclosure, profiles, people, coins)
        return replace(sent, value=np.full(len(sent.value), 3.0))


def test_a_protocol_of_ones_own_is_audited(tiny: Simulation) -> None:
    found = small_audit(tiny.ratings, schemes={"silent": Silent("ss")})
    assert found.scheme_names() == ["no", "silent"]
    raw, mine = (found.get(scheme, "rmse_blind") for scheme in ("no", "silent"))
    assert raw is not None
    assert mine is not None
    assert mine.value > raw.value
    assert "test_run.Silent" in found.schemes["silent"]["kind"]


def test_what_is_not_there_cannot_be_chosen(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="no attack 'magic'"):
        choose_attacks(["lr", "magic"])
    with pytest.raises(MidpointError, match="'small_audit:Magic' cannot be imported"):
        choose_attacks(["small_audit:Magic"])
    with pytest.raises(MidpointError, match="no protocol 'magic'"):
        choose_schemes(["magic"], tiny.ratings.scale)
    with pytest.raises(MidpointError, match="jobs must be at least 1"):
        small_audit(tiny.ratings, jobs=0)
    with pytest.raises(MidpointError, match="'height'"):
        small_audit(tiny.ratings, feature="height")


def test_an_attacker_of_ones_own_is_found_by_its_module() -> None:
    name = "small_audit:ByItems"
    assert choose_attacks([name]) == {name: SMALL["items"]}


def test_names_stand_for_several() -> None:
    assert list(choose_attacks(["paper", "lr"])) == ["lse", "nb", "lr", "svm"]
    assert {"fraction", "lr"} < set(choose_attacks(None, quick=True)) < set(choose_attacks(None))
    stars, interval = Scale.stars(1, 5), Scale.continuous(0, 1)
    assert list(choose_schemes(None, stars, quick=True)) == ["no", "mp", "dmpss"]
    assert list(choose_schemes(None, interval, quick=True)) == ["no", "mp", "mpss"]
    assert "dmp" in choose_schemes(None, stars)
    assert "dmp" not in choose_schemes(None, interval)
