from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles
from midpoint.audit import Progress
from midpoint.audit.attackers import Learned
from midpoint.audit.attackers.features import mask, values
from midpoint.audit.attackers.linear import NaiveBayes
from midpoint.audit.measure.results import METRICS, AuditResults
from midpoint.audit.run import store
from midpoint.audit.run.audit import choose_attacks, choose_schemes
from midpoint.audit.run.store import Store, described_kind
from midpoint.data import Feature, Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Disclosure
from tests.support.small_audit import (
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
    mean, *each = (row.value for row in rows)
    assert mean == pytest.approx(np.mean(each))
    folded = found.macro["no"]["items"]
    assert folded == pytest.approx(0.5 + np.mean(np.abs(np.subtract(each, 0.5))))
    assert rows[0].low < mean < rows[0].high
    assert each[2] > 0.8  # R is told by gender
    assert found.answers == {}
    strongest = found.strongest("no")
    assert strongest is not None
    assert strongest.attack == "items[R]" == found.activity["no"].attack
    assert not found.is_chance(strongest)
    assert found.macro_bands["no"].high < found.bands["no"].high
    assert found.controls["items"].value == each[2]
    assert np.mean(found.per_fold["no"]["items"]) == pytest.approx(mean, abs=0.03)
    # D and I are dealt out by number; they are told by not being R.
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
    assert CALLS == ["items", "adaptive-items", "chance"] * 2  # for the control alone


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
    raw, mine = (found.get(scheme, "rmse_blind") for scheme in ("no", "silent"))
    assert raw is not None
    assert mine is not None
    assert mine.value > raw.value
    assert "test_run.Silent" in found.schemes["silent"]["kind"]


def test_a_protocol_of_ones_own_does_not_take_the_controls_place(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="'no' is what attackers are controlled by"):
        small_audit(tiny.ratings, schemes={"no": Silent("ss")})


def test_what_is_not_there_cannot_be_chosen(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="no attack 'magic'"):
        choose_attacks(["lr", "magic"])
    with pytest.raises(MidpointError, match="'small_audit:Magic' cannot be made"):
        choose_attacks(["small_audit:Magic"])
    with pytest.raises(MidpointError, match="no protocol 'magic'"):
        choose_schemes(["magic"], tiny.ratings.scale)
    with pytest.raises(MidpointError, match="jobs must be at least 1"):
        small_audit(tiny.ratings, jobs=0)
    with pytest.raises(MidpointError, match="'height'"):
        small_audit(tiny.ratings, feature="height")


def test_what_cannot_run_is_refused_before_anything_is_run(tiny: Simulation) -> None:
    interval = Scale.continuous(0, 1)
    with pytest.raises(MidpointError, match=r"'dmpss' needs ratings in levels.*; mpss does not"):
        choose_schemes(["dmpss"], interval)
    assert list(choose_schemes(["mpss"], interval)) == ["no", "mpss"]
    with pytest.raises(MidpointError, match="bits must be from 1 to 16: got 99"):
        choose_schemes(["mp:bits=99"], interval)
    wrong: Any = {"mine": "dmpss"}
    with pytest.raises(MidpointError, match="'mine' is 'dmpss', and has to be a LearningProtocol"):
        choose_schemes(wrong, interval)
    instance: Any = {"mine": SMALL["items"]()}
    with pytest.raises(MidpointError, match=r"'mine' cannot be made .* give its class"):
        choose_attacks(instance)
    lacking: Any = {"mine": dict}
    with pytest.raises(MidpointError, match="'mine' has no adaptive, fit, score"):
        choose_attacks(lacking)
    with pytest.raises(MidpointError, match="2 folds"):
        small_audit(tiny.ratings, folds=0)


def test_one_name_alone_is_not_a_row_of_letters() -> None:
    assert list(choose_schemes("mpss", Scale.stars(1, 5))) == ["no", "mpss"]
    assert list(choose_attacks("lr")) == ["lr"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda scores: scores[:-1], r"shape \(\d+,\) for \d+ people"),
        (lambda scores: scores[:, None], r"shape \(\d+, 1\)"),
        (lambda scores: scores * np.nan, "is no number"),
    ],
)
def test_an_attacker_that_was_mended_goes_on_in_the_same_directory(
    tiny: Simulation, tmp_path: Path, answer: Any, words: str
) -> None:
    class Broken(AdaptiveByItems):
        def score(self, view: Any) -> Any:
            return answer(super().score(view))

    what: dict[str, Any] = {"ratings": tiny.ratings, "out": tmp_path, "schemes": ["no"]}
    with pytest.raises(MidpointError, match=f"'mine' gave .*{words}"):
        small_audit(**what, attacks={"mine": Broken})
    found = small_audit(**what, attacks={"mine": AdaptiveByItems})
    assert [row.attack for row in found.areas("no")] == ["mine"]
    with pytest.raises(MidpointError, match="other settings of 'mine'"):
        small_audit(**what, attacks={"mine": Broken})


