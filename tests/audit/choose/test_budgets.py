"""What leak budgets cost people, measured on a panel."""

import pytest

from midpoint.analyst import Factorizer
from midpoint.audit.choose import budget_costs
from midpoint.data import PRESETS, Scale, SimulationConfig, simulate
from midpoint.errors import MidpointError


@pytest.mark.slow
def test_a_smaller_budget_costs_more_and_less_where_devices_make_up_for_it() -> None:
    config = SimulationConfig(users=300, items=40, ratings=9000, scale=Scale.stars(1, 5))
    ratings, steps = simulate(config, seed=1).ratings, list[tuple[int, int]]()

    def costs(scheme: str) -> list[float]:
        model = Factorizer(dimension=4, iterations=4)
        return budget_costs(
            ratings, ["gender"], scheme, [0.51, 1], model, lambda *s: steps.append(s)
        )

    alone, helped = costs("dmpss"), costs("cmpss:keep=0.5")  # a budget stands for the share
    assert alone[0] > alone[1] + 0.01
    assert helped[0] - helped[1] < (alone[0] - alone[1]) / 2
    assert steps == [(0, 2), (1, 2)] * 2


def test_a_scheme_that_withholds_nothing_has_no_budget() -> None:
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    with pytest.raises(MidpointError, match="cannot keep to a leak"):
        budget_costs(ratings, ["gender"], "cmp", [0.6], Factorizer(dimension=2, iterations=2))
