"""One rule chooses the scheme, for library and command line alike."""

import pytest

from midpoint.analyst import Factorizer, choose_scheme, itemwise_scheme
from midpoint.analyst.fit.choice import Choice
from midpoint.data import Scale, Simulation
from midpoint.wire import SCHEMES, ValueMap


def test_it_is_the_rule_of_the_audit(tiny: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def choose(*given: object, **settings: object) -> Choice:
        seen.append((given, settings))
        return Choice("cmp", "it leaks least")

    monkeypatch.setattr("midpoint.audit.choose.choose", choose)
    quick = Factorizer(dimension=2)
    chosen = choose_scheme(tiny.ratings, "gender", factorizer=quick, most_cost=0.02, seed=3)
    assert chosen.scheme == "cmp"
    wanted = {
        "factorizer": quick, "most_cost": 0.02, "positions": True, "seed": 3, "progress": None,
    }  # fmt: skip
    assert seen == [((tiny.ratings, ("gender",)), wanted)]


def test_without_a_feature_there_is_nothing_to_measure(stars: Simulation) -> None:
    assert choose_scheme(stars.ratings) == Choice("dmpss", "no private feature is named")


def test_the_item_wise_scheme_protects_on_its_scale() -> None:
    for scale in (Scale.stars(1, 5), Scale.continuous(0, 1)):
        scheme = SCHEMES[itemwise_scheme(scale)]
        assert scheme.sub_samples
        assert scheme.protects(discrete=scale.is_discrete)
    assert SCHEMES[itemwise_scheme(Scale.stars(1, 5))].value_map is ValueMap.DISCRETE
