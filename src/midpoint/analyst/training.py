"""Training as `midpoint train` does it: fit the items, choose a scheme, learn what it needs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from midpoint.analyst.disclose.choice import MOST_COST, choose_scheme
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import Scheme


def train(
    ratings: Ratings,
    features: str | Sequence[str] | None,
    *,
    factorizer: Factorizer | None = None,
    scheme: str | None = None,
    leak: float | None = None,
    cost: float = MOST_COST,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ItemProfiles:
    """Learn item profiles, and all that the scheme which protects them needs.

    Args:
        ratings: The ratings of people who shared their feature.
        features: The private feature; several make a joint one, None is none.
        factorizer: How items are fitted; with its defaults unless given.
        scheme: A scheme by name, with settings as in `cmp:levels=5:spread=on`; `choose_scheme`
            measures and decides unless given. Name one only if you know why: the profiles remember
            it, and are disclosed by it.
        leak: Leak budget, under a scheme that withholds ratings: the AUC that somebody may reach
            who knew all errors of what is disclosed (`disclose.leak`). Items then have keep
            probabilities. None unless given.
        cost: What the scheme that is chosen may cost: a share of the error of predictions.
        threads: All usable cores unless given; the result does not depend on it.
        progress: Is called with how far each stage has come.

    Returns:
        Item profiles whose `scheme` is the one chosen, with the `choice`; None without a private
        feature.
    """
    names = (features,) if isinstance(features, str) else tuple(features or ())
    if scheme is not None:  # what cannot be disclosed is refused at once
        reported_levels(ratings.scale, SchemeSpec.read(scheme).levels)
    factorizer = factorizer or Factorizer()
    if threads is not None:
        factorizer = replace(factorizer, threads=threads)
    profiles = factorizer.fit(ratings, names or None, progress)
    if not names and scheme is None:
        return profiles
    choice = None
    if scheme is None:
        choice = choose_scheme(
            ratings,
            *names,
            factorizer=factorizer,
            most_cost=cost,
            seed=factorizer.seed,
            progress=progress,
        )
        scheme = choice.scheme
    specification = SchemeSpec.read(scheme)
    kind = specification.scheme
    profiles = prepare(profiles, ratings, kind, threads=factorizer.threads, progress=progress)
    if leak is not None:
        _require_withholding(kind, leak)
        LeakBudget(profiles).within(leak)  # so that what cannot be disclosed is not saved
    return replace(profiles, scheme=str(specification), choice=choice, leak=leak)


def _require_withholding(scheme: Scheme, leak: float) -> None:
    if not scheme.sub_samples:
        raise MidpointError(
            f"a leak of {leak} cannot be kept to under scheme {scheme.name!r}, which reveals every"
            " rating; leave the leak out, or ask for dmpss or cmpss"
        )
