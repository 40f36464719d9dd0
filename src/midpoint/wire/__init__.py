"""The messages between analyst and user; this package imports nothing of ours."""

from midpoint.wire.canonical import digest
from midpoint.wire.corrections import correction
from midpoint.wire.disclosure import Disclosure, FeatureNames, RatingScale
from midpoint.wire.exchange import (
    PanelMembership,
    PanelRatings,
    Problem,
    Receipt,
    Report,
    Scores,
    Solicitation,
    SolicitationRequest,
)
from midpoint.wire.fixed import GRAIN, MILLION, ONE, as_rows, from_fixed, on_grid, to_fixed
from midpoint.wire.listing import Catalogue, Certificates, Chain, Wording
from midpoint.wire.message import Message
from midpoint.wire.positions import Prior
from midpoint.wire.published import Published
from midpoint.wire.record import Certificate, Entry, WitnessStatement
from midpoint.wire.refusal import Refusal, RefusedError
from midpoint.wire.scheme import SCHEMES, Scheme, ValueMap
from midpoint.wire.signing import Signed, SigningKey, verify

__all__ = [
    "GRAIN",
    "MILLION",
    "ONE",
    "SCHEMES",
    "Catalogue",
    "Certificate",
    "Certificates",
    "Chain",
    "Disclosure",
    "Entry",
    "FeatureNames",
    "Message",
    "PanelMembership",
    "PanelRatings",
    "Prior",
    "Problem",
    "Published",
    "RatingScale",
    "Receipt",
    "Refusal",
    "RefusedError",
    "Report",
    "Scheme",
    "Scores",
    "Signed",
    "SigningKey",
    "Solicitation",
    "SolicitationRequest",
    "ValueMap",
    "WitnessStatement",
    "Wording",
    "as_rows",
    "correction",
    "digest",
    "from_fixed",
    "on_grid",
    "to_fixed",
    "verify",
]
