"""Training as `midpoint train` does it: fit the items, choose a scheme, learn what it needs."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from midpoint.analyst.disclose.assigned import require_assigned
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.disclose.scheme_choice import choose_scheme, require_attackers
from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels, require_suited
from midpoint.analyst.fit.choice import ALLOWED, Allowance, Choice
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.admission import noted, require_teaching
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.learn.training_set import training_set
from midpoint.data import Ratings
from midpoint.data.feature import require_people
from midpoint.data.preparation import require_differing
from midpoint.errors import MidpointError
from midpoint.wire import Scheme

LEAST_PEOPLE = 10
"""People that a category needs to be trained on, unless said otherwise."""

logger = logging.getLogger(__name__)


def train(
    ratings: Ratings,
    features: str | Sequence[str] | None,
    *,
    factorizer: Factorizer | None = None,
    scheme: str | None = None,
    leak: float | None = None,
    allow: Allowance = ALLOWED,
    least_people: int = LEAST_PEOPLE,
    asked: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    reports: CollectedReports | None = None,
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
        allow: What the scheme that is chosen may cost.
        least_people: People that every category needs: what is disclosed of fewer shows their own
            ratings.
        asked: Where people did not choose what they rate: "all" if everyone was asked about every
            item, a table of user and item, or "prove": an attack on what they rated has to find
            nothing. Values alone are then protected, and devices answer all that they are asked, or
            nothing.
        progress: Is called with how far each stage has come.
        reports: What other people reported, under disclosures of the same feature and scale: items
            are learned from them, too; how categories differ is learned from the panel alone.

    Returns:
        Item profiles whose `scheme` is the one chosen, with the `choice`; None without a private
        feature.
    """
    names = (features,) if isinstance(features, str) else tuple(features or ())
    if scheme is not None:  # what cannot be disclosed is refused at once
        asked_for = SchemeSpec.read(scheme)
        require_suited(asked_for.name, ratings.scale)
        reported_levels(ratings.scale, asked_for.levels)
    proof = None
    if asked is not None:
        proof = require_assigned(ratings, asked, names)
        if scheme is not None:
            scheme = str(replace(SchemeSpec.read(scheme), assigned=True))
    factorizer = factorizer or Factorizer()
    require_differing(ratings)
    if names:  # what cannot be done is refused before hours of fitting
        _require_panel(ratings, names, least_people, measured=scheme is None)
    profiles = fit_with_reports(ratings, names, reports, factorizer, progress)
    counterparts = scheme is not None and SchemeSpec.read(scheme).scheme.counterparts
    if not names and not counterparts:  # nothing to protect; counterparts say that they need it
        return profiles
    choice = None
    if scheme is None:
        choice = choose_scheme(
            ratings,
            *names,
            factorizer=factorizer,
            allow=allow,
            assigned=asked is not None,
            seed=factorizer.seed,
            progress=progress,
        )
        choice = replace(_with_budget(choice, leak), sets_leak=proof)
        scheme = choice.scheme
    specification = SchemeSpec.read(scheme)
    if asked is not None:
        specification = replace(specification, assigned=True)
    kind = specification.scheme
    profiles = prepare(
        profiles,
        ratings,
        kind,
        spread=specification.spread,
        threads=factorizer.threads,
        progress=progress,
    )
    if leak is None:  # a model keeps it, so that it stays when a site publishes again
        leak = specification.leak
    specification = replace(specification, leak=None)
    if leak is not None:
        _require_withholding(kind, leak)
        # so that what cannot be disclosed is not saved
        LeakBudget(profiles, specification.share).within(leak)
    return replace(profiles, scheme=str(specification), choice=choice, leak=leak)


def fit_with_reports(
    panel: Ratings,
    names: tuple[str, ...],
    reports: CollectedReports | None,
    factorizer: Factorizer,
    progress: Callable[[Progress], None] | None,
) -> ItemProfiles:
    """Fit items to the panel's ratings and to reports, if any, and note how many were used."""
    if reports is None:
        return factorizer.fit(panel, names or None, progress)
    if not names:
        raise MidpointError("reports protect a private feature; name it to learn from them")
    both = training_set(panel, names, reports, seed=factorizer.seed)
    require_teaching(reports, both.admission)
    profiles = factorizer.fit(both.ratings, names, progress, both.report_noise)
    return replace(profiles, provenance=noted(profiles.provenance, both.admission))


def _require_panel(
    ratings: Ratings, names: tuple[str, ...], least_people: int, *, measured: bool
) -> None:
    """Refuse a category of too few people, and say whose category is not known.

    Where the scheme is to be `measured`, refuse as well if what attackers need is not installed.
    """
    if measured:
        require_attackers()
    feature = ratings.feature(*names)
    feature.require_classes()
    require_people(feature.parts, feature.counts, least_people)
    unknown = int((~feature.known).sum())
    if unknown:
        logger.warning(
            "%s: the %s of %d of %d people is not known: items are learned from their ratings,"
            " and nothing about categories",
            *(ratings.name, feature.name, unknown, len(feature.codes)),
        )


def _with_budget(choice: Choice, leak: float | None) -> Choice:
    """Return a choice whose own leak budget, which sets have, gives way to one that was named."""
    spec = SchemeSpec.read(choice.scheme)
    if leak is None or spec.leak in {None, leak}:
        return choice
    return replace(
        choice,
        scheme=str(replace(spec, leak=leak)),
        reason=f"this leak budget was asked for; measured was one of {spec.leak:g}",
    )


def _require_withholding(scheme: Scheme, leak: float) -> None:
    if not scheme.sub_samples:
        raise MidpointError(
            f"a leak of {leak} cannot be kept to under scheme {scheme.name!r}, which reveals every"
            " rating; leave the leak out, or ask for dmpss or cmpss"
        )
