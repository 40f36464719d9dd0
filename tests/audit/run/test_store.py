from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles
from midpoint.audit.attackers import Learned
from midpoint.audit.attackers.features import mask, values
from midpoint.audit.attackers.linear import NaiveBayes
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run import store
from midpoint.audit.run.store import Store, described_kind
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Disclosure
from tests.support.audits.small_audit import SMALL, AdaptiveByItems, small_audit

pytestmark = pytest.mark.slow  # whole audits


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "out"


@pytest.fixture(scope="module")
def results(tiny: Simulation, directory: Path) -> AuditResults:
    return small_audit(tiny.ratings, directory)


def test_a_directory_of_another_audit_is_refused(
    tiny: Simulation, directory: Path, results: AuditResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert results.rows
    with pytest.raises(MidpointError, match=r"other settings \(seed: 0, now 1\)"):
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


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda scores: scores[:-1], r"shape \(\d+,\) for \d+ people"),
        (lambda scores: scores[:, None], r"shape \(\d+, 1\)"),
        (lambda scores: scores * np.nan, "is no number"),
    ],
)
def test_an_attacker_that_was_fixed_goes_on_in_the_same_directory(
    tiny: Simulation, tmp_path: Path, answer: Any, words: str
) -> None:
    class Broken(AdaptiveByItems):
        def score(self, view: Any) -> Any:
            return answer(super().score(view))

    what: dict[str, Any] = {"ratings": tiny.ratings, "out": tmp_path, "schemes": ["no"]}
    with pytest.raises(MidpointError, match=f"'custom' gave .*{words}"):
        small_audit(**what, attacks={"custom": Broken})
    found = small_audit(**what, attacks={"custom": AdaptiveByItems})
    assert [row.attack for row in found.areas("no")] == ["custom"]
    with pytest.raises(MidpointError, match="other settings of 'custom'"):
        small_audit(**what, attacks={"custom": Broken})


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
    def form(view: Any) -> Any:
        return view

    given: dict[str, Any] = {"form": form, "family": NaiveBayes(), "control": object()}
    text = described_kind(partial(Learned, "custom", **given))
    assert " at 0x" not in text
    assert "form" in text
    assert "NaiveBayes(settings=[0.01, 0.1, 1.0]" in text
    described = described_kind(Louder)
    assert described == f"{__name__}.Louder {sha256(Path(__file__).read_bytes()).hexdigest()[:16]}"
