"""What a certificate may be signed over."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.audit.measure.findings import SHARPNESS, Adversary, Band, Cost, Judge
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report import certificate as certifying
from midpoint.audit.report.certificate import certificate, factorizer_of
from midpoint.audit.run.plan import read_scheme
from midpoint.audit.run.sources import code_digest
from midpoint.data import PRESETS, Feature, Ratings, simulate
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.user.checks.certificate import KNOWING
from midpoint.wire import SCHEMES, Certificate, Disclosure
from tests.support.audits.made_up_judges import OUTSIDERS, SHARP, decided_by_clean, judged_by
from tests.support.audits.made_up_results import made_up, settings
from tests.support.audits.small_audit import QUICKLY


@cache
def people() -> Ratings:
    return simulate(PRESETS["simulated-tiny"], seed=1).ratings


def audited(**changes: Any) -> AuditResults:
    about = {
        "data_digest": people().digest,
        "code": code_digest(),
        "categories": people().features["gender"].categories,
    }
    return made_up(**(about | changes))


@cache
def learned(scheme: str) -> ItemProfiles:
    return prepare(QUICKLY.fit(people(), "gender"), people(), SCHEMES[scheme])


@cache
def disclosed(
    scheme: str = "mp", bits: int | None = None, estimation: Any = "shrunken"
) -> Disclosure:
    protocol = LearningProtocol(scheme, bits=bits, estimation=estimation)
    return protocol.disclose(learned(scheme))


def certify(
    disclosure: Disclosure, results: AuditResults | None = None, **other: Any
) -> Certificate:
    given: dict[str, Any] = {"ratings": people(), "factorizer": QUICKLY} | other
    return certificate(
        results or audited(), disclosure, auditor="me", key="0" * 64, time=7, **given
    )


def test_a_certificate_says_what_was_measured() -> None:
    made = certify(disclosed())
    assert made.disclosure == disclosed().digest
    assert made.data == people().digest
    assert (made.attack, made.auc, made.null_low) == ("fraction", 1_000_000, 470_000)
    assert made.auc_low <= made.auc <= made.auc_high
    assert made.rmse_cost == pytest.approx(9_800, abs=1)
    assert made.ndcg_cost is None
    ranked = replace(audited(), ndcg_costs={"mp": Cost(0.021, 0.0, 0.04)})
    assert certify(disclosed(), ranked).ndcg_cost == 21_000


def test_numbers_that_the_audited_data_does_not_give_are_refused() -> None:
    honest = disclosed()
    assert honest.offset is not None
    first, *others = honest.offset
    lied = honest.model_copy(update={"offset": ((first[0] + 1, *first[1:]), *others)})
    assert lied.digest != honest.digest
    with pytest.raises(MidpointError, match=rf"is not what .* gives \(offset of {honest.items[0]}"):
        certify(lied)
    with pytest.raises(MidpointError, match="is not what"):
        certify(disclosed(estimation="plain"))
    with pytest.raises(MidpointError, match="is not what"):
        certify(disclosed(), factorizer=Factorizer(dimension=3, iterations=2))


COUNTERPARTS = ("cmp", "cmpss")


def audited_with(scheme: str) -> AuditResults:
    return audited(areas={"no": {"lr": 0.9}, scheme: {"lr": 0.52}})


@pytest.mark.parametrize("scheme", COUNTERPARTS)
def test_positions_are_learned_again_and_found_the_same(scheme: str) -> None:
    made = certify(disclosed(scheme), audited_with(scheme))
    assert made.disclosure == disclosed(scheme).digest


def one_more(scheme: str, column: str) -> Disclosure:
    """Tell one number otherwise, by as little as can be."""
    honest = disclosed(scheme)
    if column == "prior":
        assert honest.prior is not None
        prior = honest.prior.model_copy(update={"noise": honest.prior.noise + 1})
        return honest.model_copy(update={"prior": prior})
    *others, last = getattr(honest, column)
    changed = (last[0] + 1, *last[1:]) if column != "levels" else last[::-1]
    return honest.model_copy(update={column: (*others, changed)})


@pytest.mark.parametrize(
    ("scheme", "column"),
    [
        (scheme, column)
        for scheme in COUNTERPARTS
        for column in [*sorted(LearningProtocol(scheme).scheme.columns), "prior"]
    ],
)
def test_any_number_about_positions_that_was_changed_is_named(
    scheme: str, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That it is learned again is tested above; for ten comparisons once will do.
    monkeypatch.setattr(certifying, "prepare", lambda *_, **__: learned(scheme))
    lied = one_more(scheme, column)
    assert lied.digest != disclosed(scheme).digest
    where = "prior of positions" if column == "prior" else f"{column} of {lied.items[-1]}"
    with pytest.raises(MidpointError, match=rf"is not what .*{where}"):
        certify(lied, audited_with(scheme))


def test_other_data_is_refused() -> None:
    fewer = people().select_users(np.arange(people().n_users) > 0)
    with pytest.raises(MidpointError, match="name the audited data"):
        certify(disclosed(), ratings=fewer)


def test_people_of_unknown_category_may_have_been_learned_from_or_not() -> None:
    gender = people().features["gender"]
    codes = gender.codes.copy()
    codes[:5] = -1
    ratings = people().with_feature(Feature("gender", gender.categories, codes))
    known = ratings.select_users(codes >= 0)
    results = audited(data_digest=ratings.digest)
    for learned in (ratings, known):
        disclosure = LearningProtocol("mp").disclose(QUICKLY.fit(learned, "gender"))
        assert certify(disclosure, results, ratings=ratings).disclosure == disclosure.digest


def test_a_certificate_is_refused_where_nothing_was_measured() -> None:
    with pytest.raises(MidpointError, match="about age, the disclosure about gender"):
        certify(disclosed(), audited(feature="age"))
    with pytest.raises(MidpointError, match="did not try 'mpss'"):
        certify(disclosed("mpss"))
    with pytest.raises(MidpointError, match="with bits 4"):
        certify(disclosed(bits=4))
    with pytest.raises(MidpointError, match="categories are M, F"):
        certify(disclosed(), audited(categories=("M", "F")))


def test_what_other_code_or_nobody_who_succeeds_has_tried_is_not_certified() -> None:
    with pytest.raises(MidpointError, match=r"other code or libraries.*audit again"):
        certify(disclosed(), audited(code="c" * 64))
    alone = {"no": {"fraction": 0.5}, "mp": {"fraction": 1.0}}
    with pytest.raises(MidpointError, match=r"no attacker that succeeds on raw.*--attacks paper"):
        certify(disclosed(), audited(areas=alone))
    beside = {"no": {"lr": 0.8, "fraction": 0.5}, "mp": {"lr": 0.8, "fraction": 1.0}}
    assert certify(disclosed(), audited(areas=beside)).disclosure == disclosed().digest


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "own.Mine 0123456789abcdef"},
        {"estimation": "plain"},
        {"share": 0.5},
        {"alpha": 0.5},
        {"levels": 3},
        {"spread": True},
        {"keep": 0.5},
        {"leak": 0.6},
        {"shift": False},
    ],
)
def test_a_protocol_that_does_something_else_is_not_the_one_certified(change: Any) -> None:
    results = audited()
    schemes = results.schemes | {"mp": settings("mp") | change}  # type: ignore[operator]
    with pytest.raises(MidpointError, match="did not try 'mp'"):
        certify(disclosed(), replace(results, schemes=schemes))


SHARES = {"no": 0.9, "dmpss:keep=0.25": 0.52, "dmpss:leak=0.7": 0.54, "dmpss": 0.6}
"""Smaller shares leak less, whatever else is the same."""


@pytest.mark.parametrize("scheme", list(SHARES)[1:])
def test_a_share_is_certified_by_what_was_measured_of_it(scheme: str) -> None:
    results = audited(areas={name: {"lr": area} for name, area in SHARES.items()})
    disclosure = read_scheme(scheme).disclose(learned("dmpss"))
    assert certify(disclosure, results).auc == round(SHARES[scheme] * 1e6)
    # The control: what was measured of the other shares says nothing of this one.
    others = {name: {"lr": area} for name, area in SHARES.items() if name != scheme}
    with pytest.raises(MidpointError, match=f"did not try '{scheme}';"):
        certify(disclosure, audited(areas=others))


def test_the_settings_of_learning_are_read_from_the_audit() -> None:
    manifest = {"plan": {"factorizer": {"dimension": 2, "iterations": 2, "threads": 1}}}
    assert factorizer_of(manifest) == QUICKLY
    for bad in ({}, {"plan": {"factorizer": {"size": 3}}}):
        with pytest.raises(MidpointError, match="another version"):
            factorizer_of(bad)


def test_a_certificate_says_against_whom_and_how() -> None:
    plain = certify(disclosed())
    assert (plain.folds, plain.people, plain.attackers) == (10, 60, 3)
    assert (plain.adversary, plain.named, plain.given) == (None, None, None)
    base = audited(model={"share": 1.0})
    row = base.rows[0]._replace(scheme="mp", attack="judge:outsider", value=0.99, low=0.98, high=1)
    shares = [row._replace(metric=m, value=0.5 + k / 10) for k, m in enumerate(SHARPNESS)]
    judge = Judge(
        "judge:outsider", Band(0.49, 0.51, 7, 0.01, 0.975), {"a": 1.0}, 0.9, (0, 1), (0, 1)
    )
    against = Adversary("much", ("a",), 4000, 1000, {})
    results = replace(
        base,
        rows=(*base.rows, row, *shares),
        judges={"mp": {"outsider": judge}},
        adversaries={"outsider": against},
    )
    made = certify(disclosed(), results)
    assert (made.attack, made.auc, made.null_high) == ("judge:outsider", 990_000, 510_000)
    assert (made.adversary, made.panel, made.outsiders) == ("outsider", 4000, 1000)
    sharp = made.tpr_at_1, made.tpr_at_01, made.balanced_accuracy, made.named
    assert sharp == (500_000, 600_000, 700_000, 800_000)
    assert made.given == 1_000_000


@pytest.mark.parametrize(
    ("results", "auc", "stated", "outsiders"),
    [
        (judged_by({"panel": 0.785, "outsider": 0.662}, single=0.6), 0.785, "panel", 0),
        (judged_by({"panel": 0.62, "outsider": 0.7}, single=0.6), 0.7, "outsider", OUTSIDERS),
        # An attacker of the panel decides, or a clean one, whom the panel's analyst has as well.
        (judged_by({"panel": 0.55, "outsider": 0.56}, single=0.7), 0.7, "panel", 0),
        (decided_by_clean("panel", "outsider"), 0.7, "panel", 0),
    ],
)
def test_who_reads_most_is_stated_with_the_judge_of_the_same_adversary(
    results: AuditResults, auc: float, stated: str, outsiders: int
) -> None:
    about = audited()
    known = replace(
        results, data_digest=about.data_digest, code=about.code, categories=about.categories
    )
    made = certify(disclosed("dmpss"), known)
    assert made.auc == round(1e6 * auc)
    assert (made.adversary, made.panel, made.outsiders) == (stated, 90, outsiders)
    assert made.adversary in KNOWING  # else devices that require a certificate refuse it
    sharp = made.tpr_at_1, made.tpr_at_01, made.balanced_accuracy, made.named
    assert sharp == (round(1e6 * SHARP[stated]),) * 4


def test_a_quick_audit_is_not_certified() -> None:
    with pytest.raises(MidpointError, match="a quick audit is for a first look"):
        certify(disclosed(), audited(model={"quick": True}))
