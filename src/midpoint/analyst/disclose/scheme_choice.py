"""Which scheme protects these ratings: the one rule, for library and command line alike.

Choosing needs attacks on protected people, and the analyst may not import the audit. So the rule
itself is in `audit.choose`, which is imported only when a choice is made.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from midpoint.analyst.fit.choice import ALLOWED, Allowance, Choice
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.data import Ratings, Scale
from midpoint.extras import explained


def choose_scheme(
    ratings: Ratings,
    *features: str,
    factorizer: Factorizer | None = None,
    allow: Allowance = ALLOWED,
    positions: bool = True,
    assigned: bool = False,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Choice:
    """Choose the scheme that a model of these ratings is trained and disclosed for.

    Candidates are tried on the people themselves, each of them protected by what was learned
    without her: see `audit.choose`. Without a private feature there is nothing to measure.

    Args:
        ratings: The ratings of people who shared their feature.
        features: The private feature; several make a joint one.
        factorizer: How item profiles are learned.
        allow: What protection may cost.
        positions: Whether positions can be learned, which counterparts need.
        assigned: Whether people did not choose what they rate: then nothing is to be withheld.
        seed: Decides who is attacked when, and every coin.
        progress: Is called after each candidate.
    """
    if not features:
        return Choice(
            itemwise_scheme(ratings.scale, assigned=assigned), "no private feature is named"
        )
    require_attackers()
    choose = import_module("midpoint.audit.choose").choose

    def tried(done: int, total: int) -> None:
        if progress:
            progress(Progress(done, total, stage="Trying schemes"))

    chosen: Choice = choose(
        ratings,
        features,
        factorizer=factorizer,
        allow=allow,
        positions=positions,
        assigned=assigned,
        seed=seed,
        progress=tried,
    )
    return chosen


def sets_leak(ratings: Ratings, *features: str) -> float:
    """Return the AUC that the best attack on which items people rated has at most."""
    require_attackers()
    bound: float = import_module("midpoint.audit.choose").sets_leak(ratings, features)
    return bound


def budget_costs(
    ratings: Ratings,
    *features: str,
    scheme: str,
    leaks: Sequence[float],
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> list[float]:
    """Return by what share leak budgets make what people see worse: see `audit.choose`."""
    require_attackers()

    def tried(done: int, total: int) -> None:
        if progress:
            progress(Progress(done, total, stage="Measuring budgets"))

    measured = import_module("midpoint.audit.choose").budget_costs
    costs: list[float] = measured(ratings, features, scheme, leaks, factorizer, tried)
    return costs


def require_attackers() -> None:
    """Refuse where the libraries are missing that attackers need, and say what to install."""
    try:
        for name in ("midpoint.audit.choose", "sklearn", "lightgbm"):
            import_module(name)
    except ModuleNotFoundError as error:
        raise explained("Analyst.train", error) from error


def itemwise_scheme(scale: Scale, *, assigned: bool = False) -> str:
    """Return the scheme that protects item by item and needs no positions.

    It is the discrete midpoint with sub-sampling, or MPSS on a continuous scale; without
    sub-sampling where what people rate is assigned.
    """
    return ("dmp" if scale.is_discrete else "mp") + ("" if assigned else "ss")