@dataclass(frozen=True)
class Louder(LearningProtocol):
    """A protocol of one's own, with a setting that is no plain number."""

    added: Any = None

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Any
    ) -> Reports:
        sent = super().report(disclosure, profiles, people, coins)
        return replace(sent, value=sent.value + self.added[sent.item])


def test_settings_of_a_protocol_of_ones_own_can_be_arrays(tiny: Simulation, tmp_path: Path) -> None:
    def run_with(added: Any) -> AuditResults:
        schemes = {"louder": Louder("mp", added=added)}
        return small_audit(tiny.ratings, tmp_path, schemes=schemes, attacks={"i": SMALL["items"]})

    added = np.linspace(0, 1, 5000)
    found = run_with(added)
    assert found.schemes["louder"]["added"].startswith("array ")
    assert run_with(added.copy()).rows == found.rows
    added[2500] += 1
    with pytest.raises(MidpointError, match="other settings of 'louder'"):
        run_with(added)


def test_the_same_class_with_other_settings_is_another_attacker(
    tiny: Simulation, tmp_path: Path
) -> None:
    def run_with(make: Any) -> None:
        small_audit(tiny.ratings, tmp_path / "out", schemes=["no"], attacks={"nb": make})

    bayes = partial(Learned, "nb", adaptive=False, form=values, family=NaiveBayes())
    run_with(bayes)
    run_with(partial(Learned, "nb", form=values, adaptive=False, family=NaiveBayes()))
    for other in ({"family": NaiveBayes((5.0,))}, {"form": mask}):
        with pytest.raises(MidpointError, match="other settings of 'nb'"):
            run_with(partial(bayes, **other))


def test_what_is_written_down_of_a_class_is_the_same_in_another_process() -> None:
    def mine(view: Any) -> Any:
        return view

    given: dict[str, Any] = {"form": mine, "family": NaiveBayes(), "control": object()}
    text = described_kind(partial(Learned, "mine", **given))
    assert " at 0x" not in text
    assert "mine" in text
    assert "NaiveBayes(settings=[0.01, 0.1, 1.0]" in text
    own = described_kind(Silent)
    assert own == f"test_run.Silent {sha256(Path(__file__).read_bytes()).hexdigest()[:16]}"


def test_an_attacker_of_ones_own_is_found_by_its_module() -> None:
    name = "small_audit:ByItems"
    assert choose_attacks([name]) == {name: SMALL["items"]}


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
    file, out = tmp_path / "mine.py", tmp_path / "out"
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
    with pytest.raises(MidpointError, match="cannot be made"):
        choose_attacks([f"{tmp_path / 'absent.py'}:Counts"])


def test_names_stand_for_several() -> None:
    assert list(choose_attacks(["paper", "lr"])) == ["lse", "nb", "lr", "svm"]
    assert {"fraction", "lr"} < set(choose_attacks(None, quick=True)) < set(choose_attacks(None))
    stars, interval = Scale.stars(1, 5), Scale.continuous(0, 1)
    assert list(choose_schemes(None, stars, quick=True)) == ["no", "mp", "dmpss"]
    assert list(choose_schemes(None, stars, quick=True, usual="cmp")) == ["no", "mp", "cmp"]
    assert {"cmp", "cmpss"} < set(choose_schemes(None, stars))
    for name in ("cmpss:bits=4", "cmp:bits=16"):
        with pytest.raises(MidpointError, match="one precision"):
            choose_schemes([name], stars)
    with pytest.raises(MidpointError, match="needs ratings in levels"):
        choose_schemes(["cmpss"], interval)
    assert list(choose_schemes(None, interval, quick=True)) == ["no", "mp", "mpss"]
    assert "dmp" in choose_schemes(None, stars)
    assert "dmp" not in choose_schemes(None, interval)
