"""What leaks: the AUC of each attacker under each scheme, beside the chance band."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from midpoint.analyst.disclose.leak import area_of
from midpoint.audit.attackers.auc import Area
from midpoint.audit.measure.findings import (
    READABLE,
    Adversary,
    Band,
    Bound,
    ByActivity,
    Control,
    Histogram,
)
from midpoint.audit.measure.judging import ONLY, Judging
from midpoint.audit.measure.statistics import NullBand, null_band
from midpoint.audit.measure.stored import Stored
from midpoint.audit.run.adversaries.catalogue import ADVERSARIES, OUTSIDER, SPLIT_ADVERSARIES
from midpoint.audit.run.adversaries.outsiders import SPLIT
from midpoint.audit.run.adversaries.panel_draw import sizes
from midpoint.audit.run.tasks.units import BOUND

BINS = 40
QUARTERS = 4


@dataclass(frozen=True)
class Privacy:
    """Measures what attackers found."""

    stored: Stored
    """What they said of everyone."""

    def areas(self, scheme: str) -> Iterator[tuple[str, Area]]:
        """Go through the attackers of a scheme: the mean over categories, then each of several."""
        for attack in self.stored.attacks(scheme):
            areas = self.stored.areas(scheme, attack)
            yield attack, Area.mean(areas)
            if len(areas) > 1:
                for column, single in enumerate(areas):
                    yield self.stored.label(attack, column), single

    @cached_property
    def judging(self) -> Judging:
        """One answer for each adversary."""
        return Judging(
            self.stored.category,
            self.stored.folds,
            self.stored.targets,
            self.stored.label,
            self.stored.tried,
        )

    def band(self, scheme: str) -> Band:
        """Return what chance would show of the strongest of all that ever tried a scheme.

        Of several categories, that of the strongest on any of them.
        """
        return self._band(scheme, self.stored.attacks(scheme))

    def _band(self, scheme: str, names: list[str]) -> Band:
        level = self.judging.level(scheme)
        null = self._null(scheme, names, level=level)
        _, strongest = self._strongest(scheme, names)
        return Band(null.low, null.high, len(names), null.p_value(strongest.value), level)

    def macro_band(self, scheme: str) -> Band:
        """Return what chance would show of the greatest of the macro AUCs."""
        names = self.stored.attacks(scheme)
        level = self.judging.level(scheme)
        null = self._null(scheme, names, macro=True, level=level)
        greatest = max(self.macro(scheme).values())
        return Band(0.5, null.high, len(names), null.p_value(greatest), level)

    def macro(self, scheme: str) -> dict[str, float]:
        """Return of each attacker 0.5 plus the mean distance of its answers from it."""
        names = self.stored.attacks(scheme)
        return {name: Area.macro(self.stored.areas(scheme, name)).value for name in names}

    def adversary(self, name: str, attacks: list[str], schemes: list[str]) -> Adversary:
        """Return what is measured against one adversary, by its own attackers alone."""
        tried = {one: [a for a in self.stored.attacks(one) if a in attacks] for one in schemes}
        panel, outsiders = self._sizes(split=name in SPLIT_ADVERSARIES)
        return Adversary(
            knows=ADVERSARIES[name],
            attacks=tuple(attacks),
            panel=panel,
            outsiders=outsiders if name == OUTSIDER else 0,
            bands={one: self._band(one, names) for one, names in tried.items() if names},
        )

    def _sizes(self, *, split: bool) -> tuple[int, int]:
        """Return how many people are the panel and outsiders, in the smallest training."""
        training = len(self.stored.category) - int(np.bincount(self.stored.folds).max())
        plan = self.stored.plan
        panel, outsiders = sizes(plan, training)
        return (panel, outsiders) if split else (training if plan.panel is None else panel, 0)

    def bound(self, scheme: str) -> Bound | None:
        """Return the bound: of the published disclosure, where outsiders are kept apart.

        None where a fold chose a protocol without one.
        """
        split = self.stored.has(scheme, SPLIT, BOUND)
        names = (scheme, SPLIT, BOUND) if split else (scheme, BOUND)
        if not self.stored.has(*names):
            return None
        every = self.stored.every(*names)
        sets, values, revealed = (
            float(np.mean([one[key] for one in every])) for key in ("sets", "values", "revealed")
        )
        if np.isnan(sets):
            return None
        return Bound(area_of(sets + values), sets, values, revealed, self._sizes(split=split)[0])

    def control(self, attack: str, scheme: str) -> Control:
        """Tell whether an attacker succeeds on what it should succeed on."""
        values = [one.value for one in self.stored.areas(scheme, attack)]
        least = max(READABLE, 0.5 + self._null(scheme, [attack]).judged_half_width)
        names = [self.stored.feature.categories[k] for k in self.stored.targets]
        unread = [name for name, value in zip(names, values, strict=True) if value < least]
        return Control(scheme, max(values), max(values) >= least, tuple(unread))

    def per_fold(self, scheme: str, attack: str) -> tuple[float, ...]:
        """Return the AUC in each fold."""
        return tuple(
            Area.mean(self.stored.areas(scheme, attack, self.stored.folds == fold)).value
            for fold in range(self.stored.plan.folds)
        )

    def histogram(self, scheme: str, attack: str) -> Histogram:
        """Count an attacker's answers, each fold's on a scale of its own, by category."""
        scores = self.stored.scores(scheme, attack)[:, 0]
        for fold in range(self.stored.plan.folds):
            inside = self.stored.folds == fold
            spread = scores[inside].std() or 1.0
            scores[inside] = (scores[inside] - np.median(scores[inside])) / spread
        low, high = np.quantile(scores, (0.005, 0.995))
        edges = np.linspace(low, max(high, low + 1e-6), BINS + 1)
        inside = np.clip(scores, edges[0], edges[-1])
        counts = [np.histogram(inside[self.stored.category == k], edges)[0] for k in (0, 1)]
        return Histogram(tuple(edges.tolist()), tuple(tuple(c.tolist()) for c in counts))

    def by_activity(self, scheme: str) -> ByActivity:
        """Split users into quarters by how many ratings they gave; judge the strongest attacker."""
        (attack, column), _ = self._strongest(scheme)
        given = np.concatenate(
            [one["given"] for one in self.stored.every(scheme, *self.stored.accuracy)]
        )
        quarter = np.argsort(np.argsort(given, kind="stable")) * QUARTERS // len(given)
        parts = [quarter == q for q in range(QUARTERS)]
        areas = [self.stored.areas(scheme, attack, part)[column] for part in parts]
        intervals = [one.interval() for one in areas]
        return ByActivity(
            self.stored.label(attack, column),
            tuple(float(given[part].mean()) for part in parts),
            tuple(one.value for one in areas),
            tuple(low for low, _ in intervals),
            tuple(high for _, high in intervals),
        )

    def _strongest(
        self, scheme: str, names: list[str] | None = None
    ) -> tuple[tuple[str, int], Area]:
        """Return the attacker, of all or some, and the target whose AUC is farthest from 0.5."""
        areas = {
            (name, column): one
            for name in (self.stored.attacks(scheme) if names is None else names)
            for column, one in enumerate(self.stored.areas(scheme, name))
        }
        return max(areas.items(), key=lambda pair: pair[1].distance)

    def _null(
        self, scheme: str, names: list[str], *, macro: bool = False, level: float = ONLY
    ) -> NullBand:
        scores = np.stack([self.stored.scores(scheme, name) for name in names])
        if len(self.stored.targets) == 1:
            scores = scores[:, :, 0]
        return null_band(scores, self.stored.category, self.stored.folds, macro=macro, level=level)
