"""The choice of a scheme, for the library and the command line alike.

The rule itself is in `audit.choose`: it attacks protected people, and the analyst may not import
the audit. These functions import it when a choice is made, and nowhere else.
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
    """Choose the scheme that protects people under a model of these ratings.

    Candidates are tried on the people themselves, each protected by a model that was learned
    without her (`audit.choose`). Without a private feature there is nothing to measure.

    Args:
        ratings: The ratings of people who shared their feature.
        features: The private feature; several make a joint one.
        factorizer: How item profiles are learned.
        allow: What protection may cost.
        positions: Whether positions can be learned, which counterparts need.
        assigned: Whether people did not choose what they rate; nothing is withheld then.
        seed: Decides who is attacked when, and every coin.
        progress: Called after each candidate.
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
    """Return an upper bound of the AUC of the best attack on which items people rated."""
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
    """Return what each leak budget costs in accuracy, as a share: see `audit.choose.budgets`."""
    require_attackers()

    def tried(done: int, total: int) -> None:
        if progress:
            progress(Progress(done, total, stage="Measuring budgets"))

    measured = import_module("midpoint.audit.choose").budget_costs
    costs: list[float] = measured(ratings, features, scheme, leaks, factorizer, tried)
    return costs


def require_attackers() -> None:
    """Refuse to go on without the libraries that attackers need, and say what to install."""
    try:
        for name in ("midpoint.audit.choose", "sklearn", "lightgbm"):
            import_module(name)
    except ModuleNotFoundError as error:
        raise explained("Analyst.train", error) from error


def itemwise_scheme(scale: Scale, *, assigned: bool = False) -> str:
    """Return the item-wise scheme of a scale, which needs no positions.

    `dmpss` on a discrete scale, `mpss` on a continuous one; `dmp` or `mp` where items are
    `assigned`, since nothing is withheld then.
    """
    return ("dmp" if scale.is_discrete else "mp") + ("" if assigned else "ss")
