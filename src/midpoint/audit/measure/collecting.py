"""From what the tasks stored to the numbers that are reported."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from midpoint import __version__
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.costs import accuracy, cost, deciles, ndcg_cost
from midpoint.audit.measure.findings import AUC, RAW_KIND, Rounds, Row
from midpoint.audit.measure.privacy import Privacy
from midpoint.audit.measure.results import AuditResults, baseline
from midpoint.audit.measure.stored import Stored, by_adversary
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.sources import LIBRARIES
from midpoint.audit.run.store import Store
from midpoint.data import Ratings, describe

LEARNED = ("estimation", "bits", "estimator")
"""Settings of what is disclosed, which raw ratings do without."""


def collect(store: Store, plan: Plan, people: Ratings) -> AuditResults:
    """Measure all that is complete in a directory, whenever it was run."""
    stored, manifest = Stored(store, plan, people), store.manifest()
    privacy = Privacy(stored)
    schemes, kinds = list(manifest["schemes"]), manifest["attackers"]
    attackers = {
        name: kind for name, kind in kinds.items() if name in stored.attacks(kind["control"])
    }
    attacked = [scheme for scheme in schemes if stored.attacks(scheme)]
    tried = {name for scheme in attacked for name in stored.attacks(scheme)}
    costed = [scheme for scheme in schemes if stored.has_cost(scheme)]
    several = attacked if len(stored.targets) > 1 else []
    judges = {scheme: privacy.judging.judges(scheme) for scheme in attacked}
    return AuditResults(
        dataset=people.name,
        data_digest=manifest["data"]["digest"],
        feature=stored.feature.name,
        categories=stored.feature.categories,
        discrete=people.scale.is_discrete,
        unary=people.scale.is_unary,
        folds=plan.folds,
        seed=plan.seed,
        code=manifest["code"],
        rows=tuple(row for scheme in schemes for row in _rows(privacy, scheme)),
        bands={scheme: privacy.band(scheme) for scheme in attacked},
        controls={name: privacy.control(name, kind["control"]) for name, kind in attackers.items()},
        adaptive={name: kind["adaptive"] for name, kind in attackers.items()},
        per_fold={
            scheme: {name: privacy.per_fold(scheme, name) for name in stored.attacks(scheme)}
            for scheme in schemes
        },
        histograms={}
        if several
        else {
            scheme: {name: privacy.histogram(scheme, name) for name in stored.attacks(scheme)}
            for scheme in schemes
        },
        activity={scheme: privacy.by_activity(scheme) for scheme in costed if scheme in attacked},
        withheld={scheme: deciles(stored, scheme) for scheme in costed},
        macro_bands={scheme: privacy.macro_band(scheme) for scheme in several},
        macro={scheme: privacy.macro(scheme) for scheme in several},
        costs={}
        if people.scale.is_unary
        else {
            scheme: cost(stored, scheme)
            for scheme in costed
            if baseline(manifest["schemes"], scheme) != scheme
        },
        ndcg_costs={
            scheme: lost
            for scheme in costed
            if baseline(manifest["schemes"], scheme) != scheme
            if (lost := ndcg_cost(stored, scheme)) is not None
        },
        schemes=manifest["schemes"],
        seconds=stored.seconds(schemes),
        description=describe(people).as_dict(),
        choices=stored.choices() or stored.choices(split=True),
        split_choices=stored.choices(split=True) if stored.choices() else (),
        versions=versions(),
        rounds=dict(held_over_rounds(privacy, manifest["schemes"])),
        adversaries={
            name: privacy.adversary(name, attacks, attacked)
            for name, attacks in by_adversary(
                {name: kind for name, kind in kinds.items() if name in tried}
            ).items()
        },
        model=manifest["plan"],
        judges={scheme: found for scheme, found in judges.items() if found},
        bounds={scheme: bound for scheme in schemes if (bound := privacy.bound(scheme))},
    )


def _rows(privacy: Privacy, scheme: str) -> Iterator[Row]:
    """Go through all numbers of a scheme."""
    stored = privacy.stored
    head = stored.people.name, stored.feature.name, scheme
    tail = stored.plan.folds, stored.plan.seed
    for attack, area in privacy.areas(scheme):
        yield Row(*head, AUC, attack, area.value, *area.interval(), *tail)
    for metric, attack, measured in privacy.judging.rows(scheme):
        yield Row(*head, metric, attack, *measured, *tail)
    if stored.has_cost(scheme):
        for metric, value, low, high in accuracy(stored, scheme):
            yield Row(*head, metric, "", value, low, high, *tail)


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of what the numbers may depend on."""
    known = {"python": platform.python_version(), "midpoint": __version__}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


def held_over_rounds(
    privacy: Privacy, schemes: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Rounds]]:
    """Go through the schemes that were held over several rounds, each with its devices."""
    stored = privacy.stored
    complete = {
        name: settings
        for name, settings in schemes.items()
        if "rounds" in settings and stored.attacks(name) and stored.answers(name)
    }
    for product, settings in complete.items():
        if settings["device"] != DeviceKind.FINAL or settings["name"] == RAW:
            continue
        raw = _same(complete, {**settings, "name": RAW}, but=("device", *LEARNED))
        devices = _same(complete, settings, but=("device",))
        if not raw:
            continue
        control = raw[0]
        names = {control: RAW_KIND} | {one: complete[one]["device"] for one in devices}
        tried = set.intersection(*(set(stored.attacks(name)) for name in names))
        yield (
            product,
            Rounds(
                rounds=settings["rounds"],
                budget=settings["budget"],
                items=min(settings["items"], stored.people.n_items),
                timed=stored.people.time is not None,
                devices=names,
                controls={
                    name: privacy.control(name, control)
                    for name in stored.attacks(product)
                    if name in tried
                },
                answers={name: stored.answers(name) for name in names},
            ),
        )


def _same(
    schemes: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any], but: tuple[str, ...]
) -> list[str]:
    """Return the schemes that have the same settings, but for some."""
    wanted = {key: value for key, value in settings.items() if key not in but}
    return [name for name, other in schemes.items() if wanted.items() <= other.items()]
