"""What a person demands of a service, what it showed, and what of that passed the checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from midpoint.user.checks.certificate import verify_certificate
from midpoint.user.checks.disclosure import Accepted
from midpoint.user.checks.pin import Witness
from midpoint.wire import Catalogue, Certificate, Certificates, Chain


@dataclass(frozen=True)
class Fetched:
    """What the service shows everyone, unchecked."""

    witness: Witness | None
    """The newest entry that the witness saw, if there is one."""
    chain: Chain
    """The list of disclosures."""
    disclosure: bytes
    """What the newest entry names, exact."""
    certificates: Certificates
    """What auditors signed about it."""
    catalogue: bytes
    """The titles that the newest entry names, exact; nothing if it names none."""


@dataclass(frozen=True)
class Standing:
    """What passed all checks."""

    accepted: Accepted
    """The disclosure, and what the analyst is held to."""
    certificate: Certificate | None
    """What an auditor she trusts measured of it; None is to be shown as such."""
    titles: Mapping[str, str]
    """What each item of the disclosure is called."""
    popularity: Mapping[str, int]
    """How many people rated each item in training."""

    @classmethod
    def of(cls, accepted: Accepted, certificate: Certificate | None, shown: Catalogue) -> Self:
        """Put it together; an item that has no title goes by its identifier."""
        titles = dict(zip(shown.items, shown.titles, strict=True))
        rated = dict(zip(shown.items, shown.ratings, strict=True))
        items = accepted.disclosure.items
        return cls(
            accepted,
            certificate,
            MappingProxyType({item: titles.get(item, item) for item in items}),
            MappingProxyType({item: rated.get(item, 0) for item in items}),
        )


@dataclass(frozen=True)
class Terms:
    """What a person demands of a service."""

    witness: str | None = None
    """Address of somebody independent that shows the newest entry it saw of the same list."""
    auditors: tuple[str, ...] = ()
    """Public keys of auditors that she trusts."""
    require_certificate: bool = False
    """Whether to refuse a disclosure that none of them certified."""
    plain_http: bool = False
    """Whether the way to the service is safe without encryption."""


def trusted_certificate(fetched: Fetched, disclosure: str, terms: Terms) -> Certificate | None:
    """Return the first certificate by an auditor she trusts; refuse forged ones, or none if so."""
    shown = fetched.certificates.certificates
    checked = [verify_certificate(signed, disclosure, terms.auditors) for signed in shown]
    trusted = next((certificate for certificate in checked if certificate is not None), None)
    if trusted is None and terms.require_certificate:
        verify_certificate(None, disclosure, terms.auditors, required=True)
    return trusted
