"""All attackers of one report by name: the paper's four, and those that know the scheme.

An adaptive attacker is trained on people obfuscated like those it attacks. Its name says which
features it uses. Attackers of several rounds are in `audit.rounds.attackers`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from midpoint.audit.attackers.attacker import Attacker
from midpoint.audit.attackers.features import (
    level_columns,
    mask,
    profile_features,
    raised_values,
    short_profile,
    values,
    values_and_mask,
)
from midpoint.audit.attackers.kernels import QuadraticKernel, SupportVectors
from midpoint.audit.attackers.learned import Family, Learned, Rows
from midpoint.audit.attackers.linear import Logistic, NaiveBayes, panel_directions
from midpoint.audit.attackers.mechanism import ByCategory, fractions, joint_errors, likelihoods
from midpoint.audit.attackers.networks import Networks
from midpoint.audit.attackers.products import Products
from midpoint.audit.attackers.trees import Trees
from midpoint.audit.attackers.view import Float, View

Form = Callable[[View], Rows]
Maker = Callable[[], Attacker]

LOGISTIC: Logistic = Logistic((0.005, 0.05, 0.5, 5.0, 50.0))
DENSE_LOGISTIC: Logistic = Logistic((0.5, 5.0, 50.0, 500.0, 5000.0))
SUPPORT = tuple((C, gamma) for C in (3_000.0, 30_000.0) for gamma in (0.1, 0.7))
DENSE_SUPPORT = ((3_000.0, 0.1), (30_000.0, 0.1), (30_000.0, 0.7), (300_000.0, 0.03))


def _clean(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=False, form=form, family=family)


def _adaptive(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=True, form=form, family=family)


def _profiling(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=True, form=form, family=family, reads_profiles=True)


def _of_panel(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=True, form=form, family=family, reads_panel=True)


def _knowing(name: str, evidence: Callable[[View], Float], control: str = "no") -> Maker:
    return partial(ByCategory, name, adaptive=True, evidence=evidence, control=control)


_MAKERS = (
    partial(ByCategory, "lse", adaptive=False, evidence=joint_errors),
    _clean("nb", values, NaiveBayes()),
    _clean("lr", values, Logistic((5.0, 15.0, 50.0, 150.0, 500.0, 1500.0), standardized=False)),
    _clean("svm", values, SupportVectors(SUPPORT, most_rows=10_000)),
    # Those that use the same features follow one another, so that these are computed once.
    _adaptive("adaptive-lr-items", values_and_mask, LOGISTIC),
    _adaptive("adaptive-svm-items", values_and_mask, SupportVectors(SUPPORT)),
    _adaptive("adaptive-lr-levels", level_columns, LOGISTIC),
    _adaptive("adaptive-quadratic-levels", level_columns, QuadraticKernel()),
    _adaptive("adaptive-lr-mask", mask, LOGISTIC),
    _adaptive("adaptive-trees-items", raised_values, Trees(columns=0.2, most_rows=12_000)),
    _profiling("adaptive-lr-profile", profile_features, DENSE_LOGISTIC),
    _profiling("adaptive-svm-profile", profile_features, SupportVectors(DENSE_SUPPORT)),
    _profiling("adaptive-trees-profile", profile_features, Trees((25, 60, 150, 400))),
    _profiling("adaptive-mlp-profile", profile_features, Networks()),
    _profiling("adaptive-quadratic-profile", short_profile, Products()),
    _of_panel("adaptive-lr-panel", panel_directions, DENSE_LOGISTIC),
    _knowing("fraction", fractions, "mp"),
    _knowing("likelihood", likelihoods),
)

ATTACKERS: Mapping[str, Maker] = MappingProxyType({make().name: make for make in _MAKERS})
"""Makers of attackers, by name."""
PAPER_ATTACKS = ("lse", "nb", "lr", "svm")
"""The attackers of Sec. 7.1, all trained on clean ratings."""
QUICK_ATTACKS = (
    "lse",
    "nb",
    "lr",
    "adaptive-lr-items",
    "adaptive-lr-profile",
    "adaptive-trees-profile",
    "adaptive-lr-panel",
    "fraction",
    "likelihood",
)
"""Strong attackers that take little time, for quick audits."""
