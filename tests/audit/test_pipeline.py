from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles
from midpoint.audit import Progress
from midpoint.audit.measure.findings import METRICS, SHARPNESS
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.schemes_and_attacks import choose_attacks
from midpoint.data import Feature, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Disclosure
from tests.support.audits.small_audit import (
    CALLS,
    SMALL,
    AdaptiveByItems,
    small_audit,
    with_three_categories,
)

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
        assert (row.attack == "") == (row.metric not in {"auc", *SHARPNESS})


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
    every = [row for row in found.rows if row.metric == "auc"]
    rows, judged = every[:4], every[4:]
    names = ["", "[D]", "[I]", "[R]"]
    assert [row.attack for row in rows] == [f"items{name}" for name in names]
    assert [row.attack for row in judged] == [f"judge:clean{name}" for name in names]
    (one,) = found.decisive("no")
    assert one[1].attack == "judge:clean[R]"  # which follows from gender
    mean, *each = (row.value for row in rows)
    assert mean == pytest.approx(np.mean(each))
    folded = found.macro["no"]["items"]
    assert folded == pytest.approx(0.5 + np.mean(np.abs(np.subtract(each, 0.5))))
    assert rows[0].low < mean < rows[0].high
    assert each[2] > 0.8  # R follows from gender
    assert found.histograms == {}
    strongest = found.strongest("no")
    assert strongest is not None
    assert strongest.attack == "items[R]" == found.activity["no"].attack
    assert not found.is_chance(strongest)
    assert found.macro_bands["no"].high < found.bands["no"].high
    assert found.controls["items"].value == each[2]
    assert np.mean(found.per_fold["no"]["items"]) == pytest.approx(mean, abs=0.03)
    # D and I are dealt out by number; they are read by not being R.
    assert found.controls["items"].unread == ()


def test_a_category_dealt_out_at_random_is_named_as_unread(tiny: Simulation) -> None:
    gender = tiny.ratings.feature("gender").codes
    dealt = np.random.default_rng(0).random(len(gender)) < 1 / 3
    party = Feature("party", ("D", "I", "R"), np.where(dealt, 1, 2 * gender).astype(np.int16))
    ratings, attacks = tiny.ratings.with_feature(party), {"items": SMALL["items"]}
    control = small_audit(ratings, feature="party", schemes=["no"], attacks=attacks).controls
    assert control["items"].unread == ("I",)
    assert control["items"].reads


def test_bits_have_no_interval_and_errors_do(results: AuditResults) -> None:
    bits, error = results.get("mp", "disclosed_bits"), results.get("mp", "rmse_local")
    assert bits is not None
    assert error is not None
    assert bits.low == bits.value == bits.high
    assert error.low < error.value < error.high
    assert {"python", "midpoint", "numpy", "scikit-learn"} <= set(results.versions)


def test_costs_are_compared_user_by_user(results: AuditResults) -> None:
    assert results.cost("no") == 0
    assert "no" not in results.costs
    for scheme in ("mp", "dmpss"):
        cost = results.costs[scheme]
        assert cost.value == pytest.approx(results.cost(scheme))
        assert cost.low < cost.value < cost.high
        row, raw = results.get(scheme, "rmse_local"), results.get("no", "rmse_local")
        assert row is not None
        assert raw is not None
        assert cost.high - cost.low < (row.high - row.low) / raw.value


def test_of_nothing_there_is_nothing_to_read(tiny: Simulation) -> None:
    CALLS.clear()
    found = small_audit(tiny.ratings, schemes=["nothing"])
    assert [row.value for row in found.areas("nothing")] == pytest.approx([0.5] * 3)
    strongest, raw = found.strongest("nothing"), found.get("no", "rmse_blind")
    assert strongest is not None
    assert found.is_chance(strongest)
    blind = found.get("nothing", "rmse_blind")
    assert blind is not None
    assert raw is not None
    assert blind.value > raw.value
    # For the control alone: once, and for the judge once more without each nested fold.
    assert [*["items"] * 2, *["adaptive-items"] * 4, *["chance"] * 4] * 2 == CALLS


class ByProfiles(AdaptiveByItems):
    """Weighs profiles by how they differ in training."""

    name = "profiles"
    reads_profiles = True

    def fit(self, views: Any, category: Any, *, seed: int) -> None:
        del seed
        means = [views[0].profile[category == k].mean(axis=0) for k in (0, 1)]
        self.weight = means[1] - means[0]

    def score(self, view: Any) -> Any:
        return view.profile @ self.weight


def test_full_disclosure_is_attacked_through_the_profiles_it_sends(tiny: Simulation) -> None:
    attacks = {"items": SMALL["items"], "profiles": ByProfiles}
    found = small_audit(tiny.ratings, schemes=["full", "mp"], attacks=attacks)
    assert [row.attack for row in found.areas("full")] == ["profiles"]
    rows = [found.get(scheme, "rmse_local") for scheme in ("full", "mp")]
    assert rows[0] is not None
    assert rows[1] is not None
    assert rows[0].value == pytest.approx(rows[1].value, rel=1e-3)  # the same regression
    bits = [found.get(scheme, "disclosed_bits") for scheme in ("full", "mp")]
    assert bits[0] is not None
    assert bits[1] is not None
    assert bits[0].value > bits[1].value


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
    raw, silent = (found.get(scheme, "rmse_blind") for scheme in ("no", "silent"))
    assert raw is not None
    assert silent is not None
    assert silent.value > raw.value
    assert "test_pipeline.Silent" in found.schemes["silent"]["kind"]


def test_a_protocol_of_ones_own_does_not_take_the_controls_name(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="'no' is the control of attackers"):
        small_audit(tiny.ratings, schemes={"no": Silent("ss")})


OWN = """
import numpy as np

class Counts:
    name, adaptive, control = "counts", True, "no"

    def fit(self, views, category, *, seed):
        counts = views[0].counts
        self.sign = np.sign(counts[category == 1].mean() - counts[category == 0].mean())

    def score(self, view):
        return self.sign * view.counts

class Half:
    name, adaptive = "half", True
"""


def test_an_attacker_of_ones_own_is_found_by_its_file(tiny: Simulation, tmp_path: Path) -> None:
    file, out = tmp_path / "attack.py", tmp_path / "out"
    file.write_text(OWN)
    name = f"{file}:Counts"
    found = small_audit(tiny.ratings, out, schemes=["no"], attacks=[name], jobs=2)
    assert [row.attack for row in found.areas("no")] == [name]
    file.write_text(OWN + "\n# changed\n")
    with pytest.raises(MidpointError, match="other settings of"):
        small_audit(tiny.ratings, out, schemes=["no"], attacks=[name])
    with pytest.raises(MidpointError, match="has no fit, score"):
        choose_attacks([f"{file}:Half"])
    with pytest.raises(MidpointError, match=r"cannot be made .*Absent"):
        choose_attacks([f"{file}:Absent"])
    with pytest.raises(MidpointError, match=r"there is no file .*absent"):
        choose_attacks([f"{tmp_path / 'absent.py'}:Counts"])
