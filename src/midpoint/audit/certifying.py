"""From an audit to a certificate over a disclosure."""

from midpoint.audit.results import RMSE, AuditResults
from midpoint.errors import MidpointError
from midpoint.wire import MILLION, Certificate, Disclosure


def certificate(
    results: AuditResults, disclosure: Disclosure, *, auditor: str, key: str, time: int
) -> Certificate:
    """State what was measured of the scheme and feature that a disclosure is for.

    The audit fits disclosures of its own, fold by fold, to the data; the certificate says how
    what was disclosed in this way fared, and which disclosure is vouched for.
    """
    scheme = _scheme_of(results, disclosure)
    strongest, cost = results.strongest(scheme), results.cost(scheme)
    here = results.get(scheme, RMSE[2])
    if strongest is None or cost is None or here is None:
        raise MidpointError(f"the audit did not attack {scheme!r}; run it with --schemes {scheme}")
    band = results.bands[scheme]
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
        rmse_cost=_millionths(here.value - here.value / (1 + cost)),
        time=time,
    )


def _scheme_of(results: AuditResults, disclosure: Disclosure) -> str:
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
    for name, how in results.schemes.items():
        settings = how["name"], how["bits"], how["alpha"]
        if settings == (disclosure.scheme, disclosure.bits, 1.0):
            return name
    raise MidpointError(
        f"the audit did not try {disclosure.scheme!r} with bits {disclosure.bits}; run it again"
        f" with that scheme among --schemes"
    )


def _millionths(value: float) -> int:
    return round(value * MILLION)
