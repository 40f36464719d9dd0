"""A small audit that tests share: few people, and attackers that take no time."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer
from midpoint.audit import AuditResults, AuditSetting, View, audit
from midpoint.audit.run.plan import Plan
from midpoint.data import Feature, Ratings

QUICKLY = Factorizer(dimension=2, iterations=2)
PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY)
CALLS: list[str] = []
"""Who was fitted, in order."""


class ByItems:
    """Weighs each item's reported value by how much more of it the ones reported in training."""

    name = "items"
    adaptive = False
    control = "no"

    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        del seed
        CALLS.append(self.name)
        tables = [view.item_table(view.reports.value) for view in views]
        ones = sum(np.asarray(table[category == 1].mean(axis=0)) for table in tables)
        zeros = sum(np.asarray(table[category == 0].mean(axis=0)) for table in tables)
        self.weight = np.ravel(ones - zeros)

    def score(self, view: View) -> NDArray[np.float64]:
        return np.asarray(view.item_table(view.reports.value) @ self.weight, np.float64)


class AdaptiveByItems(ByItems):
    """The same, fitted to what the scheme sends."""

    name = "adaptive-items"
    adaptive = True


class ByChance:
    """Knows nothing, and says so by seed."""

    name = "chance"
    adaptive = True
    control = "no"

    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        del views, category
        CALLS.append(self.name)
        self.rng = np.random.default_rng(seed)

    def score(self, view: View) -> NDArray[np.float64]:
        return self.rng.random(view.n_users)


SMALL: dict[str, Any] = {"items": ByItems, "adaptive-items": AdaptiveByItems, "chance": ByChance}


def small_audit(ratings: Ratings, out: Path | None = None, **changes: Any) -> AuditResults:
    """Audit with two folds and quick attackers."""
    options: dict[str, Any] = {
        "feature": "gender",
        "schemes": ["mp", "dmpss"],
        "attacks": SMALL,
        "folds": 2,
        "factorizer": QUICKLY,
    }
    return audit_with(ratings, out=out, **(options | changes))


def audit_with(ratings: Ratings, **options: Any) -> AuditResults:
    """Audit with options of all kinds side by side."""
    names = {field.name for field in fields(AuditSetting)} & options.keys()
    setting = AuditSetting(**{name: options.pop(name) for name in names})
    return audit(ratings, **options, setting=setting)


def with_three_categories(ratings: Ratings) -> Ratings:
    """Add a feature of three parties, one of which follows from gender."""
    gender = ratings.features["gender"].codes
    codes = np.where(gender == 1, 2, np.arange(len(gender)) % 2)
    return ratings.with_feature(Feature("party", ("D", "I", "R"), codes.astype(np.int16)))
