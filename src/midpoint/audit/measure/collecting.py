"""From what the tasks stored to the numbers that are reported."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint import __version__
from midpoint.analyst.disclose.leak import area_of
from midpoint.audit.measure.judging import ONLY, Judging
from midpoint.audit.measure.results import (
    AUC,
    PENALIZED,
    RAW_KIND,
    READABLE,
    RMSE,
    Adversary,
    AuditResults,
    Band,
    Bound,
    ByActivity,
    Control,
    Cost,
    Histogram,
    Rounds,
    Row,
    baseline,
)
from midpoint.audit.measure.statistics import (
    NORMAL_95,
    Area,
    NullBand,
    area,
    null_band,
    paired_cost,
    root_mean,
)
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.run.adversaries.outsiders import (
    ADVERSARIES,
    CLEAN,
    OUTSIDER,
    PANEL,
    SPLIT,
    SPLIT_ADVERSARIES,
    sizes,
)
from midpoint.audit.run.folds import questions
from midpoint.audit.run.plan import RAW, Plan
from midpoint.audit.run.sources import LIBRARIES
from midpoint.audit.run.store import ATTACK, EARLY, Arrays, Store
from midpoint.audit.run.tasks import ACCURACY, ANSWERS, BOUND, LEARN
from midpoint.data import Feature, Ratings, describe
from midpoint.wire import SCHEMES

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]
BINS = 40
QUARTERS = 4
LEARNED = ("estimation", "bits", "estimator")
"""Settings of what is disclosed, which raw ratings do without."""


def collect(store: Store, plan: Plan, people: Ratings, usual: str) -> AuditResults:
    """Measure all that is complete in a directory, whenever it was run.

    `usual` is the scheme in use on such data.
    """
    stored, manifest = Collected(store, plan, people), store.manifest()
    schemes, kinds = list(manifest["schemes"]), manifest["attackers"]
    attackers = {
        name: kind for name, kind in kinds.items() if name in stored.attacks(kind["control"])
    }
    attacked = [scheme for scheme in schemes if stored.attacks(scheme)]
    costed = [scheme for scheme in schemes if stored.has_cost(scheme)]
    several = attacked if len(stored.questions) > 1 else []
    judges = {scheme: stored.judging.judges(scheme) for scheme in attacked}
    return AuditResults(
        dataset=people.name,
        data_digest=manifest["data"]["digest"],
        feature=stored.feature.name,
        categories=stored.feature.categories,
        discrete=people.scale.is_discrete,
        folds=plan.folds,
        seed=plan.seed,
        code=manifest["code"],
        rows=tuple(row for scheme in schemes for row in stored.rows(scheme)),
        bands={scheme: stored.band(scheme) for scheme in attacked},
        controls={name: stored.control(name, kind["control"]) for name, kind in attackers.items()},
        adaptive={name: kind["adaptive"] for name, kind in attackers.items()},
        per_fold={
            scheme: {name: stored.per_fold(scheme, name) for name in stored.attacks(scheme)}
            for scheme in schemes
        },
        histograms={}
        if several
        else {
            scheme: {name: stored.histogram(scheme, name) for name in stored.attacks(scheme)}
            for scheme in schemes
        },
        activity={scheme: stored.by_activity(scheme) for scheme in costed if scheme in attacked},
        withheld={scheme: stored.deciles(scheme) for scheme in costed},
        macro_bands={scheme: stored.macro_band(scheme) for scheme in several},
        macro={scheme: stored.macro(scheme) for scheme in several},
        costs={
            scheme: stored.cost(scheme)
            for scheme in costed
            if baseline(manifest["schemes"], scheme) != scheme
        },
        schemes=manifest["schemes"],
        seconds=stored.seconds(schemes),
        description=describe(people).as_dict(),
        usual=usual,
        versions=versions(),
        rounds=dict(stored.rounds(manifest["schemes"])),
        adversaries={
            name: stored.adversary(name, attacks, attacked)
            for name, attacks in _by_adversary(attackers).items()
        },
        model=manifest["plan"],
        judges={scheme: found for scheme, found in judges.items() if found},
        bounds={scheme: bound for scheme in schemes if (bound := stored.bound(scheme))},
    )


def _by_adversary(attackers: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Say which attackers are whose, in the order of what adversaries know."""
    whose = {
        name: kind["adversary"] or (PANEL if kind["adaptive"] else CLEAN)
        for name, kind in attackers.items()
    }
    there = [name for name in ADVERSARIES if name in whose.values()]
    return {one: [name for name, adversary in whose.items() if adversary == one] for one in there}


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of what the numbers may depend on."""
    known = {"python": platform.python_version(), "midpoint": __version__}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


@dataclass(frozen=True)
class Collected:
    """Reads the store, fold after fold."""

    store: Store
    """Where the tasks put their results."""
    plan: Plan
    """What the audit does."""
    people: Ratings
    """The ratings of all users who were attacked in turn."""
    _read: dict[tuple[str, ...], list[Arrays]] = field(default_factory=dict)
    """Results that were read before: each is asked for many times."""

    @cached_property
    def category(self) -> NDArray[np.int64]:
        """Category of everyone, fold after fold. Shape (N,)."""
        return np.concatenate([one["category"] for one in self._every(*self._people)])

    @cached_property
    def folds(self) -> NDArray[np.int64]:
        """Fold of everyone. Shape (N,)."""
        sizes = [len(one["category"]) for one in self._every(*self._people)]
        return np.repeat(np.arange(self.plan.folds), sizes)

    @cached_property
    def feature(self) -> Feature:
        """The private feature."""
        return self.people.feature(*self.plan.feature)

    @cached_property
    def judging(self) -> Judging:
        """One answer for each adversary."""
        return Judging(self.category, self.folds, self.questions, self._label, self._tried)

    def _tried(self, scheme: str) -> dict[str, dict[str, list[Arrays]]]:
        """Return what the attackers of each adversary stored of a scheme, by fold."""
        kinds = self.store.manifest()["attackers"]
        whose = _by_adversary({name: kinds[name] for name in self.attacks(scheme)})
        return {
            adversary: {name: self._every(scheme, ATTACK, name) for name in names}
            for adversary, names in whose.items()
        }

    @property
    def questions(self) -> list[int]:
        """The categories that attackers look for."""
        return questions(len(self.feature.categories))

    @cached_property
    def _people(self) -> tuple[str, ...]:
        """Where it is written who was attacked."""
        return (LEARN,) if self._has(LEARN) else (LEARN, SPLIT)

    @cached_property
    def _accuracy(self) -> tuple[str, ...]:
        """Where accuracy is: under the disclosure of all training people, if that was tried."""
        return (ACCURACY,) if self._has(LEARN) else (SPLIT, ACCURACY)

    def _has(self, *names: str) -> bool:
        return all(self.store.has(fold, *names) for fold in range(self.plan.folds))

    def _every(self, *names: str) -> list[Arrays]:
        if names not in self._read:
            folds = range(self.plan.folds)
            self._read[names] = [self.store.load(fold, *names) for fold in folds]
        return self._read[names]

    def has_cost(self, scheme: str) -> bool:
        """Tell whether a scheme's cost was measured in all folds."""
        return self._has(scheme, *self._accuracy)

    def attacks(self, scheme: str) -> list[str]:
        """Return the attackers that tried a scheme in all folds, in the order they came."""
        each = [set(self.store.attacks(fold, scheme)) for fold in range(self.plan.folds)]
        complete = set.intersection(*each)
        return [name for name in self.store.manifest()["attackers"] if name in complete]

    def scores(self, scheme: str, attack: str) -> Float:
        """Return everyone's scores, for each question. Shape (N, questions)."""
        return np.concatenate([one["scores"] for one in self._every(scheme, ATTACK, attack)])

    def areas(self, scheme: str, attack: str, among: Mask | None = None) -> list[Area]:
        """Return the AUC of each question, of all people or some of them."""
        scores, some = self.scores(scheme, attack), slice(None) if among is None else among
        return [
            area(scores[some, column], self.category[some] == k, self.folds[some])
            for column, k in enumerate(self.questions)
        ]

    def rows(self, scheme: str) -> Iterator[Row]:
        """Go through all numbers of a scheme."""
        head = self.people.name, self.feature.name, scheme
        tail = self.plan.folds, self.plan.seed
        for attack in self.attacks(scheme):
            areas = self.areas(scheme, attack)
            mean = Area.mean(areas)
            yield Row(*head, AUC, attack, mean.value, *mean.interval(), *tail)
            if len(areas) > 1:
                for column, one in enumerate(areas):
                    name = self._label(attack, column)
                    yield Row(*head, AUC, name, one.value, *one.interval(), *tail)
        for metric, attack, measured in self.judging.rows(scheme):
            yield Row(*head, metric, attack, *measured, *tail)
        if self.has_cost(scheme):
            for metric, value, low, high in self._costs(scheme):
                yield Row(*head, metric, "", value, low, high, *tail)

    def _label(self, attack: str, column: int) -> str:
        """Name an attacker, and the category it is asked about where there are several."""
        if len(self.questions) == 1:
            return attack
        return f"{attack}[{self.feature.categories[self.questions[column]]}]"

    def cost(self, scheme: str) -> Cost:
        """Compare errors with the best that raw ratings give, user by user."""
        kinds = [metric.removeprefix("rmse_") for metric in RMSE]
        raw = self._every(baseline(self.store.manifest()["schemes"], scheme), *self._accuracy)
        compared = kinds[:1] if self.plan.paper else kinds
        squares = [np.concatenate([one[kind] for one in raw]) for kind in compared]
        best = min(squares, key=np.sum)
        folds = self._every(scheme, *self._accuracy)
        here = np.concatenate([fold[compared[-1]] for fold in folds])
        return Cost(*paired_cost(here, best))

    def _costs(self, scheme: str) -> Iterator[tuple[str, float, float, float]]:
        """Return errors and the share withheld, with intervals over users, and the bits."""
        parts = self._every(scheme, *self._accuracy)
        hidden = np.concatenate([one["hidden"] for one in parts])
        for metric in (*RMSE, PENALIZED) if self.plan.paper else RMSE:
            squares = np.concatenate([one[metric.removeprefix("rmse_")] for one in parts])
            yield metric, *root_mean(squares, hidden)
        withheld = self.withheld(scheme)
        half = NORMAL_95 * float(withheld.std(ddof=1)) / len(withheld) ** 0.5
        mean = float(withheld.mean())
        yield "withheld", mean, max(mean - half, 0.0), min(mean + half, 1.0)
        bits = float(np.mean([float(one["bits"]) for one in parts]))
        yield "disclosed_bits", bits, bits, bits

    def withheld(self, scheme: str) -> Float:
        """Return the share of each user's ratings that stays with her. Shape (N,)."""
        parts = self._every(scheme, *self._accuracy)
        given, kept = (np.concatenate([one[key] for one in parts]) for key in ("given", "kept"))
        return np.asarray(1 - kept / np.maximum(given, 1))

    def deciles(self, scheme: str) -> tuple[float, ...]:
        """Return deciles over users of the share withheld."""
        return tuple(np.quantile(self.withheld(scheme), np.linspace(0, 1, 11)).tolist())

    def band(self, scheme: str) -> Band:
        """Return what chance would show of the strongest of all that ever tried a scheme.

        Of several categories, that of the strongest on any of them.
        """
        return self._band(scheme, self.attacks(scheme))

    def _band(self, scheme: str, names: list[str]) -> Band:
        level = self.judging.level(scheme)
        null = self._null(scheme, names, level=level)
        _, strongest = self._strongest(scheme, names)
        return Band(null.low, null.high, len(names), null.p_value(strongest.value), level)

    def adversary(self, name: str, attacks: list[str], schemes: list[str]) -> Adversary:
        """Return what is measured against one adversary, by its own attackers alone."""
        tried = {one: [a for a in self.attacks(one) if a in attacks] for one in schemes}
        panel, outsiders = self._sizes(split=name in SPLIT_ADVERSARIES)
        return Adversary(
            knows=ADVERSARIES[name],
            attacks=tuple(attacks),
            panel=panel,
            outsiders=outsiders if name == OUTSIDER else 0,
            bands={one: self._band(one, names) for one, names in tried.items() if names},
        )

    def macro_band(self, scheme: str) -> Band:
        """Return what chance would show of the greatest of the macro AUCs."""
        names = self.attacks(scheme)
        level = self.judging.level(scheme)
        null = self._null(scheme, names, macro=True, level=level)
        greatest = max(self.macro(scheme).values())
        return Band(0.5, null.high, len(names), null.p_value(greatest), level)

    def macro(self, scheme: str) -> dict[str, float]:
        """Return of each attacker 0.5 plus the mean distance of its answers from it."""
        names = self.attacks(scheme)
        return {name: Area.macro(self.areas(scheme, name)).value for name in names}

    def _sizes(self, *, split: bool) -> tuple[int, int]:
        """Return how many people are the panel and outsiders, in the smallest training."""
        training = len(self.category) - int(np.bincount(self.folds).max())
        return sizes(self.plan, training) if split else (training, 0)

    def bound(self, scheme: str) -> Bound | None:
        """Return the bound: of the published disclosure, where outsiders are kept apart."""
        split = self._has(scheme, SPLIT, BOUND)
        names = (scheme, SPLIT, BOUND) if split else (scheme, BOUND)
        if not self._has(*names):
            return None
        every = self._every(*names)
        sets, values, revealed = (
            float(np.mean([one[key] for one in every])) for key in ("sets", "values", "revealed")
        )
        return Bound(area_of(sets + values), sets, values, revealed, self._sizes(split=split)[0])

    def _strongest(
        self, scheme: str, names: list[str] | None = None
    ) -> tuple[tuple[str, int], Area]:
        """Return the attacker, of all or some, and the question that are farthest from 0.5."""
        areas = {
            (name, column): one
            for name in (self.attacks(scheme) if names is None else names)
            for column, one in enumerate(self.areas(scheme, name))
        }
        return max(areas.items(), key=lambda pair: pair[1].distance)

    def _null(
        self, scheme: str, names: list[str], *, macro: bool = False, level: float = ONLY
    ) -> NullBand:
        scores = np.stack([self.scores(scheme, name) for name in names])
        if len(self.questions) == 1:
            scores = scores[:, :, 0]
        return null_band(scores, self.category, self.folds, macro=macro, level=level)

    def control(self, attack: str, scheme: str) -> Control:
        """Tell whether an attacker can read what it should be able to read."""
        values = [one.value for one in self.areas(scheme, attack)]
        least = max(READABLE, 0.5 + self._null(scheme, [attack]).judged_half_width)
        names = [self.feature.categories[k] for k in self.questions]
        unread = [name for name, value in zip(names, values, strict=True) if value < least]
        return Control(scheme, max(values), max(values) >= least, tuple(unread))

    def per_fold(self, scheme: str, attack: str) -> tuple[float, ...]:
        """Return the AUC in each fold."""
        return tuple(
            Area.mean(self.areas(scheme, attack, self.folds == fold)).value
            for fold in range(self.plan.folds)
        )

    def histogram(self, scheme: str, attack: str) -> Histogram:
        """Count an attacker's answers, each fold's on a scale of its own, by category."""
        scores = self.scores(scheme, attack)[:, 0]
        for fold in range(self.plan.folds):
            inside = self.folds == fold
            spread = scores[inside].std() or 1.0
            scores[inside] = (scores[inside] - np.median(scores[inside])) / spread
        low, high = np.quantile(scores, (0.005, 0.995))
        edges = np.linspace(low, max(high, low + 1e-6), BINS + 1)
        inside = np.clip(scores, edges[0], edges[-1])
        counts = [np.histogram(inside[self.category == k], edges)[0] for k in (0, 1)]
        return Histogram(tuple(edges.tolist()), tuple(tuple(c.tolist()) for c in counts))

    def by_activity(self, scheme: str) -> ByActivity:
        """Split users into quarters by how many ratings they gave; judge the strongest attacker."""
        (attack, column), _ = self._strongest(scheme)
        given = np.concatenate([one["given"] for one in self._every(scheme, *self._accuracy)])
        quarter = np.argsort(np.argsort(given, kind="stable")) * QUARTERS // len(given)
        parts = [quarter == q for q in range(QUARTERS)]
        areas = [self.areas(scheme, attack, part)[column] for part in parts]
        intervals = [one.interval() for one in areas]
        return ByActivity(
            self._label(attack, column),
            tuple(float(given[part].mean()) for part in parts),
            tuple(one.value for one in areas),
            tuple(low for low, _ in intervals),
            tuple(high for _, high in intervals),
        )

    def rounds(self, schemes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Rounds]]:
        """Go through the schemes that were held over several rounds, each with its devices."""
        complete = {
            name: settings
            for name, settings in schemes.items()
            if "rounds" in settings and self.attacks(name) and self._has(name, ANSWERS)
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
            tried = set.intersection(*(set(self.attacks(name)) for name in names))
            yield (
                product,
                Rounds(
                    rounds=settings["rounds"],
                    budget=settings["budget"],
                    items=min(settings["items"], self.people.n_items),
                    timed=self.people.time is not None,
                    devices=names,
                    controls={
                        name: self.control(name, control)
                        for name in self.attacks(product)
                        if name in tried
                    },
                    answers={name: self.answers(name) for name in names},
                ),
            )

    def answers(self, scheme: str) -> tuple[float, ...]:
        """Return the mean number of answers a person gave in each round."""
        each = [stored["answers"] for stored in self._every(scheme, ANSWERS)]
        return tuple(np.mean(each, axis=0).tolist())

    def seconds(self, schemes: list[str]) -> dict[str, float]:
        """Add up where the time went: by attacker and step, and what attackers share."""
        learned = [(LEARN,), *((LEARN, scheme) for scheme in SCHEMES), (LEARN, EARLY)]
        learned += [(LEARN, EARLY, scheme) for scheme in SCHEMES]
        learned += [(LEARN, SPLIT), *((LEARN, SPLIT, scheme) for scheme in SCHEMES)]
        tasks: list[tuple[str, ...]] = [names for names in learned if self._has(*names)]
        tasks += [(s, *self._accuracy) for s in schemes if self.has_cost(s)]
        tasks += [(s, ATTACK, name) for s in schemes for name in self.attacks(s)]
        total: dict[str, float] = {}
        for names in tasks:
            for part in self._every(*names):
                task = " ".join(names) if names[0] == LEARN else names[-1]
                for kind, key in ((task, "seconds"), ("obfuscate", "shared_seconds")):
                    total[kind] = total.get(kind, 0.0) + float(part[key])
        return dict(sorted(total.items(), key=lambda pair: -pair[1]))


def _same(
    schemes: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any], but: tuple[str, ...]
) -> list[str]:
    """Return the schemes that have the same settings, but for some."""
    wanted = {key: value for key, value in settings.items() if key not in but}
    return [name for name, other in schemes.items() if wanted.items() <= other.items()]
