"""Training as `midpoint train` does it: fit the items, choose a scheme, learn what it needs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from midpoint.analyst.disclose.choice import choose_scheme
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import SCHEMES, Scheme


def train(
    ratings: Ratings,
    features: str | Sequence[str] | None,
    *,
    factorizer: Factorizer | None = None,
    scheme: str | None = None,
    leak: float | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ItemProfiles:
    """Learn item profiles, and all that the scheme which protects them needs.

    Args:
        ratings: The ratings of people who shared their feature.
        features: The private feature; several make a joint one, None is none.
        factorizer: How items are fitted; with its defaults unless given.
        scheme: A scheme by name; `choose_scheme` decides unless given. Name another one only if you
            know why: the profiles remember it, and are disclosed by it.
        leak: Leak budget, under a scheme that withholds ratings: the AUC that somebody may reach
            who knew all errors of what is disclosed (`disclose.leak`). Items then have keep
            probabilities. None unless given.
        threads: All usable cores unless given; the result does not depend on it.
        progress: Is called with how far each stage has come.

    Returns:
        Item profiles whose `scheme` is the one chosen; None without a private feature.
    """
    names = (features,) if isinstance(features, str) else tuple(features or ())
    if scheme is not None and scheme not in SCHEMES:
        raise MidpointError(f"there is no scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")
    chosen = scheme or choose_scheme(ratings, *names)
    factorizer = factorizer or Factorizer()
    if threads is not None:
        factorizer = replace(factorizer, threads=threads)
    profiles = factorizer.fit(ratings, names or None, progress)
    if not names and scheme is None:
        return profiles
    kind = SCHEMES[chosen]
    profiles = prepare(profiles, ratings, kind, threads=factorizer.threads, progress=progress)
    if leak is not None:
        _require_withholding(kind, leak)
        LeakBudget(profiles).within(leak)  # so that what cannot be disclosed is not saved
    return replace(profiles, scheme=chosen, leak=leak)


def _require_withholding(scheme: Scheme, leak: float) -> None:
    if not scheme.sub_samples:
        raise MidpointError(
            f"a leak of {leak} cannot be kept to under scheme {scheme.name!r}, which reveals every"
            " rating; leave the leak out, or ask for dmpss or cmpss"
        )
