"""The scheme in use is chosen inside every fold, on its panel alone."""

import json
from pathlib import Path

import pytest

from midpoint.analyst import Allowance, Factorizer
from midpoint.analyst.fit.choice import Choice
from midpoint.audit import AuditResults
from midpoint.audit.run.plan import ChosenProtocol, read_scheme
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks import learning
from midpoint.data import Ratings, Simulation
from tests.support.audits.small_audit import SMALL, small_audit


def test_it_is_read_by_its_name() -> None:
    assert read_scheme("default") == ChosenProtocol()
    assert read_scheme("default") != read_scheme("dmp")


@pytest.mark.slow
def test_every_fold_chooses_on_its_panel_alone(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folds choose differently here; each is run by what it chose, and the AUC is their mean."""
    panels, allow = [], Allowance(cost=0.03, share=0.5)

    def choose(panel: Ratings, features: object, **settings: object) -> Choice:
        assert isinstance(settings["factorizer"], Factorizer)
        assert settings["allow"] == allow
        panels.append(panel)
        return Choice(("dmp", "cmpss")[len(panels) - 1], f"of {features}")

    monkeypatch.setattr(learning, "choose", choose)
    found = small_audit(tiny.ratings, tmp_path / "out", schemes=["default"], folds=2, allow=allow)
    assert [one["scheme"] for one in found.choices] == ["dmp", "cmpss"]
    assert found.chosen() == {"dmp": 1, "cmpss": 1}
    people = [set(panel.user_ids.tolist()) for panel in panels]
    assert not people[0] & people[1]
    assert len(people[0] | people[1]) == tiny.ratings.n_users
    store = Store(tmp_path / "out")
    kept = [store.load(fold, "default", "accuracy") for fold in (0, 1)]
    assert (kept[0]["kept"] == kept[0]["given"]).all()  # dmp withholds nothing
    assert (kept[1]["kept"] < kept[1]["given"]).any()
    for attack in SMALL:
        row = found.get("default", "auc", attack)
        assert row is not None
        assert row.value == pytest.approx(sum(found.per_fold["default"][attack]) / 2, abs=0.01)
    found.save(tmp_path)
    assert AuditResults.load(tmp_path).choices == found.choices
    assert json.loads(json.dumps(found.choices[0])) == found.choices[0]
    again = small_audit(
        tiny.ratings, tmp_path / "out", schemes=["default", "dmp"], folds=2, allow=allow
    )
    assert again.get("default", "auc", "items") == found.get("default", "auc", "items")
    assert len(panels) == 2  # what was chosen stays


@pytest.mark.slow
def test_the_smaller_panel_beside_outsiders_makes_its_own_choice(
    tiny: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its choice is not passed off as that of everyone, nor the other way."""
    whole = tiny.ratings.n_users // 2

    def choose(panel: Ratings, features: object, **settings: object) -> Choice:
        return Choice("dmp" if panel.n_users == whole else "mp", f"of {features}, {settings}")

    monkeypatch.setattr(learning, "choose", choose)
    both = small_audit(
        tiny.ratings, tmp_path, schemes=["default"], adversaries=("panel", "outsider")
    )
    assert (both.chosen(), both.chosen(split=True)) == ({"dmp": 2}, {"mp": 2})
    both.save(tmp_path)
    assert AuditResults.load(tmp_path).split_choices == both.split_choices
    beside = small_audit(tiny.ratings, schemes=["default"], adversaries="outsider")
    assert (beside.chosen(), beside.chosen(split=True)) == ({"mp": 2}, {})
