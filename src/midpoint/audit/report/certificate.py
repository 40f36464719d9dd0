"""From an audit to a certificate over a disclosure."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from math import ceil
from typing import Any

from midpoint.analyst import Factorizer, prepare
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.audit.measure.findings import NDCG, RMSE, SHARPNESS
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.verdict import Verdict, judge, readers
from midpoint.audit.run.sources import code_digest
from midpoint.audit.run.store import described_kind
from midpoint.data import Ratings, with_known
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.wire import MILLION, ONE, Certificate, Disclosure
from midpoint.wire.disclosure import COLUMNS

SHARP_FIELDS = ("tpr_at_1", "tpr_at_01", "balanced_accuracy", "named")
"""Fields of a certificate that say how sharp the judge is, in the order of SHARPNESS."""


def certificate(
    results: AuditResults,
    disclosure: Disclosure,
    ratings: Ratings,
    factorizer: Factorizer,
    *,
    auditor: str,
    key: str,
    time: int,
) -> Certificate:
    """State what was measured of a disclosure that is what the audited data gives.

    The audit makes disclosures of its own, fold by fold; the certificate says how what was
    disclosed in this way fared. So it is made over the disclosure that all of the data gives in
    the same way, number by number, and over no other; and only where it was attacked by somebody
    who succeed on raw ratings, with the code that makes disclosures now.

    Args:
        results: What the audit found.
        disclosure: What is to be vouched for.
        ratings: The data that was audited.
        factorizer: How the audit learned item profiles.
        auditor: Who measured.
        key: Public key of the auditor.
        time: When it was measured.
    """
    scheme = scheme_of(results, disclosure)
    verdict, cost = judge(results, scheme), results.cost(scheme)
    here = results.get(scheme, NDCG if results.unary else RMSE[2])
    if verdict is None or cost is None or here is None:
        raise MidpointError(f"the audit did not attack {scheme!r}; run it with --schemes {scheme}")
    _require_proof(results, scheme)
    _require_measured(results, scheme, disclosure, ratings, factorizer)
    strongest, band = verdict.strongest, verdict.band
    return Certificate(
        disclosure=disclosure.digest,
        data=results.data_digest,
        auditor=auditor,
        key=key,
        attack=strongest.attack,
        auc=_millionths(strongest.value),
        auc_low=_millionths(strongest.low),
        auc_high=_millionths(strongest.high),
        null_low=_millionths(band.low),
        null_high=_millionths(band.high),
        # Of sets there are no errors of ratings: `ndcg_cost` says what they cost.
        rmse_cost=0 if results.unary else _millionths(here.value - here.value / (1 + cost)),
        time=time,
        **_measured(results, verdict),
    )


def _measured(results: AuditResults, verdict: Verdict) -> dict[str, Any]:
    """Say against whom, how, and how sharp the judge of that adversary is, if it has one."""
    strongest = verdict.strongest
    name, judge = results.against(strongest), results.judge_of(strongest)
    whose = results.adversaries.get(name)
    stated: dict[str, Any] = {
        "folds": results.folds,
        "people": int(results.description["users"]),
        "attackers": results.bands[verdict.scheme].attackers,
    }
    if "share" in results.model and results.model.get("until") is None:
        stated["given"] = _millionths(results.model["share"])
    if whose is not None:
        stated |= {"adversary": name, "panel": whose.panel, "outsiders": whose.outsiders}
    lost = results.ndcg_costs.get(verdict.scheme)
    if lost is not None:
        stated["ndcg_cost"] = _millionths(lost.value)
    if judge is not None:
        for field, metric in zip(SHARP_FIELDS, SHARPNESS, strict=True):
            row = results.get(verdict.scheme, metric, judge[0].attack)
            stated |= {} if row is None else {field: _millionths(row.value)}
    return stated


def factorizer_of(manifest: Mapping[str, Any]) -> Factorizer:
    """Return how an audit learned item profiles, by what it wrote down of itself."""
    try:
        return Factorizer(**(manifest["plan"]["factorizer"] | {"threads": None}))
    except (KeyError, TypeError) as error:
        raise MidpointError(
            "the audit was made by another version and does not say how it learned; run it again"
        ) from error


def _require_proof(results: AuditResults, scheme: str) -> None:
    """See that failing proves something, and that what was attacked is what is made now."""
    if results.model.get("quick"):
        raise MidpointError(
            "a quick audit is for a first look, and is not certified; audit again without --quick"
        )
    if results.code != code_digest():
        raise MidpointError(
            f"the audit was made with other code or libraries ({results.code[:16]}, now"
            f" {code_digest()[:16]}); audit again in a new directory, and certify that"
        )
    if not readers(results, scheme):
        raise MidpointError(
            f"no attacker that succeeds on raw ratings tried {scheme!r}, so nothing is proved;"
            " audit again with --attacks paper or with all of them, and with more people if these"
            " fail on raw ratings, too"
        )


def _require_measured(
    results: AuditResults,
    scheme: str,
    disclosure: Disclosure,
    ratings: Ratings,
    factorizer: Factorizer,
) -> None:
    """See that the disclosure is, number by number, what the audited data gives."""
    if ratings.digest != results.data_digest:
        raise MidpointError(
            f"{ratings.name} has digest {ratings.digest[:16]}, and the audit was made on"
            f" {results.data_digest[:16]}; name the audited data, with the same options"
        )
    names = [feature.name for feature in disclosure.features]
    protocol = _wanted(disclosure, results.schemes[scheme].get("leak"))
    # Profiles are learned from everyone, or from those whose category is known, as in the audit.
    for people in (ratings, with_known(ratings, *names)):
        learned = factorizer.fit(people, names)
        made = protocol.disclose(prepare(learned, people, protocol.scheme, spread=protocol.spread))
        if made.digest == disclosure.digest:
            return
    raise MidpointError(
        f"the disclosure is not what {ratings.name} gives ({_first_difference(made, disclosure)});"
        " train with the audit's settings and disclose by the same version, or audit what you have"
    )


def _first_difference(made: Disclosure, given: Disclosure) -> str:
    """Say where two disclosures differ first."""
    if made.items != given.items:
        return f"{len(given.items)} items, and {len(made.items)} or others were audited"
    if made.prior != given.prior:
        return "another prior of positions"
    for column in (*COLUMNS, "keep"):
        ours, theirs = getattr(made, column), getattr(given, column)
        for item, a, b in zip(made.items, ours or (), theirs or (), strict=False):
            if a != b:
                return f"{column} of {item}: {b}, not {a}"
    return "another scale or other features"


def scheme_of(results: AuditResults, disclosure: Disclosure) -> str:
    """Find the audited protocol that discloses in this way, all ratings being obfuscated."""
    names = "+".join(feature.name for feature in disclosure.features)
    if names != results.feature:
        raise MidpointError(f"the audit is about {results.feature}, the disclosure about {names}")
    categories = tuple(disclosure.features[0].categories)
    if len(disclosure.features) == 1 and categories != tuple(results.categories):
        raise MidpointError(
            f"the audit's categories are {', '.join(results.categories)}, the disclosure's"
            f" {', '.join(categories)}"
        )
    tried = [
        name
        for name, settings in results.schemes.items()
        if "share" not in settings and _discloses_as(settings, disclosure)
    ]
    if tried:  # of several leak budgets, the smallest that it is within
        return min(tried, key=lambda name: results.schemes[name].get("leak") or 1)
    raise MidpointError(
        f"the audit did not try {_named(disclosure)}; run it again with that scheme among --schemes"
    )


def _named(disclosure: Disclosure) -> str:
    """Name a disclosure's scheme, with its leak budget rounded up."""
    spec = SchemeSpec.of(disclosure)
    if disclosure.leak is not None and len(set(disclosure.keep or ())) > 1:
        spec = replace(spec, leak=ceil(100 * (disclosure.leak - 1) / ONE) / 100)
    bits = "" if disclosure.bits is None else f" with bits {disclosure.bits}"
    return f"{str(spec)!r}{bits}"


def _wanted(disclosure: Disclosure, leak: float | None) -> LearningProtocol:
    """Return the protocol that discloses in this way, under a leak budget if there is one."""
    protocol = LearningProtocol.of_spec(SchemeSpec.of(disclosure), disclosure.bits)
    return replace(protocol, leak=leak)


def _discloses_as(settings: Mapping[str, Any], disclosure: Disclosure) -> bool:
    """Tell whether an audited protocol, by its settings, is the one of a disclosure.

    Another share of the answers, or other levels, leak another amount.
    """
    leak = settings.get("leak")
    wanted = asdict(_wanted(disclosure, leak)) | {"kind": described_kind(LearningProtocol)}
    if any(settings[key] != value for key, value in wanted.items() if key != "estimator"):
        return False
    if leak is None:  # keep probabilities that differ are those of a leak budget
        return disclosure.keep is None or len(set(disclosure.keep)) == 1
    return disclosure.leak is not None and disclosure.leak <= ceil(leak * ONE)


def _millionths(value: float) -> int:
    return round(value * MILLION)
