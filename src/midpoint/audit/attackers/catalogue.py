"""All attackers by name: the paper's four, and those that know the scheme.

An adaptive one is trained on people obfuscated like those it is tried on; its name says what it
reads.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from midpoint.audit.attackers.attacker import Attacker
from midpoint.audit.attackers.kernels import QuadraticKernel, SupportVectors
from midpoint.audit.attackers.learned import Family, Learned, Rows
from midpoint.audit.attackers.linear import Logistic, NaiveBayes
from midpoint.audit.attackers.mechanism import ByCategory, fractions, joint_errors, likelihoods
from midpoint.audit.attackers.products import Products
from midpoint.audit.attackers.trees import Trees
from midpoint.audit.features import (
    level_columns,
    mask,
    profile_features,
    raised_values,
    short_profile,
    values,
    values_and_mask,
)
from midpoint.audit.view import Float, View

Form = Callable[[View], Rows]
Maker = Callable[[], Attacker]

LOGISTIC = Logistic((1e-6, 1e-5, 1e-4, 1e-3, 1e-2))
DENSE_LOGISTIC = Logistic((1e-4, 1e-3, 1e-2, 1e-1))
SUPPORT = tuple((C, gamma) for C in (1.0, 10.0) for gamma in (0.1, 0.7))


def _clean(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=False, form=form, family=family)


def _adaptive(name: str, form: Form, family: Family) -> Maker:
    return partial(Learned, name, adaptive=True, form=form, family=family)


def _knowing(name: str, evidence: Callable[[View], Float], control: str = "no") -> Maker:
    return partial(ByCategory, name, adaptive=True, evidence=evidence, control=control)


_MAKERS = (
    partial(ByCategory, "lse", adaptive=False, evidence=joint_errors),
    _clean("nb", values, NaiveBayes()),
    _clean("lr", values, Logistic((0.003, 0.01, 0.03, 0.1, 0.3), standardised=False)),
    _clean("svm", values, SupportVectors(SUPPORT, most_rows=10_000)),
    _adaptive("adaptive-lr-items", values_and_mask, LOGISTIC),
    _adaptive("adaptive-lr-levels", level_columns, LOGISTIC),
    _adaptive("adaptive-lr-mask", mask, LOGISTIC),
    _adaptive("adaptive-lr-profile", profile_features, DENSE_LOGISTIC),
    _adaptive("adaptive-svm-items", values_and_mask, SupportVectors(SUPPORT)),
    _adaptive("adaptive-svm-profile", profile_features, SupportVectors(SUPPORT)),
    _adaptive("adaptive-quadratic-levels", level_columns, QuadraticKernel()),
    _adaptive("adaptive-quadratic-profile", short_profile, Products()),
    _adaptive("adaptive-trees-items", raised_values, Trees(columns=0.2, most_rows=12_000)),
    _adaptive("adaptive-trees-profile", profile_features, Trees()),
    _knowing("fraction", fractions, "mp"),
    _knowing("likelihood", likelihoods),
)

ATTACKERS: Mapping[str, Maker] = MappingProxyType({make().name: make for make in _MAKERS})
"""Makers of attackers, by name."""
