"""What leak budgets cost, measured on the panel itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst import Factorizer
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.choose.candidates import protocol_of
from midpoint.audit.choose.measurement import accuracy, cost
from midpoint.audit.choose.panel import Panel
from midpoint.data import Ratings, with_known


def budget_costs(
    ratings: Ratings,
    features: Sequence[str],
    scheme: str,
    leaks: Sequence[float],
    factorizer: Factorizer | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[float]:
    """Return by what share each budget makes what people see worse than raw ratings do.

    The people are cut into three parts, and each part is predicted by a model of the others. So
    a budget is filled from two thirds of the panel here, and costs a little less with all of it.

    Args:
        ratings: The panel; who did not share a category is left out.
        features: The private feature; several make a joint one.
        scheme: The scheme that withholds, with its settings.
        leaks: The budgets, each an AUC; 1 keeps every item.
        factorizer: How item profiles are learned.
        progress: Is called with the budgets done and to do.
    """
    people, fitted = with_known(ratings, *features), factorizer or Factorizer()
    panel = Panel.of(people, features, fitted, fitted.seed)
    costs = list[float]()
    with threadpool_limits(1):
        raw = accuracy(panel, protocol_of(RAW))
        for leak in leaks:
            if progress:
                progress(len(costs), len(leaks))
            spec = replace(SchemeSpec.read(scheme), leak=leak)
            costs.append(cost(accuracy(panel, protocol_of(str(spec))), raw, people.scale))
    return costs
