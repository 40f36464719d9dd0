"""One rule chooses the scheme, for library and command line alike."""

from typing import Any

import pytest

from midpoint.analyst import Allowance, Factorizer, choose_scheme, itemwise_scheme
from midpoint.analyst.fit.choice import Choice
from midpoint.analyst.fit.factorizer import Progress
from midpoint.data import Scale, Simulation
from midpoint.wire import SCHEMES, ValueMap


def test_it_is_the_rule_of_the_audit(tiny: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def choose(*given: object, **settings: Any) -> Choice:
        seen.append((given, settings))
        return Choice("cmp", "it leaks least")

    monkeypatch.setattr("midpoint.audit.choose.choose", choose)
    quick, stages = Factorizer(dimension=2), list[Progress]()
    chosen = choose_scheme(
        tiny.ratings,
        "gender",
        factorizer=quick,
        allow=Allowance(0.02),
        seed=3,
        progress=stages.append,
    )
    assert chosen.scheme == "cmp"
    ((given, settings),) = seen
    settings.pop("progress")(1, 4)
    assert given == (tiny.ratings, ("gender",))
    assert settings == {
        "factorizer": quick,
        "allow": Allowance(0.02),
        "positions": True,
        "assigned": False,
        "seed": 3,
    }
    assert stages == [Progress(1, 4, stage="Trying schemes")]


def test_without_a_feature_there_is_nothing_to_measure(stars: Simulation) -> None:
    assert choose_scheme(stars.ratings) == Choice("dmpss", "no private feature is named")


def test_the_item_wise_scheme_protects_on_its_scale() -> None:
    for scale in (Scale.stars(1, 5), Scale.continuous(0, 1)):
        scheme = SCHEMES[itemwise_scheme(scale)]
        assert scheme.sub_samples
        assert scheme.protects(discrete=scale.is_discrete)
    assert SCHEMES[itemwise_scheme(Scale.stars(1, 5))].value_map is ValueMap.DISCRETE
